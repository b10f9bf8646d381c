//! Names that begin as a user has begun them.

use std::collections::BTreeSet;

use crate::{preference, table::SymbolTable};

/// Symbols that are looked at between two questions whether to go on.
const STRIDE: usize = 4096;

/// See [`SymbolTable::complete`].
///
/// One pass in the order of the files: an order of a million names costs more than a keystroke may.
pub fn complete(
    table: &SymbolTable,
    prefix: &str,
    max: usize,
    go_on: &dyn Fn() -> bool,
) -> Option<Vec<String>> {
    let mut found = Found { first: BTreeSet::new(), last: b"", max };
    for (number, symbol) in table.iter().enumerate() {
        if number.is_multiple_of(STRIDE) && !go_on() {
            return None;
        }
        if symbol.entry.has_address() && symbol.name_begins_with(prefix.as_bytes()) {
            found.add(symbol.name());
        }
    }
    Some(found.into_names())
}

/// Sorts `names`, each once, and leaves `max` of them: the first ones and the very last.
pub fn first_and_last(names: &mut Vec<String>, max: usize) {
    names.sort_unstable();
    names.dedup();
    if names.len() > max {
        let last = names.pop();
        names.truncate(max.saturating_sub(1));
        names.extend(last);
    }
}

/// The names found so far, of which only the first ones and the last are kept.
struct Found<'t> {
    first: BTreeSet<&'t [u8]>,
    last: &'t [u8],
    max: usize,
}

impl<'t> Found<'t> {
    fn add(&mut self, name: &'t [u8]) {
        if preference::is_marker(name) {
            return;
        }
        self.last = self.last.max(name);
        let is_full = self.first.len() >= self.max;
        if is_full && self.first.last().is_none_or(|greatest| *greatest <= name) {
            return;
        }
        self.first.insert(name);
        if self.first.len() > self.max {
            self.first.pop_last();
        }
    }

    fn into_names(self) -> Vec<String> {
        let last = std::iter::once(self.last).filter(|name| !name.is_empty());
        let all = self.first.into_iter().chain(last);
        let mut names = all.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        first_and_last(&mut names, self.max);
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(names: &[&str], max: usize) -> Vec<String> {
        let mut names = names.iter().map(|name| (*name).to_owned()).collect();
        first_and_last(&mut names, max);
        names
    }

    #[test]
    fn the_first_names_and_the_last_are_kept() {
        assert_eq!(kept(&["d", "a", "c", "b", "a"], 3), ["a", "b", "d"]);
        assert_eq!(kept(&["b", "a"], 3), ["a", "b"]);
        assert_eq!(kept(&["b", "a"], 0), ["b"]);
    }
}
