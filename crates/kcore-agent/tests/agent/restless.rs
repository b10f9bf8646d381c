//! A process that does not rest while it asks itself: see `restless.cpp`. The agent's own code is not
//! instrumented; sanitizers watch what it does to the program's memory, threads and handlers.

use std::{fs, path::Path, process::Command};

use crate::program::{built, library, library_folder};

/// Seconds that each of the three runs; `KCORE_STRESS_SECONDS` says otherwise.
const SECONDS: u32 = 20;

/// Compiles it with a sanitizer, or without, linked with the agent, and runs it. The answer is its last line.
fn run(name: &str, options: &[&str], environment: &[(&str, &str)]) -> String {
    let library = library();
    let library = library.to_str().unwrap();
    let options = [&["-O1", "-g", "-pthread", library, "-ldl"], options].concat();
    let program = built("restless.cpp", name, &options);
    let given = std::env::var("KCORE_STRESS_SECONDS").ok();
    let seconds = given.unwrap_or_else(|| SECONDS.to_string());
    let mut command = Command::new(program);
    command.arg(seconds).envs(environment.iter().copied());
    command.env("LD_LIBRARY_PATH", library_folder());
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {:?}\n{errors}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().last().unwrap().to_owned();
    let number = |word: &str| -> u64 {
        let mut words = line.split(' ').skip_while(|it| *it != word);
        words.nth(1).unwrap().parse().unwrap()
    };
    assert_eq!(number("failed"), 0, "{line}\n{errors}");
    for word in ["asked", "born", "taken", "loaded", "forked"] {
        assert!(number(word) > 0, "{line}");
    }
    line
}

#[test]
fn a_restless_process_survives_its_own_questions() {
    println!("{}", run("restless", &[], &[]));
}

#[test]
fn the_address_sanitizer_has_nothing_to_say() {
    println!("{}", run("restless-asan", &["-fsanitize=address"], &[]));
}

#[test]
fn the_thread_sanitizer_has_nothing_to_say() {
    let suppressions = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agent-tsan");
    // Its atomics are not seen, so what it synchronizes by them would look like races.
    fs::write(&suppressions, "called_from_lib:libkcore_agent.so\n").unwrap();
    let options = format!("suppressions={} die_after_fork=1", suppressions.display());
    let environment = [("TSAN_OPTIONS", options.as_str())];
    println!("{}", run("restless-tsan", &["-fsanitize=thread"], &environment));
}
