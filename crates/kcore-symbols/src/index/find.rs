//! What is meant by a name.

use std::sync::Arc;

use super::{
    NameIndex, Record, What,
    matching::{Fit, fit},
    records::ASK_ENTRY,
    spelled::{Component, NameHash, Part, Spelled},
};
use crate::{
    DebugInfo, DieId,
    types::{self, Named},
};

/// Entries that are read to answer one question.
const MAX_READ: usize = 1 << 15;

/// A name that is looked for.
pub struct IndexQuery<'a> {
    typed: Spelled,
    hash: NameHash,
    what: What,
    keyword: Option<&'a str>,
}

impl<'a> IndexQuery<'a> {
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

    /// What an alias of the standard library of C++ stands for.
    pub fn behind_alias(&self) -> Option<Self> {
        let stand_for = match self.typed.only_path()? {
            [std, name] if std.word == "std" => match name.word.as_str() {
                "string" => "std::basic_string<char>",
                "wstring" => "std::basic_string<wchar_t>",
                "string_view" => "std::basic_string_view<char>",
                "wstring_view" => "std::basic_string_view<wchar_t>",
                _ => return None,
            },
            _ => return None,
        };
        Some(Self::new(stand_for, self.what))
    }

    /// The hash of its last word.
    pub const fn stem(&self) -> u32 {
        self.hash.stem
    }

    /// The keyword that was typed before the name.
    pub const fn keyword(&self) -> Option<&'a str> {
        self.keyword
    }

    /// The same name within these scopes, the outermost first.
    pub fn within(&self, scopes: &[Arc<str>]) -> Self {
        let scopes = scopes.iter().filter_map(|scope| component(scope));
        let mut typed = self.typed.clone();
        if let [Part::Path(path)] = typed.0.as_mut_slice() {
            path.splice(0..0, scopes);
        }
        Self { typed, ..*self }
    }

    /// How well what an entry is called fits; `None` if it is not meant.
    pub fn fit_of(&self, named: &Named) -> Option<Fit> {
        let entry = Spelled::parse(&named.name);
        let within = |all: bool| -> Vec<Component> {
            let scopes = named.scope.iter().filter(|scope| all || !scope.is_transparent);
            scopes.filter_map(|scope| component(&scope.name)).collect()
        };
        let fit_within = |all| fit(&self.typed, within(all), entry.clone());
        // An inline namespace may be typed, or not.
        let fit = fit_within(false).or_else(|| fit_within(true))?;
        // What lies in a type is more often one of its parts than what somebody means by its bare name.
        let in_type = named.scope.last().is_some_and(|scope| scope.is_type);
        Some(if fit == Fit::InAnyScope && in_type { Fit::InAnyType } else { fit })
    }

    /// Whether a record may be meant.
    fn may_be(&self, record: &Record) -> bool {
        let has_no_arguments = self.hash.full == self.hash.stem;
        record.what() == self.what
            && (record.full == self.hash.full || record.is_bare() || has_no_arguments)
    }
}

/// Scopes in one another that are looked at.
const MAX_SCOPES: usize = 256;

/// The entries that may be meant, definitions before declarations. Where one fits better than others,
/// those are left out: the name in the very scope that was typed counts more than one in another.
pub fn find(info: &DebugInfo, index: &NameIndex, sought: &IndexQuery<'_>) -> Vec<DieId> {
    best_of(&all(info, index, sought), sought.what)
}

/// The same if the very name is defined: nothing that the index may not know could be better.
pub fn find_exact(
    info: &DebugInfo,
    index: &NameIndex,
    sought: &IndexQuery<'_>,
) -> Option<Vec<DieId>> {
    let found = all(info, index, sought);
    let is_exact = matches!(found.first(), Some((false, Fit::Exact, _)));
    is_exact.then(|| best_of(&found, sought.what))
}

/// All entries that may be meant, the best first: whether it is only declared, how well it fits, and
/// where it is.
fn all(info: &DebugInfo, index: &NameIndex, sought: &IndexQuery<'_>) -> Vec<(bool, Fit, DieId)> {
    let candidates = index.with_stem(sought.hash.stem).filter(|record| sought.may_be(record));
    let mut candidates: Vec<Record> = candidates.collect();
    // The very name first, since not all may be read.
    candidates.sort_by_key(|record| record.full != sought.hash.full);
    let mut found: Vec<(bool, Fit, DieId)> = candidates
        .into_iter()
        .take(MAX_READ)
        .filter_map(|record| {
            let id = index.place(&record)?;
            Some((record.is_declaration(), fit_of(info, index, &record, sought)?, id))
        })
        .collect();
    found.sort();
    found
}

fn best_of(found: &[(bool, Fit, DieId)], what: What) -> Vec<DieId> {
    let best = found.first().copied();
    let is_good = |(declared, fit, _): &&(bool, Fit, DieId)| match best {
        // A type that is only declared may still be another one: a structure beside a typedef.
        Some((false, best, _)) if *declared => *fit == best && what == What::Type,
        Some((_, best, _)) => *fit == best,
        None => false,
    };
    found.iter().filter(is_good).map(|(_, _, id)| *id).collect()
}

fn fit_of(
    info: &DebugInfo,
    index: &NameIndex,
    record: &Record,
    sought: &IndexQuery<'_>,
) -> Option<Fit> {
    sought.fit_of(&named(info, index, record)?)
}

/// The name of a record's entry, with its scopes.
pub fn named(info: &DebugInfo, index: &NameIndex, record: &Record) -> Option<Named> {
    let id = index.place(record)?;
    if record.scope == ASK_ENTRY {
        return types::named(info, id).ok()?;
    }
    let name = types::name_of(info, id).ok()??;
    let (mut scope, mut next) = (Vec::new(), record.scope);
    for _ in 0..MAX_SCOPES {
        let Some((id, around)) = index.scope(next) else { break };
        scope.extend(types::scope_at(info, id).ok()?);
        next = around;
    }
    scope.reverse();
    Some(Named { name, scope })
}

/// A scope's name; `None` for one that nobody types.
fn component(name: &str) -> Option<Component> {
    Spelled::parse(name).last_path()?.last().cloned()
}
