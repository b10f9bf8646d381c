//! Variables of classes, which lie in no object of them.

use std::collections::{HashSet, VecDeque};

use kcore_symbols::Type;

use super::PathError;
use crate::{Object, Process, object::complete};

/// Classes that are searched for one name, at most: those that an object is derived from.
const MAX_CLASSES: usize = 64;

/// The variable of this name that a class declares, or else the nearest of those that it is derived from; `None` where
/// no class declares it.
///
/// # Errors
/// When it is declared, and no module has it.
pub fn find(process: &dyn Process, class: &Type, name: &str) -> Result<Option<Object>, PathError> {
    let mut waiting = VecDeque::from([class.clone()]);
    let mut seen = HashSet::new();
    while let Some(class) = waiting.pop_front() {
        if seen.len() >= MAX_CLASSES || !seen.insert(class.identity()) {
            continue;
        }
        let Some(composite) = class.composite() else { continue };
        if composite.statics.iter().any(|member| member.name.as_deref() == Some(name)) {
            let undefined = || PathError::Undefined(format!("{}::{name}", class.spelled()));
            return process.class_variable(&class, name).map(Some).ok_or_else(undefined);
        }
        let bases = composite.bases.iter().filter_map(|base| class.follow(&base.ty).ok());
        waiting.extend(bases.filter_map(|base| complete(&base, process).ok()));
    }
    Ok(None)
}
