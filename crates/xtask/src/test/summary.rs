//! The result of a test run: what failed, what was skipped and why, and the counts.

use std::{collections::BTreeMap, fmt, time::Duration};

use anyhow::Result;

/// What failed and what was skipped.
#[derive(Debug, Default)]
pub struct Summary {
    /// Failed targets and steps, each with its failed tests or its reason.
    failed: Vec<String>,
    /// Failed tests of the target that is running.
    pending: Vec<String>,
    /// How many tests failed.
    failures: usize,
    passed: usize,
    /// Tests that run only when they are asked for, with their reasons.
    ignored: Vec<String>,
    /// Why tests, or parts of them, were skipped, and where.
    skipped: BTreeMap<String, Vec<String>>,
    /// Cores that could not be made at first, with the reasons, and then could.
    second_tries: Vec<String>,
    /// How long each program ran, by its name.
    times: Vec<(Duration, String)>,
}

/// Places where something was skipped that are named for each reason.
const NAMED: usize = 3;

/// Programs whose times are told at the end.
const LONGEST: usize = 20;

impl Summary {
    /// Records the result of a step.
    pub fn note(&mut self, step: &str, result: Result<()>) {
        if let Err(error) = result {
            println!("{step}: {error:#}");
            self.failed.push(format!("{step} ({error:#})"));
        }
    }

    /// Takes in a line that a test program printed.
    pub fn line(&mut self, line: &str) {
        if let Some(test) = line.strip_prefix("test ") {
            self.test(test);
        }
    }

    /// The end of a program, whose tests these words of `cargo test` run again.
    pub fn ended(&mut self, words: &str, good: bool) {
        let tests = std::mem::take(&mut self.pending);
        if !good {
            let tests = if tests.is_empty() { "it ended early".into() } else { tests.join(", ") };
            self.failed.push(format!("{words} ({tests})"));
        }
    }

    fn test(&mut self, line: &str) {
        match line.rsplit_once(" ... ") {
            Some((name, "FAILED")) => {
                self.failures += 1;
                self.pending.push(name.to_owned());
            }
            Some((_, "ok")) => self.passed += 1,
            Some((name, said)) if said.starts_with("ignored") => {
                let reason = said.trim_start_matches("ignored").trim_start_matches(", ");
                self.ignored.push(if reason.is_empty() {
                    name.into()
                } else {
                    format!("{name} ({reason})")
                });
            }
            _ => (),
        }
    }

    /// Takes in the list that tests wrote of what they skipped: a line `test: reason` each, or `test: case: reason`.
    pub fn skipped(&mut self, lines: &str) {
        for line in lines.lines() {
            let (test, reason) = line.split_once(": ").unwrap_or(("a test", line));
            let of_case = reason.split_once(": ").filter(|(case, _)| is_case(case));
            let (place, reason) = match of_case {
                Some((case, reason)) => (format!("{test} of {case}"), reason),
                None => (test.to_owned(), reason),
            };
            self.skipped.entry(reason.to_owned()).or_default().push(place);
        }
    }

    /// Takes in which cores only a second try made, with what the first one said.
    pub fn second_tries(&mut self, cases: Vec<String>) {
        self.second_tries = cases;
    }

    /// A program ran so long.
    pub fn took(&mut self, name: &str, time: Duration) {
        self.times.push((time, name.to_owned()));
    }

    /// The programs that ran longest, the longest first: `a walk 12 s, b its own tests 3 s`.
    fn longest(&self) -> String {
        let mut times: Vec<_> = self.times.iter().collect();
        times.sort_unstable_by(|a, b| b.cmp(a));
        let shown =
            times.iter().take(LONGEST).map(|(time, name)| format!("{name} {} s", time.as_secs()));
        shown.collect::<Vec<_>>().join(", ")
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

/// `scenario/variant`, of gen-cores.
fn is_case(words: &str) -> bool {
    words.contains('/') && !words.contains(' ')
}

/// The first of the places, and how many others there are.
fn named(places: &[String]) -> String {
    let first: Vec<&str> = places.iter().take(NAMED).map(String::as_str).collect();
    match places.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// The counts stand on the last line, which has no end, so that the time can follow.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failed in &self.failed {
            writeln!(f, "test: failed: {failed}")?;
        }
        for case in &self.second_tries {
            writeln!(f, "test: made by a second try: {case}")?;
        }
        for (reason, places) in &self.skipped {
            writeln!(f, "test: {} skipped: {reason}: {}", places.len(), named(places))?;
        }
        for ignored in &self.ignored {
            writeln!(f, "test: ignored: {ignored}")?;
        }
        if !self.times.is_empty() {
            writeln!(f, "test: longest: {}", self.longest())?;
        }
        let skips: usize = self.skipped.values().map(Vec::len).sum();
        let (passed, failures, ignored) = (self.passed, self.failures, self.ignored.len());
        write!(f, "test: {passed} passed, {failures} failed, {skips} skipped, {ignored} ignored")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "\
running 3 tests
test one ... ok
test two ... FAILED
test three ... ignored, needs a day
";

    const SKIPS: &str = "\
five: node-stack/node18: there is no node18
six: node-heap/node18: there is no node18
seven: tmux is not installed
";

    #[test]
    fn what_failed_and_what_was_skipped_stands_before_the_counts() {
        let mut summary = Summary::default();
        RUN.lines().for_each(|line| summary.line(line));
        summary.ended("-p a --lib", false);
        summary.ended("-p a --test b", false);
        summary.line("test four ... ok");
        summary.ended("-p c --lib", true);
        summary.note("packages", Err(anyhow::anyhow!("there is no apt-get")));
        summary.skipped(SKIPS);
        let said = "\
test: failed: -p a --lib (two)
test: failed: -p a --test b (it ended early)
test: failed: packages (there is no apt-get)
test: 2 skipped: there is no node18: five of node-stack/node18, six of node-heap/node18
test: 1 skipped: tmux is not installed: seven
test: ignored: three (needs a day)
test: 2 passed, 1 failed, 3 skipped, 1 ignored";
        assert_eq!(summary.to_string(), said);
        assert!(!summary.is_good());
        assert!(summary.failures().starts_with("3 failed: -p a --lib (two); "));
    }

    #[test]
    fn nothing_failed() {
        let mut summary = Summary::default();
        summary.line("test one ... ok");
        assert_eq!(summary.to_string(), "test: 1 passed, 0 failed, 0 skipped, 0 ignored");
        assert!(summary.is_good());
    }

    #[test]
    fn the_longest_come_first() {
        let mut summary = Summary::default();
        for (name, seconds) in [("a walk", 3), ("b its own tests", 12)] {
            summary.took(name, Duration::from_secs(seconds));
        }
        let said = summary.to_string();
        let first = said.lines().next();
        assert_eq!(first, Some("test: longest: b its own tests 12 s, a walk 3 s"));
    }

    #[test]
    fn of_many_places_some_are_named() {
        let places: Vec<String> = ["a", "b", "c", "d", "e"].map(String::from).into();
        assert_eq!(named(&places), "a, b, c and 2 more");
    }
}
