//! Values of enumerations by the names that users type.

use kcore::expression::enumerator;
use kcore::{FoundEnumerator, Object};
use kcore_dcmd::NameScope;

/// The value of this name, with its module or file before a backquote, as an object of its enumeration.
///
/// # Errors
/// The names with which the values are told apart, where there are several.
pub fn object(names: NameScope<'_>, word: &str) -> Result<Option<Object>, Vec<String>> {
    let (scope, name) = match word.rsplit_once('`') {
        Some((scope, name)) => (Some(scope), name),
        None => (None, word),
    };
    let types = names.core.types().seen_from(names.code());
    let found = types.enumerators(scope, name).unwrap_or_default();
    let Some(first) = found.first() else { return Ok(None) };
    if found.iter().all(|other| other.value == first.value) {
        return Ok(Some(enumerator(&first.ty, first.value, names.core.target())));
    }
    let bare = name.rsplit("::").next().unwrap_or(name);
    Err(found.iter().map(|one| described(one, bare)).collect())
}

/// Whether the code in which names are used has a value of this name.
pub fn is_near(names: NameScope<'_>, name: &str) -> bool {
    let types = names.core.types().seen_from(names.code());
    !types.enumerators_in_code(None, name).is_empty()
}

/// A value as it can be written, and what it is.
fn described(one: &FoundEnumerator, name: &str) -> String {
    let value = one.value;
    match one.ty.node().name.as_deref() {
        Some(_) => {
            let spelled = one.ty.spelled();
            let ty = spelled.trim_start_matches("enum ");
            format!("{ty}::{name} ({value})")
        }
        None => format!("{value} of an enumeration without a name"),
    }
}
