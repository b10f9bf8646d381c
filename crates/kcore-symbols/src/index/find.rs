//! What is meant by a name.

use super::{
    NameIndex, Record, What,
    matching::{Fit, fit},
    spelled::{Component, NameHash, Spelled},
};
use crate::{DebugInfo, DieId, types};

/// Entries that are read to answer one question.
const MAX_READ: usize = 1 << 12;

/// A name that is looked for.
pub struct Sought<'a> {
    typed: Spelled,
    hash: NameHash,
    what: What,
    keyword: Option<&'a str>,
}

impl<'a> Sought<'a> {
    /// A type by its name, which may have `struct`, `class`, `union` or `enum` before it.
    pub fn types(name: &'a str) -> Self {
        let name = name.trim();
        let words = ["struct", "class", "union", "enum"];
        let with_keyword = words.into_iter().find_map(|word| {
            let rest = name.strip_prefix(word)?;
            let name = rest.trim_start();
            (rest.len() > name.len() && !name.starts_with('{')).then_some((word, name))
        });
        match with_keyword {
            Some((word, name)) => Self { keyword: Some(word), ..Self::new(name, What::Type) },
            None => Self::new(name, What::Type),
        }
    }

    /// Anything by its name.
    pub fn new(name: &str, what: What) -> Self {
        let typed = Spelled::parse(name);
        let hash = typed.hash();
        Self { typed, hash, what, keyword: None }
    }

    /// The keyword that was typed before the name.
    pub const fn keyword(&self) -> Option<&'a str> {
        self.keyword
    }

    /// Whether a record may be meant.
    fn may_be(&self, record: &Record) -> bool {
        let has_no_arguments = self.hash.full == self.hash.stem;
        record.what() == self.what
            && (record.full == self.hash.full || record.is_bare() || has_no_arguments)
    }
}

/// The entries that may be meant: definitions before declarations, those in the very scope that was
/// typed before others. Where one is found that fits better, those that fit worse are left out.
pub fn find(info: &DebugInfo, index: &NameIndex, sought: &Sought<'_>) -> Vec<DieId> {
    let candidates = index.with_stem(sought.hash.stem).iter().filter(|record| sought.may_be(record));
    let mut candidates: Vec<&Record> = candidates.collect();
    // The very name first, since not all may be read.
    candidates.sort_by_key(|record| record.full != sought.hash.full);
    let mut found: Vec<(bool, Fit, DieId)> = candidates
        .into_iter()
        .take(MAX_READ)
        .filter_map(|record| {
            let id = index.place(record)?;
            Some((record.is_declaration(), fit_of(info, id, sought)?, id))
        })
        .collect();
    found.sort();
    let best = found.first().map(|(declared, fit, _)| (*declared, *fit));
    let as_good = found.into_iter().filter(|(declared, fit, _)| Some((*declared, *fit)) == best);
    as_good.map(|(_, _, id)| id).collect()
}

fn fit_of(info: &DebugInfo, id: DieId, sought: &Sought<'_>) -> Option<Fit> {
    let named = types::named(info, id).ok()??;
    let scope = named.scope.iter().filter(|scope| !scope.is_transparent);
    let scope = scope.filter_map(|scope| component(&scope.name)).collect();
    fit(&sought.typed, scope, Spelled::parse(&named.name))
}

/// A scope's name; `None` for one that nobody types.
fn component(name: &str) -> Option<Component> {
    Spelled::parse(name).last_path()?.last().cloned()
}
