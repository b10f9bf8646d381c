//! Objects of the heap, and words of them.

use kcore_mem::{Addr, AddressSpace};

use super::{Layout, Tagged, source_map::Maps};

/// Offset of the instance type in a map, u16. `src/objects/map.tq`.
const MAP_INSTANCE_TYPE: u64 = 12;
/// Offset of the size of objects in a map, in words, u8, or 0 where they say it themselves.
const MAP_SIZE: u64 = 8;
/// Behind it two bytes that say where properties begin and end in objects: maps have none.
const MAP_SIZES: u64 = 0xff_ffff;
/// Prototype, constructor, and descriptors.
const MAP_REFERENCES: [u64; 3] = [24, 32, 40];
/// `Map::kSize` where pointers are not compressed, V8 9.4 to 15.0. Since V8 14.9 some maps are longer, and their own map
/// has 0.
pub const SIZE_OF_MAP: u64 = 72;
/// Arrays are no longer.
const MAX_LENGTH: u64 = 1 << 28;

/// The heap of a process, and how it is laid out.
#[derive(Clone, Copy)]
pub struct Heap<'a> {
    /// Its memory.
    pub space: &'a dyn AddressSpace,
    /// Its layout.
    pub layout: &'a Layout,
    /// The source maps of its scripts; `None` where nobody looks for them.
    pub maps: Option<Maps<'a>>,
}

/// An object whose map was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Object {
    /// Where it lies, without tag.
    pub at: Addr,
    /// Its map, without tag.
    pub map: Addr,
    /// Its instance type.
    pub kind: u64,
}

impl<'a> Heap<'a> {
    /// A word at an offset.
    pub fn word(&self, at: Addr, offset: u64) -> Option<u64> {
        self.space.read_word(at.checked_add(offset)?).ok()
    }

    /// A number of `size` bytes at an offset.
    pub fn uint(&self, at: Addr, offset: u64, size: usize) -> Option<u64> {
        self.space.read_uint(at.checked_add(offset)?, size).ok()
    }

    /// A tagged value at an offset.
    pub fn tagged(&self, at: Addr, offset: u64) -> Option<Tagged> {
        self.word(at, offset).map(Tagged::of)
    }

    /// A Smi at an offset.
    pub fn smi(&self, at: Addr, offset: u64) -> Option<i32> {
        self.tagged(at, offset)?.smi()
    }

    /// The object that a word at an offset refers to.
    pub fn field(&self, at: Addr, offset: u64) -> Option<Object> {
        self.object(self.tagged(at, offset)?)
    }

    /// The object that a value refers to, if it is one: its map must have a map.
    pub fn object(&self, value: Tagged) -> Option<Object> {
        self.object_at(value.object()?)
    }

    /// The value that a word is; a word without a tag is the address of an object, if one lies there.
    pub fn object_or_tagged(&self, word: Addr) -> Tagged {
        match Tagged::of(word.get()) {
            tagged @ (Tagged::Smi(_) | Tagged::Raw(_)) => {
                self.object_at(word).map_or(tagged, |object| Tagged::Strong(object.at))
            }
            tagged => tagged,
        }
    }

    /// Why no object lies at an address without tag.
    pub fn why_not(&self, at: Addr) -> &'static str {
        match self.space.read_word(at) {
            Err(fault) => fault.reason(),
            Ok(_) => "its map is damaged, or no object lies there",
        }
    }

    /// The object at an address without tag, if there is one.
    pub fn object_at(&self, at: Addr) -> Option<Object> {
        let map_kind = self.layout.types.map;
        self.with_map(at)
            .or_else(|| self.is_map_of_maps(at).then_some(Object { at, map: at, kind: map_kind }))
    }

    /// An object whose map has a map.
    fn with_map(&self, at: Addr) -> Option<Object> {
        let Tagged::Strong(map) = self.tagged(at, 0)? else { return None };
        let is_map = match self.tagged(map, 0)? {
            Tagged::Strong(of_map) => self.instance_type(of_map) == Some(self.layout.types.map),
            _ => false,
        };
        (is_map || self.is_map_of_maps(map)).then_some(())?;
        Some(Object { at, map, kind: self.instance_type(map)? })
    }

    /// The instance type of objects of the map that a value refers to, if it is one.
    pub fn kind_by_map(&self, map: Tagged) -> Option<u64> {
        let map = self.object(map).filter(|object| object.kind == self.layout.types.map)?;
        self.instance_type(map.at)
    }

    /// The type that a map says its objects have.
    fn instance_type(&self, map: Addr) -> Option<u64> {
        let kind = self.uint(map, MAP_INSTANCE_TYPE, 2)?;
        let map_kind = self.layout.types.map;
        Some(if kind != map_kind && self.is_own_map(map) { map_kind } else { kind })
    }

    /// Whether this is the map of maps, which is its own map. Every object hangs on it, so it is known by either of
    /// its first two words when the other is damaged.
    pub fn is_map_of_maps(&self, map: Addr) -> bool {
        self.is_own_map(map) || self.describes_maps(map)
    }

    /// Whether a map says that its objects are maps, and refers to a prototype, a constructor and descriptors.
    fn describes_maps(&self, map: Addr) -> bool {
        let second = self.word(map, MAP_SIZE).unwrap_or_default();
        let own = [second & MAP_SIZES, second >> 32 & 0xffff];
        let is_reference = |offset| matches!(self.tagged(map, offset), Some(Tagged::Strong(_)));
        let sizes = [SIZE_OF_MAP / 8, 0];
        let is_map = own[1] == self.layout.types.map && sizes.contains(&own[0]);
        is_map && MAP_REFERENCES.into_iter().all(is_reference)
    }

    fn is_own_map(&self, map: Addr) -> bool {
        self.tagged(map, 0) == Some(Tagged::Strong(map))
    }

    /// The object that a word refers to, if it is of this type.
    pub fn field_of(&self, at: Addr, offset: u64, kind: u64) -> Option<Object> {
        self.field(at, offset).filter(|object| object.kind == kind)
    }

    /// The length of an array, which lies behind its map.
    pub fn length(&self, array: Object) -> Option<u64> {
        let length = match self.layout.has_bare_length(array.kind) {
            true => self.uint(array.at, 8, 4)?,
            false => u64::try_from(self.smi(array.at, 8)?).ok()?,
        };
        (length <= MAX_LENGTH).then_some(length)
    }

    /// Element `index` of an array of tagged values.
    pub fn element(&self, array: Object, index: u64) -> Option<Tagged> {
        (index < self.length(array)?).then_some(())?;
        self.tagged(array.at, index.checked_mul(8)?.checked_add(16)?)
    }

    /// How many elements of an array memory holds, from the first on: its length may be a lie.
    pub fn elements_held(&self, array: Object) -> u64 {
        let wanted = self.length(array).unwrap_or_default().saturating_mul(8);
        let mut held: u64 = 0;
        while let Some(at) = array.at.checked_add(held.saturating_add(16)) {
            let Some(bytes) = self.space.slice(at).ok().filter(|_| held < wanted) else { break };
            held = held.saturating_add(bytes.len() as u64);
        }
        held.min(wanted) / 8
    }

    /// The bytes of a byte array, at most `most`.
    pub fn bytes(&self, array: Object, most: u64) -> Option<Vec<u8>> {
        let length = self.length(array)?.min(most);
        Some(self.space.read_held(array.at.checked_add(16)?, length))
    }

    /// Whether it is an array of bytes, trusted or not.
    pub fn is_byte_array(&self, object: Object) -> bool {
        let types = &self.layout.types;
        [types.byte_array, types.trusted_byte_array].contains(&object.kind)
    }

    /// Whether it is a function.
    pub fn is_function(&self, object: Object) -> bool {
        let first = self.layout.types.first_function;
        let end = first.saturating_add(self.layout.function_types());
        (first..end).contains(&object.kind)
    }

    /// Whether it is a string.
    pub const fn is_string(&self, object: Object) -> bool {
        object.kind < self.layout.types.first_nonstring
    }

    /// Whether it is an object that JavaScript can have properties on.
    pub fn is_receiver(&self, object: Object) -> bool {
        let types = &self.layout.types;
        object.kind >= types.proxy.min(types.global_object)
    }

    /// Whether it is a context.
    pub fn is_context(&self, object: Object) -> bool {
        let types = &self.layout.types;
        (types.first_context..=types.last_context).contains(&object.kind)
    }
}
