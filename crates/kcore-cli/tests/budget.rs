//! `--max-time` and `--max-memory`: what a command may take, and what is said where that is not enough.

use std::process::{Command, Output};

/// This program itself is as good as any.
const EXE: &str = env!("CARGO_BIN_EXE_kcore");

fn run(args: &[&str]) -> Output {
    let mut command = Command::new(EXE);
    command.env("HOME", "/nonexistent").arg("--no-rc").args(args).arg(EXE);
    command.output().expect("kcore runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A command that would run for days.
const ENDLESS: &str = ",ffffff::eval ',ffffff::echo x'";
/// Its time in seconds. The short command behind it has as much, which is enough on a busy machine too.
const TIME: &str = "2";

#[test]
fn a_command_ends_with_its_time_and_the_next_one_runs() {
    let output = run(&["--max-time", TIME, "-c", ENDLESS, "-c", "::echo after"]);
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert_eq!(errors, "kcore: out of time after 2 s: the answer is partial (--max-time)\n");
    assert!(out.starts_with("x \n") && out.ends_with("x \nafter \n"), "{}", out.len());
}

#[test]
fn text_that_runs_within_a_command_ends_with_it() {
    let line = format!("::eval \"{ENDLESS}; ::echo within\"; ::echo after");
    let output = run(&["--max-time", TIME, "-c", &line]);
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(!out.contains("within") && out.ends_with("after \n"), "{errors}");
    assert_eq!(errors.matches("out of time").count(), 1, "{errors}");
    assert_eq!(output.status.code(), Some(1), "{errors}");
}

#[test]
fn machines_get_an_error_record() {
    let output = run(&["--json", "--max-time", TIME, "-c", ENDLESS]);
    let out = text(&output.stdout);
    let last = out.lines().last().expect("a record");
    let record: serde_json::Value = serde_json::from_str(last).expect("JSON");
    assert_eq!((&record["type"], &record["command"]), (&"error".into(), &"::echo".into()));
    assert!(
        record["message"].as_str().is_some_and(|text| text.starts_with("out of time")),
        "{record}"
    );
}

#[test]
fn wrong_bounds_are_wrong_usage() {
    for (option, value) in [("--max-memory", "1M"), ("--max-memory", "8X"), ("--max-time", "0")] {
        let output = run(&[option, value, "-c", "::echo x"]);
        assert_eq!(output.status.code(), Some(2), "{option} {value}");
        assert!(text(&output.stderr).contains(value), "{}", text(&output.stderr));
    }
}

#[test]
fn a_bound_of_memory_that_is_enough_changes_nothing() {
    let output = run(&["--max-memory", "256M", "-c", "::echo x"]);
    assert_eq!((text(&output.stdout).as_str(), text(&output.stderr).as_str()), ("x \n", ""));
}
