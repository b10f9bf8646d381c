//! Elements: properties that are numbers, and the bytes of typed arrays.

use kcore_mem::Addr;

use super::{Element, Value, reader::Reader};
use crate::v8::{Heap, Tagged, heap::Object, property::ELEMENTS};

/// Entries of a dictionary that are looked at, at most.
const MAX_ENTRIES: usize = 1 << 20;
/// The double that marks an empty slot, `kHoleNanInt64`.
const HOLE: u64 = 0xfff7_ffff_fff7_ffff;
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
}

impl ElementType {
    /// In the order of their kinds since V8 13.
    const ALL: [Self; 11] = [
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
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// The value of an element's bits.
    fn value(self, bits: u64) -> Value {
        match self {
            Self::U8 | Self::U8Clamped => Value::Number(f64::from(bits as u8)),
            Self::I8 => Value::Number(f64::from(bits as i8)),
            Self::U16 => Value::Number(f64::from(bits as u16)),
            Self::I16 => Value::Number(f64::from(bits as i16)),
            Self::U32 => Value::Number(f64::from(bits as u32)),
            Self::I32 => Value::Number(f64::from(bits as i32)),
            Self::F32 => Value::Number(f64::from(f32::from_bits(bits as u32))),
            Self::F64 => Value::Number(f64::from_bits(bits)),
            Self::U64 => Value::BigInt(bits.to_string().into()),
            Self::I64 => Value::BigInt(bits.cast_signed().to_string().into()),
        }
    }
}

impl Heap<'_> {
    /// The type of a typed array's elements.
    pub fn element_type(&self, array: Object) -> Option<ElementType> {
        // Between dictionaries and typed arrays are arguments and boxed strings, two kinds each.
        let first = self.layout.offsets.elements_dictionary.checked_add(5)?;
        let index = usize::try_from(self.elements_kind(array)?.checked_sub(first)?).ok()?;
        let order = match self.layout.column.is_since(13, 6) {
            true => ElementType::ALL,
            false => ElementType::UP_TO_12,
        };
        order.get(index).copied()
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

impl Reader<'_> {
    /// The elements of an object, and whether there are more. Empty slots are left out.
    pub(super) fn elements(&mut self, object: Object, depth: u32) -> (Vec<Element>, bool) {
        let most = self.limits.entries;
        if object.kind == self.heap.layout.types.typed_array {
            return self.typed_elements(object, most).unwrap_or_default();
        }
        // Proxies have none, and strings tell theirs as text.
        if object.kind == self.heap.layout.types.proxy {
            return Default::default();
        }
        self.stored_elements(object, most, depth).unwrap_or_default()
    }

    fn typed_elements(&self, array: Object, most: u64) -> Option<(Vec<Element>, bool)> {
        let element = self.heap.element_type(array)?;
        let (data, length) = self.heap.view_bytes(array)?;
        let count = length.checked_div(element.size())?;
        let one = |index: u64| {
            let at = data.checked_add(index.checked_mul(element.size())?)?;
            let size = usize::try_from(element.size()).ok()?;
            let value = element.value(self.heap.space.read_uint(at, size).ok()?);
            Some(Element { index, value })
        };
        Some(((0..count.min(most)).map_while(one).collect(), count > most))
    }

    fn stored_elements(
        &mut self,
        object: Object,
        most: u64,
        depth: u32,
    ) -> Option<(Vec<Element>, bool)> {
        let kind = self.heap.elements_kind(object)?;
        let store = self.heap.field(object.at, ELEMENTS)?;
        let dictionary = self.heap.layout.offsets.elements_dictionary;
        if kind == dictionary {
            return self.dictionary_elements(store, most, depth);
        }
        if kind == dictionary.checked_add(1)? {
            return self.mapped_elements(store, most, depth);
        }
        (kind < dictionary).then_some(())?;
        let length = self.heap.length(store)?;
        let length = match object.kind == self.heap.layout.types.array {
            true => length.min(self.heap.array_length(object)?),
            false => length,
        };
        let told = (0..length.min(most)).filter_map(|index| {
            let value = self.stored_element(store, kind, index, depth)?;
            Some(Element { index, value })
        });
        let told: Vec<_> = told.collect();
        Some((told, length > most))
    }

    fn stored_element(
        &mut self,
        store: Object,
        kind: u64,
        index: u64,
        depth: u32,
    ) -> Option<Value> {
        if DOUBLES.contains(&kind) && store.kind == self.heap.layout.types.fixed_double_array {
            let bits = self.heap.word(store.at, index.checked_mul(8)?.checked_add(16)?)?;
            return (bits != HOLE).then(|| Value::Number(f64::from_bits(bits)));
        }
        let value = self.value(self.heap.element(store, index)?, depth);
        (value != Value::Hole).then_some(value)
    }

    /// `SloppyArgumentsElements`, `src/objects/arguments.tq`: a context, an array, and for each element
    /// the slot of the context that it is, if it is a parameter that others use.
    fn mapped_elements(
        &mut self,
        store: Object,
        most: u64,
        depth: u32,
    ) -> Option<(Vec<Element>, bool)> {
        let heap = self.heap;
        let (context, array) = (heap.field(store.at, 16)?, heap.field(store.at, 24)?);
        let mapped = heap.length(store)?;
        let held = |index: u64| {
            let slot = heap.tagged(store.at, index.checked_mul(8)?.checked_add(32)?);
            let slot = slot.filter(|_| index < mapped).and_then(Tagged::smi);
            match slot {
                Some(slot) => heap.element(context, u64::try_from(slot).ok()?),
                None => heap.element(array, index),
            }
        };
        let length = heap.length(array)?;
        let told = (0..length.min(most)).filter_map(|index| {
            let value = self.value(held(index)?, depth);
            (value != Value::Hole).then_some(Element { index, value })
        });
        Some((told.collect(), length > most))
    }

    /// A NumberDictionary: entries of key, value and details.
    fn dictionary_elements(
        &mut self,
        table: Object,
        most: u64,
        depth: u32,
    ) -> Option<(Vec<Element>, bool)> {
        let heap = self.heap;
        let entry = |entry: u64| {
            let at = entry.checked_mul(3)?.checked_add(4)?;
            let index = match heap.element(table, at)? {
                Tagged::Smi(index) => u64::try_from(index).ok()?,
                key => heap.heap_number(heap.object(key)?)? as u64,
            };
            Some((index, heap.element(table, at.checked_add(1)?)?))
        };
        let found = (0..heap.capacity(table)?).filter_map(entry).take(MAX_ENTRIES);
        let mut found: Vec<(u64, Tagged)> = found.collect();
        found.sort_unstable_by_key(|(index, _)| *index);
        let is_cut = found.len() as u64 > most;
        found.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        let told = found.into_iter().map(|(index, value)| {
            let value = self.value(value, depth);
            Element { index, value }
        });
        Some((told.collect(), is_cut))
    }
}
