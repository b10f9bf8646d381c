//! Verdicts, counted.

use std::collections::BTreeMap;
use std::fmt;

/// What a caller that somebody named turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// The thread came back there.
    Right,
    /// The same, and it was said to be a guess.
    GuessRight,
    /// It came back elsewhere, and it was said to be a guess.
    GuessWrong,
    /// It came back elsewhere, and nothing said so.
    Wrong,
    /// None was named.
    Silent,
    /// The thread did not come back in time.
    Undecided,
}

impl Verdict {
    /// All of them, in the order of the columns.
    const ALL: [Self; 6] = [
        Self::Right,
        Self::GuessRight,
        Self::GuessWrong,
        Self::Wrong,
        Self::Silent,
        Self::Undecided,
    ];

    const fn heading(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::GuessRight => "marked, right",
            Self::GuessWrong => "marked, wrong",
            Self::Wrong => "UNMARKED WRONG",
            Self::Silent => "no caller",
            Self::Undecided => "undecided",
        }
    }
}

/// Verdicts by whom they are about.
#[derive(Default)]
pub struct Tally(BTreeMap<String, BTreeMap<Verdict, u64>>);

impl Tally {
    pub fn add(&mut self, whom: &str, verdict: Verdict) {
        self.add_many(whom, verdict, 1);
    }

    fn add_many(&mut self, whom: &str, verdict: Verdict, more: u64) {
        let row = self.0.entry(whom.to_owned()).or_default();
        let count = row.entry(verdict).or_default();
        *count = count.checked_add(more).unwrap();
    }

    /// Adds all verdicts of another one to the row of `whom`.
    pub fn add_all(&mut self, whom: &str, other: &Self) {
        for (verdict, count) in other.0.values().flatten() {
            self.add_many(whom, *verdict, *count);
        }
    }

    /// Adds the rows of another one to those of the same names.
    pub fn merge(&mut self, other: &Self) {
        for (whom, row) in &other.0 {
            row.iter().for_each(|(verdict, count)| self.add_many(whom, *verdict, *count));
        }
    }

    /// How many verdicts were passed.
    pub fn count(&self) -> u64 {
        self.0.values().flatten().map(|(_, count)| count).sum()
    }

    /// How often a verdict was passed.
    pub fn of(&self, verdict: Verdict) -> u64 {
        self.0.values().filter_map(|row| row.get(&verdict)).sum()
    }
}

impl fmt::Display for Tally {
    /// A table as documentation has them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "| {:24} | {:>7} |", "", "stops")?;
        Verdict::ALL.iter().try_for_each(|verdict| write!(f, " {:>7} |", verdict.heading()))?;
        write!(f, "\n|---|--:|")?;
        Verdict::ALL.iter().try_for_each(|_| write!(f, "--:|"))?;
        for (whom, row) in &self.0 {
            write!(f, "\n| {whom:24} | {:>7} |", row.values().sum::<u64>())?;
            for verdict in Verdict::ALL {
                let width = verdict.heading().len().max(7);
                write!(f, " {:>width$} |", row.get(&verdict).copied().unwrap_or_default())?;
            }
        }
        writeln!(f)
    }
}
