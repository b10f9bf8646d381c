//! A process that does not rest while it asks itself 20 times a second: see `restless.cpp`. The agent's own code is
//! not instrumented; sanitizers watch what it does to the program's memory, threads and handlers.

use std::{fs, path::Path, process::Command};

use crate::program::{built, library, library_folder};

/// Seconds that each of them runs; `KCORE_STRESS_SECONDS` says otherwise.
const SECONDS: u64 = 10;
/// Requests in a second.
const REQUESTS: u64 = 20;

/// Threads that are born in a second: 0 is as many as the machine can do, and the others leave two processors room for
/// the requests, of which each takes longer with a sanitizer.
const NO_PAUSE: u32 = 0;
const PLAIN: u32 = 400;
const ADDRESS: u32 = 120;
const THREAD: u32 = 40;

/// Compiles it with a sanitizer, or without, linked with the agent, and runs it at a pace. The answer is its last line.
fn run(name: &str, options: &[&str], pace: u32, environment: &[(&str, &str)]) -> String {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let (include, library) = (format!("-I{}", include.display()), library());
    let library = library.to_str().unwrap();
    let options = [&["-O1", "-g", "-pthread", &include, library, "-ldl"], options].concat();
    let program = built("restless.cpp", name, &options);
    let given = std::env::var("KCORE_STRESS_SECONDS").ok();
    let seconds = given.map_or(SECONDS, |given| given.parse().unwrap());
    let mut command = Command::new(program);
    command.args([seconds.to_string(), pace.to_string()]).envs(environment.iter().copied());
    let folder = tempfile::tempdir().unwrap();
    command.env("LD_LIBRARY_PATH", library_folder()).env("TMPDIR", folder.path());
    // The profile ends when it is told to.
    command.env("KCORE_AGENT_SECONDS", "86400");
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {:?}\n{errors}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().last().unwrap().to_owned();
    let number = |word: &str| -> u64 {
        let mut words = line.split(' ').skip_while(|it| *it != word);
        words.nth(1).unwrap().parse().unwrap()
    };
    assert_eq!(number("lost"), 0, "{line}\n{errors}");
    // Two more wait for the profile.
    assert_eq!([number("asked"), number("answered")], [seconds * REQUESTS + 2; 2], "{line}");
    assert!(errors.contains("kcore-agent: profile of "), "{errors}");
    for word in ["told", "born", "taken", "loaded", "forked", "thrown"] {
        assert!(number(word) > 0, "{line}");
    }
    line
}

#[test]
fn a_restless_process_survives_its_own_questions() {
    println!("{}", run("restless", &[], PLAIN, &[]));
}

#[test]
fn a_process_that_leaves_no_processor_to_the_agent_survives_it_too() {
    println!("{}", run("restless", &[], NO_PAUSE, &[]));
}

#[test]
fn the_address_sanitizer_has_nothing_to_say() {
    println!("{}", run("restless-asan", &["-fsanitize=address"], ADDRESS, &[]));
}

#[test]
fn the_thread_sanitizer_has_nothing_to_say() {
    let suppressions = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agent-tsan");
    // Its atomics are not seen, so what it synchronizes by them would look like races.
    fs::write(&suppressions, "called_from_lib:libkcore_agent.so\n").unwrap();
    let options = format!("suppressions={} die_after_fork=1", suppressions.display());
    let environment = [("TSAN_OPTIONS", options.as_str())];
    println!("{}", run("restless-tsan", &["-fsanitize=thread"], THREAD, &environment));
}
