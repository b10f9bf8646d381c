//! Types that a session made.

use std::{collections::BTreeMap, sync::Arc};

use kcore_symbols::Type;

use super::DataModel;

/// A type with a name that a user gave it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionType {
    /// What it is.
    pub ty: Type,
    /// The declaration of C that makes it, with its semicolon.
    pub declaration: Arc<str>,
}

/// The types of a session, found before those of modules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionTypes {
    by_name: BTreeMap<String, SessionType>,
    /// The declarations in the order in which they were made, in which they can be read again.
    declarations: Vec<Arc<str>>,
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
        if self.declarations.last() != Some(&ty.declaration) {
            self.declarations.push(Arc::clone(&ty.declaration));
        }
        self.by_name.insert(name, ty);
    }

    /// Removes a type and its declaration, unless that made others as well; says whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        let Some(removed) = self.by_name.remove(name) else { return false };
        if !self.by_name.values().any(|other| other.declaration == removed.declaration) {
            self.declarations.retain(|text| *text != removed.declaration);
        }
        true
    }

    /// Removes all types.
    pub fn clear(&mut self) {
        self.by_name.clear();
        self.declarations.clear();
    }

    /// The declarations that made them, in order.
    pub fn declarations(&self) -> impl Iterator<Item = &str> {
        self.declarations.iter().map(|text| &**text)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_stays_as_long_as_one_of_its_types() {
        let mut types = SessionTypes::default();
        let declaration: Arc<str> = "typedef struct a { int x; } a_t;".into();
        for name in ["struct a", "a_t"] {
            let declaration = Arc::clone(&declaration);
            types.add(name.to_owned(), SessionType { ty: Type::void(), declaration });
        }
        assert!(types.remove("struct a") && !types.remove("struct a"));
        assert_eq!(types.declarations().collect::<Vec<_>>(), [&*declaration]);
        assert!(types.remove("a_t") && types.is_empty());
        assert_eq!(types.declarations().count(), 0);
    }
}
