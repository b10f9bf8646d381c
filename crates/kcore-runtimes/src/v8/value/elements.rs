//! Elements: properties that are numbers, and the bytes of typed arrays.

use kcore_mem::Addr;

use super::{Element, Slot, Value, ValueKind, reader::Reader};
use crate::v8::{Heap, Tagged, heap::Object, property::ELEMENTS};

/// Entries of a dictionary that are looked at, at most.
const MAX_ENTRIES: usize = 1 << 20;
/// The double that marks an empty slot, `kHoleNanInt64`.
const HOLE: u64 = 0xfff7_ffff_fff7_ffff;
/// In the details of an entry of a dictionary: it has no value but functions, `PropertyKind`.
const IS_ACCESSOR: i32 = 1;
/// Kinds of elements, `src/objects/elements-kind.h`: those of doubles.
const DOUBLES: [u64; 2] = [4, 5];

/// The type of a typed array's elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ElementType {
    /// `Uint8Array`, `Buffer`
    U8,
    /// `Int8Array`
    I8,
    /// `Uint16Array`
    U16,
    /// `Int16Array`
    I16,
    /// `Uint32Array`
    U32,
    /// `Int32Array`
    I32,
    /// `BigUint64Array`
    U64,
    /// `BigInt64Array`
    I64,
    /// `Uint8ClampedArray`
    U8Clamped,
    /// `Float32Array`
    F32,
    /// `Float64Array`
    F64,
    /// `Float16Array`
    F16,
}

impl ElementType {
    /// In the order of their kinds since V8 13.
    const ALL: [Self; 12] = [
        Self::U8,
        Self::I8,
        Self::U16,
        Self::I16,
        Self::U32,
        Self::I32,
        Self::U64,
        Self::I64,
        Self::U8Clamped,
        Self::F32,
        Self::F64,
        Self::F16,
    ];
    /// In the order of their kinds before.
    const UP_TO_12: [Self; 11] = [
        Self::U8,
        Self::I8,
        Self::U16,
        Self::I16,
        Self::U32,
        Self::I32,
        Self::F32,
        Self::F64,
        Self::U8Clamped,
        Self::U64,
        Self::I64,
    ];

    /// Bytes of an element.
    pub const fn size(self) -> u64 {
        match self {
            Self::U8 | Self::I8 | Self::U8Clamped => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// The value of an element's bits.
    fn value(self, bits: u64) -> ValueKind {
        match self {
            Self::U8 | Self::U8Clamped => ValueKind::Number(f64::from(bits as u8)),
            Self::I8 => ValueKind::Number(f64::from(bits as i8)),
            Self::U16 => ValueKind::Number(f64::from(bits as u16)),
            Self::I16 => ValueKind::Number(f64::from(bits as i16)),
            Self::U32 => ValueKind::Number(f64::from(bits as u32)),
            Self::I32 => ValueKind::Number(f64::from(bits as i32)),
            Self::F32 => ValueKind::Number(f64::from(f32::from_bits(bits as u32))),
            Self::F64 => ValueKind::Number(f64::from_bits(bits)),
            Self::F16 => ValueKind::Number(half(bits as u16)),
            Self::U64 => ValueKind::BigInt(bits.to_string().into()),
            Self::I64 => ValueKind::BigInt(bits.cast_signed().to_string().into()),
        }
    }
}

impl Heap<'_> {
    /// The type of a typed array's elements.
    pub fn element_type(&self, array: Object) -> Option<ElementType> {
        // Between dictionaries and typed arrays are arguments and boxed strings, two kinds each.
        let first = self.layout.offsets.elements_dictionary.checked_add(5)?;
        let index = usize::try_from(self.elements_kind(array)?.checked_sub(first)?).ok()?;
        let order: &[ElementType] = match self.layout.column.is_since(13, 6) {
            true => &ElementType::ALL,
            false => &ElementType::UP_TO_12,
        };
        // The kinds of those whose buffer can grow follow in the same order.
        order.get(index).or_else(|| order.get(index.checked_sub(order.len())?)).copied()
    }

    /// Where the bytes of a typed array or `DataView` lie, and how many they are.
    pub fn view_bytes(&self, view: Object) -> Option<(Addr, u64)> {
        let offsets = &self.layout.offsets;
        let length = self.word(view.at, offsets.view_length)?;
        if view.kind == self.layout.types.typed_array {
            let external = self.word(view.at, offsets.typed_external)?;
            let base = self.word(view.at, offsets.typed_base)?;
            return Some((Addr::new(external.wrapping_add(base)), length));
        }
        // A word for the embedder lies before it since V8 13.
        let buffers = [24, 32].into_iter();
        let buffer_type = self.layout.types.array_buffer;
        let buffer = buffers.filter_map(|at| self.field_of(view.at, at, buffer_type)).next()?;
        let store = Addr::new(self.word(buffer.at, offsets.buffer_store)?);
        Some((store.checked_add(self.word(view.at, offsets.view_offset)?)?, length))
    }

    /// The `length` of an array.
    pub fn array_length(&self, array: Object) -> Option<u64> {
        match self.tagged(array.at, 24)? {
            Tagged::Smi(length) => u64::try_from(length).ok(),
            // Longer than a Smi can be.
            length => Some(self.heap_number(self.object(length)?)? as u64),
        }
    }
}

/// The number that 16 bits are, as IEEE 754 has it.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from((bits >> 10) & 0x1f), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2_f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2_f64.powi(exponent.saturating_sub(15)),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// What lies at an index.
#[derive(Clone, Debug, PartialEq)]
pub enum ElementContent {
    /// A tagged word.
    Word(u64),
    /// A number without tag.
    Bare(ValueKind),
    /// Functions that are called in place of a value: the word of their pair.
    Accessor(u64),
}

/// Elements by index, and whether there are more.
pub type HeldElements = (Vec<(u64, ElementContent)>, bool);

impl Reader<'_> {
    /// The elements of an object, and whether there are more. Empty slots are left out.
    pub(super) fn elements(&mut self, object: Object, depth: u32) -> (Vec<Element>, bool) {
        let (held, is_cut) = self.heap.elements(object, self.limits.entries);
        let told = held.into_iter().map(|(index, held)| {
            let slot = self.held(held, depth);
            Element { index, slot }
        });
        (told.collect(), is_cut)
    }

    pub(super) fn held(&mut self, held: ElementContent, depth: u32) -> Slot {
        match held {
            ElementContent::Word(word) => Slot::Value(self.value(Tagged::of(word), depth)),
            ElementContent::Bare(kind) => Slot::Value(Value { word: None, kind }),
            ElementContent::Accessor(word) => self.accessors(Tagged::of(word), depth),
        }
    }
}

impl Heap<'_> {
    /// The elements of an object, at most `most` slots of them, and whether there are more. Empty slots
    /// are left out.
    pub fn elements(&self, object: Object, most: u64) -> HeldElements {
        let types = &self.layout.types;
        if object.kind == types.typed_array {
            return self.typed_elements(object, most).unwrap_or_default();
        }
        // Proxies have none, and strings tell theirs as text.
        if object.kind == types.proxy || !self.is_receiver(object) {
            return Default::default();
        }
        self.stored_elements(object, most).unwrap_or_default()
    }

    /// How many slots of an object can be asked for one by one, with [`Self::element_at`]; `None` where
    /// only all elements together are had at once.
    pub fn element_slots(&self, object: Object) -> Option<u64> {
        let types = &self.layout.types;
        if object.kind == types.typed_array {
            let (_, length) = self.view_bytes(object)?;
            return length.checked_div(self.element_type(object)?.size());
        }
        let is_fast = self.elements_kind(object)? < self.layout.offsets.elements_dictionary;
        (is_fast && object.kind != types.proxy && self.is_receiver(object)).then_some(())?;
        let store = self.field(object.at, ELEMENTS)?;
        Some(self.slots(object, store)?.min(self.elements_held(store)))
    }

    /// The element at an index, if there is one.
    pub fn element_at(&self, object: Object, index: u64) -> Option<ElementContent> {
        let types = &self.layout.types;
        if object.kind == types.typed_array {
            return self.typed_element(object, index);
        }
        let kind = self.elements_kind(object)?;
        if kind < self.layout.offsets.elements_dictionary && object.kind != types.proxy {
            let store = self.field(object.at, ELEMENTS)?;
            let is_within = index < self.slots(object, store)?;
            return is_within.then(|| self.stored_element(store, kind, index))?;
        }
        let (all, _) = self.elements(object, u64::MAX);
        all.into_iter().find_map(|(at, held)| (at == index).then_some(held))
    }

    fn typed_elements(&self, array: Object, most: u64) -> Option<HeldElements> {
        let element = self.element_type(array)?;
        let (data, length) = self.view_bytes(array)?;
        let count = length.checked_div(element.size())?;
        let one = |index: u64| Some((index, self.typed_element(array, index)?));
        let found: Vec<_> = (0..count.min(most)).map_while(one).collect();
        let read = found.len() as u64;
        if read == count.min(most) {
            return Some((found, count > most));
        }
        let at = data.saturating_add(read.saturating_mul(element.size()));
        Some(self.broken_off(found, read, at))
    }

    /// Elements of which no more can be read from an index on, which lies at `at`.
    fn broken_off(
        &self,
        mut found: Vec<(u64, ElementContent)>,
        index: u64,
        at: Addr,
    ) -> HeldElements {
        let why = self.space.slice(at).err().map_or("it cannot be read", |fault| fault.reason());
        found.push((index, ElementContent::Bare(ValueKind::Unreadable(why))));
        (found, true)
    }

    fn typed_element(&self, array: Object, index: u64) -> Option<ElementContent> {
        let element = self.element_type(array)?;
        let (data, length) = self.view_bytes(array)?;
        let offset = index.checked_mul(element.size())?;
        (offset < length).then_some(())?;
        let size = usize::try_from(element.size()).ok()?;
        let bits = self.space.read_uint(data.checked_add(offset)?, size).ok()?;
        Some(ElementContent::Bare(element.value(bits)))
    }

    fn stored_elements(&self, object: Object, most: u64) -> Option<HeldElements> {
        let kind = self.elements_kind(object)?;
        let Some(store) = self.field(object.at, ELEMENTS) else {
            let store = self.tagged(object.at, ELEMENTS).and_then(Tagged::object);
            return Some(self.broken_off(Vec::new(), 0, store.unwrap_or(object.at)));
        };
        let dictionary = self.layout.offsets.elements_dictionary;
        if kind == dictionary {
            return self.dictionary_elements(store, most);
        }
        if kind == dictionary.checked_add(1)? {
            return self.mapped_elements(store, most);
        }
        (kind < dictionary).then_some(())?;
        let length = self.slots(object, store)?;
        let wanted = length.min(most);
        let held = self.elements_held(store).min(wanted);
        let one = |index: u64| Some((index, self.stored_element(store, kind, index)?));
        let found = (0..held).filter_map(one).collect();
        if held == wanted {
            return Some((found, length > most));
        }
        let at = store.at.saturating_add(held.saturating_mul(8).saturating_add(16));
        Some(self.broken_off(found, held, at))
    }

    /// How many slots of a store are an object's elements: that of an array may have room for more.
    fn slots(&self, object: Object, store: Object) -> Option<u64> {
        let length = self.length(store)?;
        if object.kind != self.layout.types.array {
            return Some(length);
        }
        Some(length.min(self.array_length(object)?))
    }

    fn stored_element(&self, store: Object, kind: u64, index: u64) -> Option<ElementContent> {
        if DOUBLES.contains(&kind) && store.kind == self.layout.types.fixed_double_array {
            let bits = self.word(store.at, index.checked_mul(8)?.checked_add(16)?)?;
            let number = ValueKind::Number(f64::from_bits(bits));
            return (bits != HOLE).then_some(ElementContent::Bare(number));
        }
        let value = self.element(store, index)?;
        (!self.is_hole(value)).then_some(ElementContent::Word(value.word()))
    }

    /// `SloppyArgumentsElements`, `src/objects/arguments.tq`: a context, an array, and for each element
    /// the slot of the context that it is, if it is a parameter that others use.
    fn mapped_elements(&self, store: Object, most: u64) -> Option<HeldElements> {
        let (context, array) = (self.field(store.at, 16)?, self.field(store.at, 24)?);
        let mapped = self.length(store)?;
        let held = |index: u64| {
            let slot = self.tagged(store.at, index.checked_mul(8)?.checked_add(32)?);
            let slot = slot.filter(|_| index < mapped).and_then(Tagged::smi);
            let value = match slot {
                Some(slot) => self.element(context, u64::try_from(slot).ok()?)?,
                None => self.element(array, index)?,
            };
            (!self.is_hole(value)).then_some((index, ElementContent::Word(value.word())))
        };
        let length = self.length(array)?;
        Some(((0..length.min(most)).filter_map(held).collect(), length > most))
    }

    /// A NumberDictionary: entries of key, value and details.
    fn dictionary_elements(&self, table: Object, most: u64) -> Option<HeldElements> {
        let entry = |entry: u64| {
            let at = entry.checked_mul(3)?.checked_add(4)?;
            let index = match self.element(table, at)? {
                Tagged::Smi(index) => u64::try_from(index).ok()?,
                key => self.heap_number(self.object(key)?)? as u64,
            };
            let word = self.element(table, at.checked_add(1)?)?.word();
            let details = self.element(table, at.checked_add(2)?).and_then(Tagged::smi);
            let is_accessor = details.is_some_and(|details| details & IS_ACCESSOR != 0);
            Some((
                index,
                if is_accessor {
                    ElementContent::Accessor(word)
                } else {
                    ElementContent::Word(word)
                },
            ))
        };
        let found = (0..self.capacity(table)?).filter_map(entry).take(MAX_ENTRIES);
        let mut found: Vec<(u64, ElementContent)> = found.collect();
        found.sort_unstable_by_key(|(index, _)| *index);
        let is_cut = found.len() as u64 > most;
        found.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        Some((found, is_cut))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_float_is_a_number() {
        let told = [0x3800, 0x7bff, 0x8000, 0x7c00, 0x0001, 0xc000].map(half);
        assert_eq!(told, [0.5, 65504.0, -0.0, f64::INFINITY, 5.960_464_477_539_063e-8, -2.0]);
        assert!(half(0x7e00).is_nan() && half(0x8000).is_sign_negative());
    }
}
