//! Names that begin as a user has begun them.

use std::collections::BTreeSet;

use crate::{
    path::{Behind, Path},
    preference,
    table::SymbolTable,
};

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
    let wanted = Prefix::new(prefix);
    let mut found =
        Completions { first: BTreeSet::new(), last: Vec::new(), max, joined: Vec::new() };
    for (number, symbol) in table.iter().enumerate() {
        if number.is_multiple_of(STRIDE) && !go_on() {
            return None;
        }
        if !symbol.entry.has_address() {
            continue;
        }
        if let Some(path) = Path::of(symbol.name_and_more()) {
            wanted.in_path(path, &mut found);
        }
        if wanted.may_be_raw(|start| symbol.name_begins_with(start)) {
            found.add(symbol.name());
        }
    }
    Some(found.into_names())
}

/// What a user has begun.
struct Prefix<'p> {
    prefix: &'p [u8],
    /// The whole identifiers in it, with the last one that is begun behind them.
    outer: Vec<&'p str>,
    begun: &'p str,
}

impl<'p> Prefix<'p> {
    fn new(prefix: &'p str) -> Self {
        let mut outer: Vec<&str> = prefix.split("::").collect();
        let begun = outer.pop().unwrap_or_default();
        Self { prefix: prefix.as_bytes(), outer, begun }
    }

    /// Whether a name that begins as `begins` says is to be shown as the file has it: a mangled one only
    /// to who types manglings.
    fn may_be_raw(&self, begins: impl Fn(&[u8]) -> bool) -> bool {
        let is_mangled = [&b"_Z"[..], b"_R"].into_iter().find(|mangling| begins(mangling));
        begins(self.prefix) && is_mangled.is_none_or(|mangling| self.prefix.starts_with(mangling))
    }

    /// Adds the path of a mangled name up to the identifier that was begun.
    fn in_path(&self, mut path: Path<'_>, found: &mut Completions) {
        let first = self.outer.first().unwrap_or(&self.begun);
        if !path.may_begin_with(first.as_bytes()) {
            return;
        }
        if !self.outer.iter().all(|outer| path.next() == Some(outer.as_bytes())) {
            return;
        }
        let Some(identifier) = path.next() else { return };
        let scope = match path.behind() {
            _ if !identifier.starts_with(self.begun.as_bytes()) => return,
            Behind::More => &b"::"[..],
            Behind::End => b"",
            Behind::Other => return,
        };
        let outer = self.prefix.len().saturating_sub(self.begun.len());
        let outer = self.prefix.get(..outer).unwrap_or_default();
        found.add_joined([outer, identifier, scope]);
    }
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
struct Completions {
    first: BTreeSet<Vec<u8>>,
    last: Vec<u8>,
    max: usize,
    /// The last name that was put together.
    joined: Vec<u8>,
}

impl Completions {
    /// Adds a name in parts. Many names have one scope, and most of them stand side by side.
    fn add_joined(&mut self, parts: [&[u8]; 3]) {
        let mut rest = self.joined.as_slice();
        let is_same = parts.iter().all(|part| match rest.strip_prefix(*part) {
            Some(behind) => {
                rest = behind;
                true
            }
            None => false,
        });
        if !is_same || !rest.is_empty() {
            self.joined = parts.concat();
            self.add(&self.joined.clone());
        }
    }

    fn add(&mut self, name: &[u8]) {
        if preference::is_marker(name) {
            return;
        }
        if self.last.as_slice() < name {
            self.last = name.to_vec();
        }
        let is_full = self.first.len() >= self.max;
        if is_full && self.first.last().is_none_or(|greatest| greatest.as_slice() <= name) {
            return;
        }
        if !self.first.contains(name) {
            self.first.insert(name.to_vec());
        }
        if self.first.len() > self.max {
            self.first.pop_last();
        }
    }

    fn into_names(self) -> Vec<String> {
        let last = std::iter::once(self.last).filter(|name| !name.is_empty());
        let all = self.first.into_iter().chain(last);
        let mut names = all.map(|name| String::from_utf8_lossy(&name).into_owned()).collect();
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
