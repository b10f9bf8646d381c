//! Elements of containers and what owning pointers own, as printers find them.

use kcore_mem::Addr;
use kcore_symbols::TypeKind;

use super::PathError;
use crate::{
    Content, Elements, Entry, EnumNames, Limits, Number, Object, Pointee, Pointer, Process, Value,
    VariantValue,
};

/// An element of a container by its index, or by its key that is a number.
///
/// # Errors
/// When it is no container, or has no such element.
pub fn element(process: &dyn Process, object: &Object, index: u64) -> Result<Object, PathError> {
    match shallow(process, object, index.saturating_add(1)).content {
        Content::Elements(elements) => {
            let at = usize::try_from(index).ok();
            let found = at.and_then(|at| part_of(process, elements.values.get(at)?));
            found.ok_or_else(|| beyond(object, &elements, index))
        }
        Content::Entries { .. } => {
            let entries = all_entries(process, object);
            let found = entries.iter().find(|entry| is_number(&entry.key, index));
            let found = found.and_then(|entry| part_of(process, &entry.value));
            found.ok_or_else(|| PathError::NoKey(index.cast_signed().to_string()))
        }
        Content::Text(_) => Err(PathError::Text(object.ty.spelled())),
        Content::Pointer(Pointer { to: Some(first), .. }) => {
            of_owned_array(process, object, first, index)
        }
        _ => Err(not_indexable(object)),
    }
}

/// An element of the array that a smart pointer of C++ owns, `std::unique_ptr<T[]>`, which begins at `first`. As of plain
/// pointers, nobody knows how many there are.
fn of_owned_array(
    process: &dyn Process,
    object: &Object,
    first: Addr,
    index: u64,
) -> Result<Object, PathError> {
    let ty = object.complete_type(process)?;
    let arguments = ty.composite().map(|composite| composite.arguments.as_slice());
    let held = arguments.and_then(|all| ty.follow(&all.first()?.ty).ok()?.stripped().ok());
    match held.filter(|held| is_cpp(object) && matches!(held.kind(), TypeKind::Array(_))) {
        Some(_) if first.get() == 0 => Err(PathError::Dereference(first)),
        Some(held) => Ok(Object::at(held, first).index(process, index.cast_signed())?),
        None => Err(not_indexable(object)),
    }
}

/// A part of an object by the name that it is shown with: an element of a tuple.
pub fn shown_part(process: &dyn Process, object: &Object, name: &str) -> Option<Object> {
    let fields = match shallow(process, object, 1).content {
        Content::Fields(fields) => fields,
        Content::Variant(variant) => variant.fields,
        _ => return None,
    };
    let field = fields.iter().find(|field| field.name.as_deref() == Some(name))?;
    part_of(process, &field.value)
}

/// A part that was shown, as an object of its own: what lies nowhere because a printer made it too, as whether a mutex is
/// locked.
fn part_of(process: &dyn Process, value: &Value) -> Option<Object> {
    let bits = match value.content.plain() {
        _ if value.at.is_some() => return object_of(value),
        Content::Bool(number) | Content::Integer(number) => number.bits,
        Content::Pointer(pointer) => u128::from(pointer.to?.get()),
        _ => return None,
    };
    Some(Object::of_number(value.ty.clone(), bits, process.space().target()))
}

/// Why there is no element of that index. Elements that lie nowhere, as bits do, cannot be led to.
fn beyond(object: &Object, elements: &Elements, index: u64) -> PathError {
    let count = elements.total.unwrap_or(elements.values.len() as u64);
    match count.checked_sub(1) {
        None => PathError::Empty(index),
        Some(last) if index > last => PathError::Beyond(index, last),
        Some(_) => not_indexable(object),
    }
}

fn not_indexable(object: &Object) -> PathError {
    crate::ObjectError::NotIndexable(object.ty.spelled()).into()
}

/// The value of a container that a key leads to which is a text, an enumerator or a floating-point number; `None` of a
/// container whose keys are something else.
///
/// # Errors
/// When it has no such key.
pub fn with_key(
    process: &dyn Process,
    object: &Object,
    key: &str,
) -> Result<Option<Object>, PathError> {
    let Content::Entries { entries: first, .. } = shallow(process, object, 1).content else {
        return Ok(None);
    };
    let Some(entry) = first.first() else { return Ok(None) };
    if let Content::Enum(_) = entry.key.content.plain() {
        let entries = all_entries(process, object);
        let found = entries.iter().find(|entry| is_enumerator(&entry.key, key));
        return Ok(found.and_then(|entry| part_of(process, &entry.value)));
    }
    if key.parse::<f64>().is_ok() && matches!(entry.key.content.plain(), Content::Float(_)) {
        let entries = all_entries(process, object);
        let found = entries.iter().find(|entry| is_real(&entry.key, key));
        let found = found.and_then(|entry| part_of(process, &entry.value));
        return found.map(Some).ok_or_else(|| PathError::NoKey(key.to_owned()));
    }
    if text_of(&entry.key).is_none() {
        return Ok(None);
    }
    let entries = all_entries(process, object);
    let found = entries.iter().find(|entry| text_of(&entry.key) == Some(key));
    let found = found.and_then(|entry| part_of(process, &entry.value));
    found.map(Some).ok_or_else(|| PathError::NoKey(format!("\"{key}\"")))
}

/// The entries of a container, as many as keys are looked for in.
fn all_entries(process: &dyn Process, object: &Object) -> Vec<Entry> {
    match shallow(process, object, MAX_KEYS).content {
        Content::Entries { entries, .. } => entries,
        _ => Vec::new(),
    }
}

/// What a key says, if it is a text.
fn text_of(key: &Value) -> Option<&str> {
    match &key.content {
        Content::Text(text) => Some(&text.text),
        Content::Pointer(pointer) => pointer.text.as_ref().map(|text| &*text.text),
        _ => None,
    }
}

/// Entries of a container in which a key is looked for, at most.
const MAX_KEYS: u64 = 1 << 16;

/// Whether it has elements or entries: maps of Go are pointers, and yet have.
pub fn is_one(process: &dyn Process, object: &Object) -> bool {
    let content = shallow(process, object, 1).content;
    matches!(content, Content::Elements(_) | Content::Entries { .. })
}

/// Whether it is shown as text.
pub fn is_text(process: &dyn Process, object: &Object) -> bool {
    matches!(shallow(process, object, 1).content, Content::Text(_))
}

/// Whether it has values by keys.
pub fn has_entries(process: &dyn Process, object: &Object) -> bool {
    matches!(shallow(process, object, 1).content, Content::Entries { .. })
}

/// What a smart pointer points to, or what an optional or a variant holds.
///
/// # Errors
/// When it is none, or points to nothing, or holds nothing.
pub fn owned(process: &dyn Process, object: &Object) -> Result<Object, PathError> {
    let pointer = match shallow(process, object, 1).content {
        Content::Pointer(pointer) => pointer,
        Content::Variant(variant) if is_cpp(object) => return held(&variant),
        _ => return Err(crate::ObjectError::NotAPointer(object.ty.spelled()).into()),
    };
    let to = pointer.to.unwrap_or_default();
    match &pointer.pointee {
        Some(Pointee::Value(value)) => object_of(value).ok_or(PathError::Dereference(to)),
        None if to.get() != 0 => Err(PathError::Unowned(object.ty.spelled())),
        Some(Pointee::Shown) | None => Err(PathError::Dereference(to)),
    }
}

/// The one value without a name that a variant has.
fn held(variant: &VariantValue) -> Result<Object, PathError> {
    let value = variant.fields.first().filter(|field| field.name.is_none());
    let object = value.and_then(|field| object_of(&field.value));
    object.ok_or_else(|| PathError::HoldsNothing(variant.name.to_string()))
}

fn is_cpp(object: &Object) -> bool {
    matches!(object.ty.language(), Some(kcore_symbols::Language::Cpp))
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

/// Whether a key is the number of this name, with the type's before it or without.
fn is_enumerator(key: &Value, name: &str) -> bool {
    let Content::Enum(value) = key.content.plain() else { return false };
    let names = EnumNames::of(&value.names);
    let own =
        names.as_ref().zip(value.number.value()).and_then(|(names, number)| names.name_of(number));
    own.is_some_and(|own| name.rsplit("::").next() == Some(own))
}

/// Whether a key is the floating-point number that a text says, in the precision of the key.
fn is_real(key: &Value, text: &str) -> bool {
    let Content::Float(key) = key.content.plain() else { return false };
    let typed = match key.size {
        ..=4 => text.parse::<f32>().map(f64::from),
        _ => text.parse::<f64>(),
    };
    typed == Ok(key.value)
}

/// Whether a key is a number: an integer, a character by its code, or a truth value. A negative one is typed as the number
/// of 64 bits that has the same bits.
fn is_number(key: &Value, number: u64) -> bool {
    let is_it = |key: &Number| match key.value() {
        Some(value) if key.signed => value == i128::from(number.cast_signed()),
        _ => key.bits == u128::from(number),
    };
    match key.content.plain() {
        Content::Integer(key) | Content::Bool(key) => is_it(key),
        Content::Enum(key) => is_it(&key.number),
        Content::Character(code) => {
            // Characters of one byte may be signed.
            let is_byte = key.ty.size() == Some(1);
            let byte =
                || *code == u32::from(number.cast_signed() as u8) && number.cast_signed() >= -128;
            u64::from(*code) == number || is_byte && number.cast_signed() < 0 && byte()
        }
        _ => false,
    }
}
