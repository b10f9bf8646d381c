//! An executable without a core, and a core without its executable.

use kcore_commands::DCMDS;

use crate::harness::{core_without_executable, executable, json_on, run_on};

fn shown(line: &str) -> String {
    let outcomes = run_on(&executable(), line);
    assert_eq!(outcomes.errors, "", "{line}");
    outcomes.out
}

fn refused(line: &str) -> String {
    run_on(&executable(), line).errors.trim_end().to_owned()
}

#[test]
fn an_executable_alone_has_code_and_symbols() {
    assert!(shown("main::dis -n 0").ends_with("pushq  %rbp\n"));
    assert!(shown("main/i").ends_with("pushq  %rbp\n"));
    assert!(shown("main::nm").ends_with("|main\n"));
    assert!(shown("main::whatis").contains(" is main, in "));
    assert!(shown("main::dump").lines().count() == 2);
    assert_eq!(json_on(&executable(), "::objects").len(), 1);
}

#[test]
fn an_executable_alone_has_no_process() {
    for line in ["::args", "::auxv", "::env", "::getenv -t", "::psinfo", "$l", "$L"] {
        assert_eq!(refused(line), "kcore: no process active", "{line}");
    }
    for line in ["::walk thread", "<rip=X", "<eax=X", "<thread=X"] {
        assert_eq!(refused(line), "kcore: no process active", "{line}");
    }
}

#[test]
fn a_missing_file_is_said_with_what_was_tried() {
    let core = core_without_executable();
    let objects = json_on(&core, "::objects");
    let gone = objects.iter().find(|it| it["name"] == "gone").expect("it is listed");
    assert_eq!((&gone["file_state"], &gone["file"]), (&"missing".into(), &serde_json::Value::Null));
    let tried = gone["tried"].as_array().expect("it is a list");
    assert!(tried.iter().any(|it| it.as_str().is_some_and(|it| it.contains("gone"))), "{gone}");
    let out = run_on(&core, "::objects").out;
    assert!(out.lines().any(|line| line.contains("missing (")), "{out}");
    let verbose = run_on(&core, "::objects -v gone").out;
    assert!(verbose.contains("  file      missing\n  tried     "), "{verbose}");
}

#[test]
fn code_without_its_file_was_not_dumped() {
    let core = core_without_executable();
    for (line, expected) in [
        ("<rip::dis", "kcore: failed to read instruction: "),
        ("<rip/i", "kcore: failed to read instruction: "),
        ("<rip/X", "kcore: failed to read data from target: "),
        ("<rip::dump", "kcore: failed to read data at 0x"),
    ] {
        let errors = run_on(&core, line).errors;
        assert!(
            errors.starts_with(expected) && errors.contains("was not dumped"),
            "{line}: {errors}"
        );
    }
    let mapping = &json_on(&core, "<rip::mappings")[0];
    assert_eq!(mapping["origin"], serde_json::Value::Null);
}

#[test]
fn no_dcmd_minds_what_is_not_there() {
    for core in [executable(), core_without_executable()] {
        for spec in DCMDS.iter().map(|dcmd| dcmd.spec()) {
            for example in spec.examples {
                run_on(&core, example.line);
                json_on(&core, example.line);
            }
        }
    }
}
