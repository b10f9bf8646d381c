//! A process of one thread that waits for a lock: nobody is left to free it.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::Command,
    time::Duration,
};

use serde_json::Value;

use super::{
    analysis,
    damaged::says_no_more,
    findings,
    gallery::runs_all,
    kcore,
    process::{self, Running},
};

/// The bug, its finder, and what the sentence holds.
const HANGS: &[(&str, &str, &str)] = &[
    ("upgrade", "nobody-left", "waits for the rwlock table, and the process has no other thread"),
    ("once", "nobody-left", "and the process has no other thread that could free it"),
    ("twice", "self-deadlock", "waits for the mutex pool->lock at 0x"),
    ("fork", "owner-gone", "for the mutex plain, whose owner is thread"),
];

/// What is said of a program that hangs as the argument says, with what it printed.
fn said_of(program: &Path, bug: &str, saved: Option<&Path>) -> (Value, Vec<String>) {
    let (_running, _input, output) = Running::start(Command::new(program).arg(bug));
    let mut lines = BufReader::new(output).lines();
    let lines: Vec<String> =
        lines.by_ref().take(1 + usize::from(bug == "parent")).map(Result::unwrap).collect();
    // Between its word and its wait a thread takes a moment.
    std::thread::sleep(Duration::from_millis(300));
    let said = match saved {
        Some(core) => {
            assert!(kcore(&["save", &lines[0], "-o"], core).status.success());
            analysis(core)
        }
        None => analysis(Path::new(&lines[0])),
    };
    (said, lines)
}

#[test]
fn a_lock_that_nobody_is_left_to_free_is_told_and_other_waits_are_counted() {
    let program = process::compiled("why/alone.c");
    the_only_thread_is_never_woken(&program);
    what_is_waited_in_is_counted(&program);
    fs::remove_file(program).unwrap();
}

fn the_only_thread_is_never_woken(program: &Path) {
    for (bug, finder, says) in HANGS {
        let folder = tempfile::tempdir().unwrap();
        let core = folder.path().join("core");
        for said in [said_of(program, bug, None).0, said_of(program, bug, Some(&core)).0] {
            let [finding] = findings(&said) else { panic!("{bug}: {said:#}") };
            let facts = (&finding["finder"], &finding["confidence"]);
            assert_eq!(facts, (&(*finder).into(), &"certain".into()), "{bug}");
            let sentence = finding["sentence"].as_str().unwrap();
            assert!(sentence.contains(says), "{bug}: {sentence}");
        }
        runs_all(bug, &core, &findings(&analysis(&core))[0]);
        if *bug == "upgrade" {
            says_no_more(&core, finder, &[]);
        }
    }
}

fn what_is_waited_in_is_counted(program: &Path) {
    let (said, _) = said_of(program, "event", None);
    assert!(findings(&said).is_empty(), "{said:#}");
    assert_eq!(said["blocked"][0]["what"], "semaphore", "{said:#}");
    let folder = tempfile::tempdir().unwrap();
    let core = folder.path().join("core");
    let (said, lines) = said_of(program, "parent", Some(&core));
    assert!(findings(&said).is_empty(), "{said:#}");
    let whats: Vec<&str> =
        said["blocked"].as_array().unwrap().iter().map(|it| it["what"].as_str().unwrap()).collect();
    assert_eq!(whats, ["pause", &*format!("wait4(pid {})", lines[1])]);
    let text = String::from_utf8(kcore(&["why"], &core).stdout).unwrap();
    let next = format!(
        "next, its 2 threads: 1 waits in pause, 1 waits in wait4(pid {}): ::locks -a",
        lines[1]
    );
    assert!(text.contains(&next), "{text}");
}

/// Two threads: one calls into C with the GIL, or gives it back first, and sleeps there; the other wants it.
const PYTHON: &str = "
import ctypes, sys, threading
library = (ctypes.PyDLL if sys.argv[1] == 'holds' else ctypes.CDLL)(None)
print('begun', flush=True)
threading.Thread(target=lambda: library.sleep(60), daemon=True).start()
while True: pass
";

/// Looks until one falls into a moment at which the thread waits.
const LOOKS: usize = 60;

#[test]
fn one_thread_that_waits_for_the_gil_of_a_blocked_one_is_told() {
    let Ok(found) =
        Command::new("python3").arg("-c").arg("import sys; print(sys.executable)").output()
    else {
        return;
    };
    // The program itself: a script that starts it is another process for a moment.
    let python = String::from_utf8(found.stdout).unwrap();
    for (how, finders) in [("holds", &["lock-convoy"][..]), ("gives", &[])] {
        let mut command = Command::new(python.trim());
        let (running, _input, output) = Running::start(command.args(["-c", PYTHON, how]));
        BufReader::new(output).lines().next().unwrap().unwrap();
        // Who waits for the GIL wakes up again and again, and looks whether somebody asks for it.
        let mut looks = (0..LOOKS).map(|_| {
            std::thread::sleep(Duration::from_millis(20));
            analysis(Path::new(&running.pid()))
        });
        let is_told = |said: &Value| !findings(said).is_empty();
        let said = looks.find(is_told).unwrap_or_else(|| analysis(Path::new(&running.pid())));
        let names: Vec<&str> =
            findings(&said).iter().map(|it| it["finder"].as_str().unwrap()).collect();
        assert_eq!(names, finders, "{how}: {said:#}");
        if let [finding] = findings(&said) {
            let sentence = finding["sentence"].as_str().unwrap();
            assert!(sentence.contains(" waits for the GIL "), "{sentence}");
            assert!(sentence.contains("that thread waits in clock_nanosleep"), "{sentence}");
            assert_eq!(finding["confidence"], "likely", "{sentence}");
        }
    }
}
