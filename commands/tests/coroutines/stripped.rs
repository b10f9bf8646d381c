//! What is left without debug information and without symbols.

use std::{path::PathBuf, process::Command};

use crate::{Opened, cases, open};

/// Cores whose programs lost what an option of `strip` takes.
fn stripped(option: &str) -> Vec<Opened> {
    let one = |case: &gen_cores::Case| {
        let name = format!("coroutines{option}-{}", case.variant);
        let exe = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let status = Command::new("strip").arg(option).arg("-o").args([&exe, &case.exe]).status();
        assert!(status.expect("strip runs").success());
        Opened { name: case.name(), dir: case.dir.clone(), core: open(case.core.clone(), exe) }
    };
    cases().iter().map(one).collect()
}

#[test]
fn frames_and_guessed_chains_are_known_without_debug_information() {
    for core in stripped("--strip-debug") {
        let (rows, told) = (core.rows(), core.told());
        assert!(rows.len() > 10, "{}", core.name);
        for (at, told) in told.iter().filter(|(_, told)| told["state"] == "suspended") {
            let Some(row) = rows.get(at) else { continue };
            assert!(row["line"].is_null() && row["promise_type"].is_null(), "{row:#}");
            if let Some(by) = row["awaited_by"].as_str() {
                assert_eq!(Some(by), told["parent"].as_str(), "{}: {row:#}", core.name);
                assert_eq!(row["is_guess"], true, "{}: {row:#}", core.name);
            }
        }
        assert!(rows.values().all(|row| row["state"] != "suspended"), "{}", core.name);
        for task in core.records("::tasks -r c++20") {
            let Some(row) = task["id"].as_str().and_then(|id| rows.get(id)) else { continue };
            assert_eq!(task["name"], row["function"], "{}: a guess names none", core.name);
        }
        let notes = core.records("::coroutines");
        let said = notes.iter().any(|note| note.to_string().contains("has no debug information"));
        assert!(said, "{}", core.name);
    }
}

#[test]
fn without_symbols_it_is_said_that_nothing_is_known() {
    for core in stripped("--strip-all") {
        let text: String = core.records("::coroutines").iter().map(ToString::to_string).collect();
        assert!(text.contains("symbols were stripped"), "{}: {text}", core.name);
    }
}
