//! Threads that know their stacks while the processors are busy with more than they can do: see `loaded.c`.

use std::{path::Path, process::Command};

use crate::program::{built, library, library_folder};

/// Threads of the program that know their stacks.
const KNOWN: u64 = 10;

/// Asks so often; says how many stacks of threads that know them were right and how many wrong, and how many threads
/// did not answer.
fn asked(requests: u64, way: &[&str]) -> ([u64; 3], String) {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let (include, library) = (format!("-I{}", include.display()), library());
    let options = ["-O2", "-fomit-frame-pointer", &include, library.to_str().unwrap(), "-pthread"];
    let mut command = Command::new(built("loaded.c", "loaded", &options));
    command.arg(requests.to_string()).args(way).env("LD_LIBRARY_PATH", library_folder());
    // So long that every thread has its turn, on whatever machine: nobody may be missing.
    command.env("KCORE_AGENT_TIMEOUT_MS", "600000");
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{:?}\n{errors}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    let number = |word| {
        let mut words = text.split_whitespace().skip_while(|it| *it != word);
        words.nth(1).unwrap().parse().unwrap()
    };
    (["right", "wrong", "missing"].map(number), errors)
}

#[test]
fn threads_of_a_busy_process_on_a_busy_machine_are_told_as_they_are() {
    let (counts, errors) = asked(100, &[]);
    assert_eq!(counts, [100 * KNOWN, 0, 0], "{errors}");
}

#[test]
fn a_stack_that_is_not_as_its_thread_knows_would_be_noticed() {
    let (counts, errors) = asked(3, &["lie"]);
    assert_eq!(counts, [3 * (KNOWN - 1), 3, 0], "{errors}");
}
