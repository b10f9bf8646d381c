//! Dcmds by every spelling, and the name that was perhaps meant.

use std::collections::BTreeMap;

use kcore_dcmd::{Dcmd, Group, near};

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

    /// The spelling that differs least from what was typed, if it differs little. What would be refused is not
    /// offered.
    pub(crate) fn nearest(&self, typed: &str) -> Option<&str> {
        if !typed.starts_with("::") {
            return None;
        }
        let works = |dcmd: &dyn Dcmd| dcmd.spec().group != Group::Unsupported;
        let offered = self.all().filter(|(_, dcmd)| works(*dcmd)).map(|(spelling, _)| spelling);
        near::nearest(typed, offered.filter(|spelling| spelling.starts_with("::")))
    }
}
