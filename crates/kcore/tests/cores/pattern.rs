//! Which cases an exception is for.

use std::sync::atomic::{AtomicBool, Ordering};

use gen_cores::Case;

use crate::known::variant;

/// Cases of one scenario whose variants have certain words.
///
/// It remembers whether it was needed: an exception that is not needed any more is an error.
pub struct Pattern {
    scenario: &'static str,
    words: &'static [&'static str],
    used: AtomicBool,
}

impl Pattern {
    /// The variants of `scenario` (`x*`: of all that begin so) that have all `words` in their names; a word behind
    /// `!` must not be there.
    pub const fn new(scenario: &'static str, words: &'static [&'static str]) -> Self {
        Self { scenario, words, used: AtomicBool::new(false) }
    }

    /// Whether a case is one of them.
    pub fn fits(&self, case: &Case) -> bool {
        let is_wanted = match self.scenario.strip_suffix('*') {
            Some(begin) => case.scenario.starts_with(begin),
            None => case.scenario == self.scenario,
        };
        is_wanted && self.words.iter().all(|word| has_word(case, word))
    }

    /// Takes the exception for a case, if it is for it.
    pub fn take(&self, case: &Case) -> bool {
        let fits = self.fits(case);
        self.used.fetch_or(fits, Ordering::Relaxed);
        fits
    }

    /// What is wrong when no case needed the exception, though there are some that could.
    pub fn stale<'a>(
        &self,
        mut cases: impl Iterator<Item = &'a Case>,
        why: &str,
    ) -> Option<String> {
        let possible = cases.any(|case| self.fits(case));
        let stale = possible && !self.used.load(Ordering::Relaxed);
        stale.then(|| format!("{} {:?}: not needed any more: {why}", self.scenario, self.words))
    }
}

fn has_word(case: &Case, word: &str) -> bool {
    let variant = variant(case);
    match word.strip_prefix('!') {
        Some(word) => !variant.has(word),
        None => variant.has(word),
    }
}
