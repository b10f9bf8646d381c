//! Profiles of programs whose shares are known.

use std::{fs, path::Path, time::Duration};

use crate::program::{Running, built, with_agent};

/// Samples of lines of folded stacks that have this function, and of all.
fn samples(folded: &str, function: &str) -> (f64, f64) {
    let count = |line: &str| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap();
    let has = folded.lines().filter(|line| line.contains(function)).map(count).sum();
    (has, folded.lines().map(count).sum())
}

fn file_with(folder: &Path, suffix: &str) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found: Vec<_> =
        entries.filter(|path| path.to_str().is_some_and(|path| path.ends_with(suffix))).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    fs::read_to_string(&found[0]).unwrap()
}

#[test]
fn a_profile_has_the_shares_of_the_program() {
    let program = built("shares.c", "shares", &["-O2", "-fomit-frame-pointer"]);
    let folder = tempfile::tempdir().unwrap();
    let mut process = Running::start(
        with_agent(&program).env("TMPDIR", folder.path()).env("KCORE_AGENT_HZ", "250"),
    );
    let name = format!("kcore.{}.", process.pid());
    process.signal(12);
    std::thread::sleep(Duration::from_secs(4));
    let stacks = process.stacks();
    assert!(stacks.contains("main"), "stacks while a profile is taken: {stacks}");
    std::thread::sleep(Duration::from_secs(4));
    process.signal(12);
    let said = process.line_with("profile of ");
    assert!(said.contains(&name), "{said}");
    let folded = file_with(folder.path(), ".folded");
    for (function, share) in [("spend_seventy", 0.7), ("spend_twenty", 0.2), ("spend_ten", 0.1)] {
        let (has, all) = samples(&folded, function);
        assert!(all > 300.0, "{all} samples");
        let found = has / all;
        assert!((found - share).abs() < 0.08, "{function}: {found} of {all} samples\n{folded}");
    }
    let svg = file_with(folder.path(), ".svg");
    for function in ["spend_seventy", "spend_twenty", "spend_ten", "main"] {
        assert!(svg.contains(&format!("<title>{function}")), "{function} is not drawn");
    }
    assert!(process.runs());
}
