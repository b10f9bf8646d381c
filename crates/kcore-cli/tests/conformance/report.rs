//! Compares answers with what a case expects, and shows what differs.

use std::fmt::Write;

use crate::case::{Case, Step};
use crate::run;

/// Runs the cases and fails with all that differs.
pub fn check(cases: &[Case]) {
    let failures: Vec<String> = cases.iter().filter_map(failure).collect();
    assert!(failures.is_empty(), "{} cases differ\n\n{}", failures.len(), failures.join("\n"));
}

/// What is wrong with a case; a known difference is only told.
fn failure(case: &Case) -> Option<String> {
    let difference = difference(case);
    match (&case.known, difference) {
        (None, difference) => difference.map(|text| format!("{}:\n{text}", case.place)),
        (Some(why), Some(_)) => {
            println!("{}: known: {why}", case.place);
            None
        }
        (Some(why), None) => Some(format!("{}: passes now, but is marked: {why}\n", case.place)),
    }
}

fn difference(case: &Case) -> Option<String> {
    let joined;
    let expected = if case.target.program {
        joined = [join(&case.steps)];
        &joined[..]
    } else {
        &case.steps
    };
    let mut text = String::new();
    for (expected, got) in expected.iter().zip(run::answers(case)) {
        if expected.out != got.out || expected.errors != compared(&expected.errors, &got.errors) {
            let _ = write!(text, "{}", shown(expected, &got));
        }
    }
    (!text.is_empty()).then_some(text)
}

/// The steps of a script as one.
fn join(steps: &[Step]) -> Step {
    Step {
        input: steps.iter().map(|step| step.input.as_str()).collect::<Vec<_>>().join("\n"),
        out: steps.iter().map(|step| step.out.as_str()).collect(),
        errors: steps.iter().flat_map(|step| step.errors.clone()).collect(),
    }
}

/// The error lines that count: those of kcore that say what is wrong, unless others are expected.
fn compared(expected: &[String], got: &[String]) -> Vec<String> {
    let counts = |line: &&String| line.starts_with("kcore: ") && !line.starts_with("kcore: try ");
    let all = !expected.iter().all(|line| counts(&line));
    got.iter().filter(|line| all || counts(line)).cloned().collect()
}

/// Input, expected and got, in the form of the case files.
fn shown(expected: &Step, got: &Step) -> String {
    let input = expected.input.replace('\n', "\n> ");
    format!("> {input}\n-- expected\n{}-- got\n{}", answer(expected), answer(got))
}

fn answer(step: &Step) -> String {
    let mut text = String::new();
    for line in step.out.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) if line.is_empty() || line.ends_with(' ') => (line, "¶"),
            Some(line) => (line, ""),
            None => (line, " (no newline)"),
        };
        let _ = writeln!(text, "{line}{end}");
    }
    for error in &step.errors {
        let _ = writeln!(text, "! {error}");
    }
    text
}
