//! Dcmds of files as specs, so that usage, help and completion follow from them as from those of kcore.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use kcore::{DcmdAddress, DeclaredDcmd};

use crate::{AddrUse, Column, Group, Spec};

/// What a dcmd of a file is called, takes and means.
pub fn spec_of(dcmd: &DeclaredDcmd) -> Spec {
    let addr = match dcmd.address {
        DcmdAddress::None => AddrUse::None,
        DcmdAddress::Optional => AddrUse::Optional,
        DcmdAddress::Required => AddrUse::Required,
    };
    let usage: Vec<_> = dcmd
        .arguments
        .iter()
        .map(|argument| match &argument.default {
            Some(_) => format!("[{}]", argument.name),
            None => argument.name.to_string(),
        })
        .collect();
    let least = dcmd.arguments.iter().filter(|argument| argument.default.is_none()).count();
    Spec::new(kept(&dcmd.name), Group::Own, kept(&dcmd.summary))
        .addr(addr)
        .operands(kept(&usage.join(" ")), least, dcmd.arguments.len())
        .help(kept(&dcmd.help))
}

/// Columns by their names and widths.
type KeptColumns = HashMap<Vec<(&'static str, usize)>, &'static [Column]>;

/// The columns of a table with these names and widths. They are kept as names are.
pub fn kept_columns(columns: &[(&str, usize)]) -> &'static [Column] {
    static KEPT: Mutex<Option<KeptColumns>> = Mutex::new(None);
    let names = columns.iter().map(|(name, width)| (kept(name), *width));
    let names: Vec<_> = names.collect();
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_default();
    if let Some(same) = all.get(&names).copied() {
        return same;
    }
    let column = |(name, width): &(&'static str, usize)| {
        let key = kept(&format!("column {name}"));
        Column::left(key, kept(&name.to_uppercase()), *width)
    };
    let new: &'static [Column] = names.iter().map(column).collect::<Vec<_>>().leak();
    all.insert(names, new);
    new
}

/// A text that is kept for as long as the program runs. Specs are of words that last, and a file that is loaded again
/// says most of them again: each is kept once.
fn kept(text: &str) -> &'static str {
    static KEPT: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.get_or_insert_default();
    match kept.get(text).copied() {
        Some(same) => same,
        None => {
            let new: &'static str = Box::leak(Box::<str>::from(text));
            kept.insert(new);
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_are_kept_once() {
        assert!(std::ptr::eq(kept("some words"), kept(&String::from("some words"))));
        assert_eq!(kept(""), "");
    }
}
