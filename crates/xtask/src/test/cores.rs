//! Makes the cores before the tests run, and keeps which of them failed and why.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

use super::summary::Summary;
use crate::cargo::shown;

/// What stands between the name of a case and the reason in the lines of gen-cores.
const FAILED: &str = ": FAILED: ";

/// Runs gen-cores, shows each line when it comes, and puts into the summary which cores could not be made, or only by a
/// second try.
pub fn make(command: &mut Command, summary: &mut Summary) {
    println!("+ {}", shown(command));
    let mut failed = Vec::new();
    let ended = run(command, |line| {
        println!("{line}");
        failed.extend(line.contains(FAILED).then(|| line.to_owned()));
    });
    match ended {
        Ok(()) => summary.second_tries(failed),
        Err(error) => summary.note("gen-cores", Err(with_cases(error, &failed))),
    }
}

fn run(command: &mut Command, mut seen: impl FnMut(&str)) -> Result<()> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("it cannot be run")?;
    let lines = child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines);
    for line in lines {
        seen(&line?);
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("{} failed: {status}", shown(command));
    }
    Ok(())
}

fn with_cases(error: anyhow::Error, failed: &[String]) -> anyhow::Error {
    match failed {
        [] => error,
        _ => error.context(failed.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(script: &str) -> String {
        let mut summary = Summary::default();
        make(Command::new("sh").args(["-c", script]), &mut summary);
        summary.to_string()
    }

    #[test]
    fn cores_that_cannot_be_made_are_named_with_the_reason() {
        let said = said("echo a/b: made by Kernel; echo 'c/d: FAILED: did not die'; exit 1");
        let line = said.lines().next().unwrap();
        assert!(line.starts_with("test: failed: gen-cores (c/d: FAILED: did not die: "), "{line}");
        assert!(line.ends_with("failed: exit status: 1)"), "{line}");
    }

    #[test]
    fn cores_that_a_second_try_made_are_no_failure_and_are_named() {
        let said = said("echo 'c/d: FAILED: did not die'; echo c/d: made by Kernel");
        assert_eq!(
            said,
            "test: made by a second try: c/d: FAILED: did not die\n\
             test: 0 passed, 0 failed, 0 skipped, 0 ignored"
        );
    }
}
