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

/// The entries that may be meant, definitions before declarations. Where one fits better than others,
/// those are left out: the name in the very scope that was typed counts more than one in another.
pub fn find(info: &DebugInfo, index: &NameIndex, sought: &Sought<'_>) -> Vec<DieId> {
    let candidates =
        index.with_stem(sought.hash.stem).iter().filter(|record| sought.may_be(record));
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
    let best = found.first().copied();
    let is_good = |(declared, fit, _): &(bool, Fit, DieId)| match best {
        // A type that is only declared may still be another one: a structure beside a typedef.
        Some((false, best, _)) if *declared => *fit == best && sought.what == What::Type,
        Some((_, best, _)) => *fit == best,
        None => false,
    };
    found.into_iter().filter(is_good).map(|(_, _, id)| id).collect()
}

fn fit_of(info: &DebugInfo, id: DieId, sought: &Sought<'_>) -> Option<Fit> {
    let named = types::named(info, id).ok()??;
    let entry = Spelled::parse(&named.name);
    let within = |all: bool| -> Vec<Component> {
        let scopes = named.scope.iter().filter(|scope| all || !scope.is_transparent);
        scopes.filter_map(|scope| component(&scope.name)).collect()
    };
    let fit_within = |all| fit(&sought.typed, within(all), entry.clone());
    // An inline namespace may be typed, or not.
    fit_within(false).or_else(|| fit_within(true))
}

/// A scope's name; `None` for one that nobody types.
fn component(name: &str) -> Option<Component> {
    Spelled::parse(name).last_path()?.last().cloned()
}
