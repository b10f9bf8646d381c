//! Mutexes whose owners inherit priority: the kernel refuses to lock one for a deadlock, and glibc waits for ever.

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

/// The bug, its finder, and what the sentence holds.
const CIRCLES: &[(&str, &str, &[&str])] = &[
    (
        "circle",
        "deadlock",
        &[
            "2 threads wait for each other",
            "the priority-inheriting mutex first, which thread",
            "the priority-inheriting mutex second, which thread",
        ],
    ),
    ("again", "self-deadlock", &["the priority-inheriting mutex first, which it holds itself"]),
];

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
fn a_mutex_that_the_kernel_refused_is_told_by_the_code_of_the_caller() {
    let program = process::compiled("why/circles.c");
    let folder = tempfile::tempdir().unwrap();
    let core = folder.path().join("core");
    for (bug, finder, says) in CIRCLES {
        let [live, saved] = said_of(&program, bug, &core);
        // A snapshot has not all that the code of a thread leads to.
        let said = if *bug == "again" { vec![saved] } else { vec![live, saved] };
        for said in said {
            let [finding] = findings(&said) else { panic!("{bug}: {said:#}") };
            let facts = (&finding["finder"], &finding["confidence"]);
            assert_eq!(facts, (&(*finder).into(), &"certain".into()), "{bug}: {finding:#}");
            let sentence = finding["sentence"].as_str().unwrap();
            assert!(says.iter().all(|part| sentence.contains(part)), "{bug}: {sentence}");
        }
        runs_all(bug, &core, &findings(&analysis(&core))[0]);
    }
    for said in said_of(&program, "held", &core) {
        assert!(findings(&said).is_empty(), "{said:#}");
    }
    fs::remove_file(program).unwrap();
}
