//! Threads that wait for locks of a table: what one thread holds of them is told together.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::Command,
    time::Duration,
};

use serde_json::Value;

use super::{
    analysis, findings,
    gallery::runs_all,
    kcore,
    process::{self, Running},
};

/// What is said of the running program, and of its core.
fn said_of(program: &Path, bug: &str, core: &Path) -> [Value; 2] {
    let (running, _input, output) = Running::start(Command::new(program).arg(bug));
    BufReader::new(output).lines().next().unwrap().unwrap();
    // Between its word and its wait a thread takes a moment.
    std::thread::sleep(Duration::from_millis(300));
    let live = analysis(Path::new(&running.pid()));
    assert!(kcore(&["save", &running.pid(), "-o"], core).status.success());
    [live, analysis(core)]
}

#[test]
fn threads_behind_several_locks_of_one_thread_are_a_convoy_and_one_alone_is_none() {
    let program = process::compiled("why/items.c");
    // Who waits for events is woken by a stop, and was blocked all the same.
    for (bug, call) in [("reads", "waits in read(fd "), ("events", "waits in epoll_wait(fd ")] {
        let folder = tempfile::tempdir().unwrap();
        let core = folder.path().join("core");
        for said in said_of(&program, bug, &core) {
            let [finding] = findings(&said) else { panic!("{bug}: {said:#}") };
            let facts = (&finding["finder"], &finding["confidence"]);
            assert_eq!(facts, (&"lock-convoy".into(), &"likely".into()), "{bug}");
            let sentence = finding["sentence"].as_str().unwrap();
            for part in ["3 threads wait for 3 locks, all of which thread ", call, ", in flush"] {
                assert!(sentence.contains(part), "{bug}: no '{part}' in '{sentence}'");
            }
        }
        runs_all(bug, &core, &findings(&analysis(&core))[0]);
    }
    // A pool whose threads take turns at waiting for work is as it should be.
    for bug in ["one", "leader"] {
        let folder = tempfile::tempdir().unwrap();
        for said in said_of(&program, bug, &folder.path().join("core")) {
            assert!(findings(&said).is_empty(), "{bug}: {said:#}");
        }
    }
    fs::remove_file(program).unwrap();
}
