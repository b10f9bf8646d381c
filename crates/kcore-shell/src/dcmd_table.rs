//! Dcmds by every spelling, and the name that was perhaps meant.

use std::collections::BTreeMap;

use kcore_dcmd::Dcmd;

/// The module in which all dcmds are, as a scope.
const SCOPE: &str = "::kcore`";

/// Finds dcmds by the spelling that a user types.
pub(crate) struct DcmdTable {
    by_spelling: BTreeMap<String, &'static dyn Dcmd>,
}

impl DcmdTable {
    /// Of two dcmds with one spelling the first counts.
    pub(crate) fn new(dcmds: &[&'static dyn Dcmd]) -> Self {
        let mut by_spelling = BTreeMap::new();
        for dcmd in dcmds {
            for spelling in dcmd.spec().spellings() {
                by_spelling.entry(spelling).or_insert(*dcmd);
            }
        }
        Self { by_spelling }
    }

    /// The dcmd of that spelling, which may name the module: ``::kcore`stack``.
    pub(crate) fn get(&self, spelling: &str) -> Option<&'static dyn Dcmd> {
        let unscoped = spelling.strip_prefix(SCOPE).map(|name| format!("::{name}"));
        self.by_spelling.get(unscoped.as_deref().unwrap_or(spelling)).copied()
    }

    /// Every spelling with its dcmd.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &'static dyn Dcmd)> {
        self.by_spelling.iter().map(|(spelling, dcmd)| (spelling.as_str(), *dcmd))
    }

    pub(crate) fn spellings(&self) -> impl Iterator<Item = &str> {
        self.by_spelling.keys().map(String::as_str)
    }

    /// The spelling that differs least from what was typed, if it differs little.
    pub(crate) fn nearest(&self, typed: &str) -> Option<&str> {
        if !typed.starts_with("::") {
            return None;
        }
        let most = if typed.chars().count() < 6 { 1 } else { 2 };
        self.spellings()
            .map(|spelling| (distance(typed, spelling), spelling))
            .filter(|(distance, _)| *distance <= most)
            .min()
            .map(|(_, spelling)| spelling)
    }
}

/// Letters to insert, remove, replace or swap with a neighbour to turn one text into the other.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    // Nobody means a name that is so much shorter or longer, and what was typed may be long.
    if from.len().abs_diff(to.len()) > 2 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for row in 1..=from.len() {
        let mut current = vec![row];
        for column in 1..=to.len() {
            let replaced = above[column - 1] + usize::from(from[row - 1] != to[column - 1]);
            let mut least = replaced.min(above[column] + 1).min(current[column - 1] + 1);
            if row > 1 && column > 1 && swapped(&from[row - 2..row], &to[column - 2..column]) {
                least = least.min(before[column - 2] + 1);
            }
            current.push(least);
        }
        before = std::mem::replace(&mut above, current);
    }
    above[to.len()]
}

fn swapped(from: &[char], to: &[char]) -> bool {
    from[0] == to[1] && from[1] == to[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_slips_of_the_hand() {
        for (from, to, expected) in [
            ("", "", 0),
            ("stack", "stack", 0),
            ("stak", "stack", 1),
            ("satck", "stack", 1),
            ("stsck", "stack", 1),
            ("stacks", "stack", 1),
            ("ab", "ba", 1),
            ("status", "stacks", 2),
            ("a", "abcd", usize::MAX),
        ] {
            assert_eq!(distance(from, to), expected, "{from} {to}");
        }
    }
}
