//! The result of a test run, in one line.

use std::{collections::BTreeMap, fmt, process::ExitStatus};

use anyhow::Result;

/// What failed and what was skipped.
#[derive(Debug, Default)]
pub struct Summary {
    /// Failed targets and steps, each with its failed tests or its reason.
    failed: Vec<String>,
    /// Failed tests of the target that is running.
    pending: Vec<String>,
    passed: usize,
    /// Skipped tests with their reasons.
    skipped: BTreeMap<String, usize>,
}

impl Summary {
    /// Records the result of a step.
    pub fn note(&mut self, step: &str, result: Result<()>) {
        if let Err(error) = result {
            println!("{step}: {error:#}");
            self.failed.push(format!("{step} ({error:#})"));
        }
    }

    /// Takes in a line that `cargo test` or a test harness printed.
    pub fn line(&mut self, line: &str) {
        if let Some(test) = line.strip_prefix("test ") {
            self.test(test);
        } else if let Some(target) = line.strip_prefix("error: could not compile ") {
            let target = target.split(" due to").next().unwrap_or(target);
            self.failed.push(format!("{target} (does not compile)"));
        } else if let Some((_, words)) = line.split_once("to rerun pass `") {
            let tests = std::mem::take(&mut self.pending);
            let tests = if tests.is_empty() { "it ended early".into() } else { tests.join(", ") };
            self.failed.push(format!("{} ({tests})", words.trim_end_matches('`')));
        }
    }

    fn test(&mut self, line: &str) {
        match line.rsplit_once(" ... ") {
            Some((name, "FAILED")) => self.pending.push(name.to_owned()),
            Some((_, "ok")) => self.passed += 1,
            Some((name, said)) if said.starts_with("ignored") => self.skip(name, said),
            _ => (),
        }
    }

    /// Records the exit status of `cargo test`, in case it failed without naming a target.
    pub fn end_of_tests(&mut self, status: ExitStatus) {
        if !status.success() && self.failed.is_empty() {
            self.failed.push(format!("cargo test ({status})"));
        }
    }

    /// Takes in the list that tests wrote of what they skipped, one a line.
    pub fn skipped(&mut self, lines: &str) {
        for line in lines.lines() {
            let (test, reason) = line.split_once(": ").unwrap_or(("a test", line));
            self.skip(test, reason);
        }
    }

    fn skip(&mut self, test: &str, reason: &str) {
        *self.skipped.entry(format!("{test} ({reason})")).or_default() += 1;
    }

    /// Whether nothing failed.
    pub const fn is_good(&self) -> bool {
        self.failed.is_empty()
    }

    /// What failed, in words.
    pub fn failures(&self) -> String {
        format!("{} failed: {}", self.failed.len(), self.failed.join("; "))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tests passed; ", self.passed)?;
        match self.is_good() {
            true => write!(f, "none failed; ")?,
            false => write!(f, "{}; ", self.failures())?,
        }
        let skipped: Vec<&str> = self.skipped.keys().map(String::as_str).collect();
        match skipped.as_slice() {
            [] => write!(f, "none skipped"),
            some => write!(f, "{} skipped: {}", some.len(), some.join("; ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "\
     Running unittests src/lib.rs (target/debug/deps/a-1)
test one ... ok
test two ... FAILED
test three ... ignored, needs a day
error: test failed, to rerun pass `-p a --lib`
     Running tests/b.rs (target/debug/deps/b-2)
error: test failed, to rerun pass `-p a --test b`
error: could not compile `c` (test \"d\") due to 3 previous errors
test four ... ok
";

    #[test]
    fn what_failed_and_what_was_skipped_stand_in_a_line() {
        let mut summary = Summary::default();
        RUN.lines().for_each(|line| summary.line(line));
        summary.note("packages", Err(anyhow::anyhow!("there is no apt-get")));
        summary.skipped("five: node-stack/node16: there is no node16\n");
        let said = "2 tests passed; 4 failed: -p a --lib (two); -p a --test b (it ended early); \
                    `c` (test \"d\") (does not compile); packages (there is no apt-get); 2 skipped: \
                    five (node-stack/node16: there is no node16); three (ignored, needs a day)";
        assert_eq!(summary.to_string(), said);
        assert!(!summary.is_good());
    }

    #[test]
    fn nothing_failed() {
        let mut summary = Summary::default();
        summary.line("test one ... ok");
        assert_eq!(summary.to_string(), "1 tests passed; none failed; none skipped");
    }
}
