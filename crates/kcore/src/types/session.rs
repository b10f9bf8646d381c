//! Types that a session made.

use std::collections::BTreeMap;

use kcore_symbols::Type;

use super::DataModel;

/// A type with a name that a user gave it.
#[derive(Clone, Debug)]
pub struct SessionType {
    /// What it is.
    pub ty: Type,
    /// How it was declared, so that it can be written down and read again.
    pub declaration: String,
}

/// The types of a session, found before those of modules.
#[derive(Clone, Debug, Default)]
pub struct SessionTypes {
    by_name: BTreeMap<String, SessionType>,
    /// The widths of integers that the user asked for.
    pub model: Option<DataModel>,
}

impl SessionTypes {
    /// The type of that name; structures have the name `struct NAME`.
    pub fn get(&self, name: &str) -> Option<&SessionType> {
        self.by_name.get(name)
    }

    /// Adds a type; one of the same name gives way.
    pub fn add(&mut self, name: String, ty: SessionType) {
        self.by_name.insert(name, ty);
    }

    /// Removes the type of that name, if there is one.
    pub fn remove(&mut self, name: &str) -> Option<SessionType> {
        self.by_name.remove(name)
    }

    /// All, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &SessionType)> {
        self.by_name.iter().map(|(name, ty)| (name.as_str(), ty))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }
}
