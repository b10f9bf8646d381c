//! What is left without debug information and without symbols.

use std::{path::PathBuf, process::Command};

use crate::{Opened, cases, open};

/// A core whose program lost what an option of `strip` takes.
fn stripped(option: &str) -> Option<Opened> {
    let case = cases().into_iter().find(|case| case.variant == "release-pie")?;
    let exe = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tokio{option}"));
    let status = Command::new("strip").arg(option).arg("-o").args([&exe, &case.exe]).status();
    assert!(status.expect("strip runs").success());
    Some(Opened { name: case.name(), dir: case.dir.clone(), core: open(case.core, exe) })
}

#[test]
fn numbers_and_states_are_known_without_debug_information() {
    for option in ["--strip-debug", "--strip-all"] {
        let Some(core) = stripped(option) else { return };
        let rows = core.rows();
        let told = core.told();
        assert_eq!(rows.len(), told.len(), "{option}");
        for told in told {
            let row = &rows[&told["id"].as_u64().expect("a number")];
            // Whether a task has begun, its future tells.
            let state =
                told["state"].as_str().filter(|state| *state != "created").unwrap_or("ready");
            assert_eq!(row["state"], state, "{option}: {row:#}");
            assert!(row["waits_on"].is_null() && row["line"].is_null(), "{option}: {row:#}");
        }
    }
}

#[test]
fn it_is_said_what_is_missing() {
    for (option, why) in [
        ("--strip-debug", "has no debug information"),
        ("--strip-all", "has neither symbols nor debug information"),
    ] {
        let Some(core) = stripped(option) else { return };
        let notes = core.records("::tokio");
        let said = notes.iter().any(|note| note.to_string().contains(why));
        assert!(said, "{option}: {notes:#?}");
        let version = core.records("::runtimes").iter().any(|it| it.to_string().contains("1.54.1"));
        assert!(version, "{option}");
    }
}
