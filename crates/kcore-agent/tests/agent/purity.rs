//! What a handler calls: a program ends when one of its threads takes memory or a lock, and the agent asks it.

use std::process::{Command, Output};

use crate::{
    answers::{groups, with},
    program::{built, library, with_agent},
};

fn poisoned(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let options =
        ["-O2", "-fomit-frame-pointer", "-fno-builtin-malloc", "-pthread", "-ldl", "-rdynamic"];
    let program = built("poisoned.c", "poisoned", &options);
    with_agent(&program).args(arguments).env("TMPDIR", folder.path()).output().unwrap()
}

#[test]
fn a_handler_takes_no_memory_and_no_lock() {
    let output = poisoned(&[]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}\n{errors}", output.status);
    assert!(errors.contains("profile of "), "{errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    let (stacks, calls) = text.rsplit_once("calls ").unwrap();
    let groups = groups(stacks);
    let frames = &with(&groups, "compute").functions;
    assert_eq!(frames.iter().filter(|name| *name == "compute").count(), 21, "{stacks}");
    // Those of the agent's thread: so the functions are those that the agent would call.
    assert!(calls.trim().parse::<u64>().unwrap() > 1000, "{calls} calls");
}

#[test]
fn a_thread_that_takes_memory_would_be_noticed() {
    let output = poisoned(&["control"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("poisoned: malloc"), "{errors}");
}

#[test]
fn the_linker_has_nothing_to_do_when_a_handler_runs() {
    let output = Command::new("readelf").arg("-d").arg(library()).output().expect("readelf");
    let dynamic = String::from_utf8(output.stdout).unwrap();
    assert!(dynamic.contains("BIND_NOW") || dynamic.contains("NOW"), "{dynamic}");
}
