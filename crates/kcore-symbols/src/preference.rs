//! Which of several symbols at one address is the one to show, in the order of MDB.

use std::cmp::Ordering;

use kcore_elf::{SymbolBinding, SymbolKind};

use crate::{
    names::NameStore,
    symbol::{Entry, SymbolSource},
};

/// Whether `name` marks a place for tools rather than for people: an assembler's local label, or
/// a mapping symbol that tells code from data (`$x`, `$d`, `$d.realdata`).
pub fn is_marker(name: &[u8]) -> bool {
    let mapping = matches!(name, [b'$', b'a' | b'd' | b't' | b'x', rest @ ..]
        if rest.is_empty() || rest.first() == Some(&b'.'));
    mapping || name.starts_with(b".L") || name.is_empty()
}

/// Orders two symbols at one address, the one to show last: a function, global or weak, with a
/// size, no `$`, few leading underscores, small, global, short name, `.symtab`.
///
/// A weak name is no worse than a global one: `accept` is weak so that a program may have its own,
/// and what stands behind it is called `__libc_accept`.
pub fn compare(names: &NameStore, a: &Entry, b: &Entry) -> Ordering {
    let by_facts = facts(a).cmp(&facts(b));
    by_facts.then_with(|| {
        let (a_name, b_name) = (names.get(a.name), names.get(b.name));
        let by_spelling = spelling(b_name).cmp(&spelling(a_name));
        by_spelling
            .then_with(|| b.size.cmp(&a.size))
            .then_with(|| is_global(a).cmp(&is_global(b)))
            .then_with(|| b_name.len().cmp(&a_name.len()))
            .then_with(|| origin(a).cmp(&origin(b)))
            .then_with(|| b.index.cmp(&a.index))
    })
}

/// Greater is better.
const fn facts(entry: &Entry) -> (bool, bool, bool) {
    let visible = matches!(entry.binding, SymbolBinding::Global | SymbolBinding::Weak);
    (is_code(entry.kind), visible, entry.size > 0)
}

const fn is_global(entry: &Entry) -> bool {
    matches!(entry.binding, SymbolBinding::Global)
}

const fn is_code(kind: SymbolKind) -> bool {
    kind.is_function()
}

/// Underscores that are counted.
const MAX_UNDERSCORES: usize = 64;

/// Less is better.
fn spelling(name: &[u8]) -> (bool, usize) {
    let underscores = name.iter().take(MAX_UNDERSCORES).take_while(|byte| **byte == b'_').count();
    (name.first() == Some(&b'$'), underscores)
}

/// Greater is better.
const fn origin(entry: &Entry) -> u8 {
    match entry.source {
        SymbolSource::Full | SymbolSource::GoTable => 3,
        SymbolSource::Dynamic => 2,
        SymbolSource::Memory => 1,
        SymbolSource::Plt => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_those_of_assemblers() {
        for marker in [&b"$x"[..], b"$d.12", b".L42", b""] {
            assert!(is_marker(marker), "{marker:?}");
        }
        for name in [&b"$dollar"[..], b"main", b".text_start", b"$xyz"] {
            assert!(!is_marker(name), "{name:?}");
        }
    }
}
