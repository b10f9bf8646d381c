//! What maps hold, by their names: `hash<K,V>`, `map<K,V>`. Keys and values of more than 128 bytes they hold
//! pointers to.

use kcore_symbols::Type;

use crate::{Object, eval::Evaluator};

/// Whether what a map holds for a key and for a value are pointers to these.
pub fn indirect(
    evaluator: &Evaluator<'_>,
    map: &Object,
    family: &str,
    key: &Type,
    value: &Type,
) -> Option<(bool, bool)> {
    let name = evaluator.complete(&map.ty)?.name()?.to_owned();
    let arguments = name.strip_prefix(family)?.strip_suffix('>')?;
    let (key, value) = (key.name()?, value.name()?);
    let is_key = arguments.starts_with(&format!("{key},"));
    let is_value = arguments.ends_with(&format!(",{value}"));
    Some((!is_key && key.starts_with('*'), !is_value && value.starts_with('*')))
}
