//! Profiles of programs whose shares are known.

use std::{
    fs,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use crate::program::{Running, built, known, run_for, with_agent};

/// Samples of lines of folded stacks that have this function, and of all.
pub fn samples(folded: &str, function: &str) -> (f64, f64) {
    let count = |line: &str| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap();
    let has = folded.lines().filter(|line| line.contains(function)).map(count).sum();
    (has, folded.lines().map(count).sum())
}

pub fn file_with(folder: &Path, suffix: &str) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found: Vec<_> =
        entries.filter(|path| path.to_str().is_some_and(|path| path.ends_with(suffix))).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    fs::read_to_string(&found[0]).unwrap()
}

#[test]
fn nobody_who_asks_is_forgotten_when_a_profile_ends() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = with_agent(&known());
    command.arg("profiled").env("TMPDIR", folder.path()).env("KCORE_AGENT_SECONDS", "1");
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while process.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(120) {
            process.kill().unwrap();
            panic!("it waits for an answer");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = process.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && output.stdout == b"asked\n", "{output:?}");
    assert_eq!(errors.matches("profile of ").count(), 2, "{errors}");
}

#[test]
fn a_profile_has_the_shares_of_the_program() {
    let program = built("shares.c", "shares", &["-O2", "-fomit-frame-pointer"]);
    let folder = tempfile::tempdir().unwrap();
    let mut process = Running::start(
        with_agent(&program)
            .env("TMPDIR", folder.path())
            .envs([("KCORE_AGENT_HZ", "250"), ("KCORE_AGENT_SECONDS", "600")]),
    );
    let name = format!("kcore.{}.", process.pid());
    process.signal(12);
    run_for(&process, Duration::from_secs(3));
    let stacks = process.stacks();
    assert!(stacks.contains("main"), "stacks while a profile is taken: {stacks}");
    run_for(&process, Duration::from_secs(3));
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
