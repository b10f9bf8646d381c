//! Objects as they lie in memory: their words, with the names that V8 exports for fields.

use kcore_mem::Addr;

use super::{ClassField, Heap, Tagged, V8, heap::Object};
use crate::Host;

/// Words of one object, at most: those of the language's objects are no more.
const MAX_WORDS: u64 = 256;
/// Words of an object of which neither its map nor its class says how long it is.
const SOME_WORDS: u64 = 3;
/// In maps: words of their objects, and where fields of the embedder end.
const INSTANCE_SIZE: u64 = 8;
const INOBJECT_START: u64 = 9;
/// Fields of the embedder begin behind map, properties and elements.
const FIRST_INTERNAL: u64 = 24;

/// A field, or a word that no class names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawField {
    /// Bytes from the beginning of the object.
    pub offset: u64,
    /// Its length in bytes.
    pub size: u64,
    /// Its name.
    pub name: Option<String>,
    /// The class that declares it.
    pub class: Option<String>,
    /// What lies there; `None` where it cannot be read.
    pub bits: Option<u64>,
    /// Whether that is a tagged value.
    pub is_tagged: bool,
}

impl V8 {
    /// The fields of an object, by its own class and those that it is derived from, or by a class that
    /// is given; and its words that have no name. `None` where no object lies.
    pub fn raw_fields(
        &self,
        host: &dyn Host,
        word: u64,
        class: Option<&str>,
    ) -> Option<Vec<RawField>> {
        let heap = self.decodable(host)?;
        let object = heap.object(heap.object_or_tagged(Addr::new(word)))?;
        let own = self.class_of(host, &heap, object);
        let metadata = self.metadata(host);
        let chain = chain(class.unwrap_or(&own), heap.is_receiver(object));
        let is_known =
            |field: &ClassField<'_>| chain.contains(&field.class) && !PLACES.contains(&field.name);
        let known: Vec<ClassField<'_>> = metadata.fields().into_iter().filter(is_known).collect();
        let mut fields: Vec<RawField> =
            known.iter().filter_map(|field| named(&heap, object, field)).collect();
        let end = known.iter().map(|field| u64::from(field.offset)).max().unwrap_or_default();
        let words = instance_words(&heap, object).unwrap_or_else(|| {
            end.checked_div(8).unwrap_or_default().saturating_add(1).max(SOME_WORDS)
        });
        let free = (0..words.min(MAX_WORDS)).map(|word| word.saturating_mul(8));
        let free: Vec<_> = free.filter(|offset| !is_named(&known, *offset)).collect();
        fields.extend(free.into_iter().map(|offset| unnamed(&heap, object, offset)));
        fields.sort_by(|one, other| (one.offset, &one.name).cmp(&(other.offset, &other.name)));
        fields.dedup_by(|one, other| one.offset == other.offset && one.name == other.name);
        Some(fields)
    }

    /// The words that the embedder keeps in an object of its own.
    pub fn internal_fields(&self, host: &dyn Host, word: u64) -> Option<Vec<(Addr, u64)>> {
        let heap = self.decodable(host)?;
        let object = heap.object(heap.object_or_tagged(Addr::new(word)))?;
        heap.is_receiver(object).then_some(())?;
        // Plain objects have properties there.
        let end = heap.uint(object.map, INOBJECT_START, 1)?.saturating_mul(8);
        let offsets = (FIRST_INTERNAL..end).step_by(8);
        let fields = offsets.filter_map(|offset| {
            Some((object.at.checked_add(offset)?, heap.word(object.at, offset)?))
        });
        Some(fields.collect())
    }

    /// The words of one of V8's own arrays, at most `most`, and how many it has; `None` of what is no
    /// array of tagged values.
    pub fn array_words(&self, host: &dyn Host, word: u64, most: u64) -> Option<(Vec<u64>, u64)> {
        let heap = self.decodable(host)?;
        let object = heap.object(heap.object_or_tagged(Addr::new(word)))?;
        let class = self.class_of(host, &heap, object);
        let is_array = heap.is_context(object)
            || class.ends_with("FixedArray")
            || ["PropertyArray", "ArrayList", "DependentCode", "ScriptContextTable"]
                .contains(&class.as_str());
        let length = is_array.then(|| heap.length(object))??;
        let words = (0..length.min(most)).map_while(|index| heap.element(object, index));
        Some((words.map(Tagged::word).collect(), length))
    }
}

/// How many words an object has, where its map says it.
fn instance_words(heap: &Heap<'_>, object: Object) -> Option<u64> {
    heap.uint(object.map, INSTANCE_SIZE, 1).filter(|words| *words > 0)
}

/// A class and those that it is derived from, as far as fields are exported for them.
fn chain(class: &str, is_receiver: bool) -> Vec<&str> {
    let mut chain = vec![class, "HeapObject"];
    if is_receiver {
        chain.extend(["JSObject", "JSReceiver"]);
    }
    if class.ends_with("String") {
        chain.extend(["String", "Name"]);
        let kinds = ["Cons", "Sliced", "Thin", "External"];
        let kind = kinds.iter().find(|kind| class.contains(**kind));
        chain.push(match kind {
            Some(&"Cons") => "ConsString",
            Some(&"Sliced") => "SlicedString",
            Some(&"Thin") => "ThinString",
            Some(_) => "ExternalString",
            None if class.contains("TwoByte") => "SeqTwoByteString",
            None => "SeqOneByteString",
        });
    }
    if class.ends_with("Array") && !class.starts_with("JS") {
        chain.extend(["FixedArrayBase", "FixedArray"]);
    }
    if ["JSTypedArray", "JSDataView"].contains(&class) {
        chain.push("JSArrayBufferView");
    }
    if class.starts_with("UncompiledData") {
        chain.push("UncompiledData");
    }
    chain
}

/// Bytes of a field by its type in C++.
fn size_of(type_name: &str) -> u64 {
    match type_name {
        "char" | "uint8_t" => 1,
        "uint16_t" | "int16_t" => 2,
        "int" | "int32_t" | "uint32_t" => 4,
        _ => 8,
    }
}

/// What is exported like a field, and says where many things begin.
const PLACES: [&str; 4] = ["internal_fields", "data", "chars", "header_size"];

/// Types that are no tagged values.
const BARE: [&str; 12] = [
    "char",
    "uint8_t",
    "uint16_t",
    "int16_t",
    "int",
    "int32_t",
    "uint32_t",
    "double",
    "size_t",
    "uintptr_t",
    "Address",
    "intptr_t",
];

fn named(heap: &Heap<'_>, object: Object, field: &ClassField<'_>) -> Option<RawField> {
    let (offset, size) = (u64::from(field.offset), size_of(field.type_name));
    let bits = heap.uint(object.at, offset, usize::try_from(size).ok()?);
    Some(RawField {
        offset,
        size,
        name: Some(field.name.to_owned()),
        class: Some(field.class.to_owned()),
        bits,
        is_tagged: !BARE.contains(&field.type_name),
    })
}

/// Whether a field lies in the word at this offset.
fn is_named(known: &[ClassField<'_>], offset: u64) -> bool {
    known.iter().any(|field| u64::from(field.offset) & !7 == offset)
}

fn unnamed(heap: &Heap<'_>, object: Object, offset: u64) -> RawField {
    let bits = heap.word(object.at, offset);
    let is_tagged = bits.is_some_and(|bits| match Tagged::of(bits) {
        Tagged::Raw(_) | Tagged::Cleared => false,
        Tagged::Smi(_) => true,
        value => heap.object(value).is_some(),
    });
    RawField { offset, size: 8, name: None, class: None, bits, is_tagged }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_the_fields_of_their_bases() {
        assert!(chain("ConsOneByteString", false).contains(&"ConsString"));
        assert!(chain("InternalizedTwoByteString", false).contains(&"SeqTwoByteString"));
        assert!(chain("JSTypedArray", true).contains(&"JSArrayBufferView"));
        assert!(!chain("JSArray", true).contains(&"FixedArray"));
    }
}
