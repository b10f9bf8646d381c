//! Elements of containers and what owning pointers own, as printers find them.

use kcore_mem::Addr;

use super::PathError;
use crate::{Content, Entry, Limits, Object, Pointee, Process, Value};

/// An element of a container by its index.
pub fn element(process: &dyn Process, object: &Object, index: u64) -> Option<Object> {
    let value = shallow(process, object, index.checked_add(1)?);
    let at = usize::try_from(index).ok()?;
    match value.content {
        Content::Elements(elements) => object_of(elements.values.get(at)?),
        Content::Entries { entries, .. } => {
            let found = entries.iter().find(|entry| is_number(&entry.key, index))?;
            object_of(&found.value)
        }
        Content::Text(_) => None,
        _ => None,
    }
}

/// The value of a container that a key of text leads to.
///
/// # Errors
/// When it is no container of keys, or has no such key.
pub fn with_key(process: &dyn Process, object: &Object, key: &str) -> Result<Object, PathError> {
    let value = shallow(process, object, MAX_KEYS);
    let Content::Entries { entries, .. } = value.content else {
        return Err(crate::ObjectError::NotIndexable.into());
    };
    let is_it = |entry: &&Entry| match &entry.key.content {
        Content::Text(text) => &*text.text == key,
        Content::Pointer(pointer) => pointer.text.as_ref().is_some_and(|text| &*text.text == key),
        _ => false,
    };
    let found = entries.iter().find(is_it).and_then(|entry| object_of(&entry.value));
    found.ok_or_else(|| PathError::NoKey(format!("\"{key}\"")))
}

/// Entries of a container in which a key is looked for, at most.
const MAX_KEYS: u64 = 1 << 16;

/// What a smart pointer points to.
pub fn owned(process: &dyn Process, object: &Object) -> Option<Object> {
    let Content::Pointer(pointer) = shallow(process, object, 1).content else { return None };
    match pointer.pointee {
        Some(Pointee::Value(value)) => object_of(&value),
        Some(Pointee::Shown) | None => None,
    }
}

/// The value of a container with so many of its elements, and as little of each as possible.
fn shallow(process: &dyn Process, object: &Object, elements: u64) -> Value {
    let limits = Limits {
        depth: Some(2),
        elements: Some(elements),
        pointers: 1,
        values: 1 << 20,
        ..Limits::default()
    };
    object.value(process, &limits)
}

fn object_of(value: &Value) -> Option<Object> {
    let at = value.at?;
    let whole = Object::at(value.ty.clone(), Addr::new(at.get()));
    Some(match value.bits {
        Some(bits) => Object { place: whole.place.bit_field(bits), ..whole },
        None => whole,
    })
}

fn is_number(key: &Value, number: u64) -> bool {
    match &key.content {
        Content::Integer(key) => key.bits == u128::from(number),
        Content::Enum(key) => key.number.bits == u128::from(number),
        _ => false,
    }
}
