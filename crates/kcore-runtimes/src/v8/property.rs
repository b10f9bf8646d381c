//! Own properties of objects.
//!
//! Fast ones lie in the object, or in its PropertyArray, where the descriptors of its map say
//! (`src/objects/descriptor-array.h`, `property-details.h`); the others in a dictionary
//! (`src/objects/dictionary.h`).

use kcore_mem::Addr;

use super::{
    Heap, Tagged,
    heap::Object,
    property_details::{Field, PropertyDetails},
};

/// Names are compared to this many units.
const MAX_KEY: u64 = 1024;
/// A map holds no more descriptors, `kMaxNumberOfDescriptors`.
const MAX_DESCRIPTORS: u64 = 1020;

// `src/objects/map.tq`.
const INSTANCE_SIZE: u64 = 8;
const INOBJECT_START: u64 = 9;
const BIT_FIELD2: u64 = 15;
const BIT_FIELD3: u64 = 16;
const PROTOTYPE: u64 = 24;
const CONSTRUCTOR: u64 = 32;
const DESCRIPTORS: u64 = 40;

const OWN_DESCRIPTORS_SHIFT: u32 = 10;
const OWN_DESCRIPTORS: u64 = 0x3ff;
const IS_DICTIONARY: u64 = 1 << 21;
const IS_PROTOTYPE: u64 = 1 << 20;

/// Symbol: its flags, and those of private ones up to V8 14.1.
const SYMBOL_FLAGS: u64 = 12;
const IS_PRIVATE: u64 = 1;
const IS_PRIVATE_NAME: u64 = 1 << 4;

/// Properties and elements of an object.
const PROPERTIES: u64 = 8;
/// Words of a PropertyArray before its first field.
const PROPERTY_ARRAY_HEADER: u64 = 2;
pub const ELEMENTS: u64 = 16;

/// Entries of a dictionary that are looked at, at most.
const MAX_CAPACITY: u64 = 1 << 20;
/// Back pointers of maps are followed so far.
const MAX_TRANSITIONS: usize = 2048;

/// A property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Property {
    /// A string or a symbol.
    pub key: Object,
    /// Its value, or what holds its getter and setter.
    pub value: Tagged,
    /// Whether it has a getter or setter instead of a value.
    pub is_accessor: bool,
    /// 1 read-only, 2 not enumerable, 4 not to be deleted.
    pub attributes: u64,
}

/// Who may use a symbol as the name of a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Privacy {
    /// Whoever has it.
    Public,
    /// A class alone: it is a private name, or marks what the class made.
    Name,
    /// V8 alone.
    Internal,
}

impl Heap<'_> {
    /// Who may use a symbol, by its flags: `src/objects/symbol.tq`. Since V8 14.5 two bits number the
    /// kinds, before each has its own.
    pub fn privacy(&self, symbol: Object) -> Option<Privacy> {
        let flags = self.uint(symbol.at, SYMBOL_FLAGS, 4)?;
        if self.layout.column.is_since(14, 5) {
            return Some(match flags & 3 {
                0 => Privacy::Public,
                1 => Privacy::Internal,
                _ => Privacy::Name,
            });
        }
        Some(match (flags & IS_PRIVATE != 0, flags & IS_PRIVATE_NAME != 0) {
            (false, _) => Privacy::Public,
            (true, true) => Privacy::Name,
            (true, false) => Privacy::Internal,
        })
    }

    /// The own properties of an object in the order in which they were added, at most `most`. Those
    /// that are numbers are not among them.
    pub fn properties(&self, object: Object, most: u64) -> Vec<Property> {
        if !self.is_receiver(object) {
            return Vec::new();
        }
        if object.kind == self.layout.types.global_object {
            return self.global_properties(object, most).unwrap_or_default();
        }
        let found = match self.uint(object.map, BIT_FIELD3, 4) {
            Some(bits) if bits & IS_DICTIONARY != 0 => self.dictionary_properties(object, most),
            Some(bits) => self.fast_properties(object, bits, most),
            None => None,
        };
        found.unwrap_or_default()
    }

    /// How many properties an object has by its map; 0 where the map does not say.
    pub fn property_count(&self, object: Object) -> u64 {
        if !self.is_receiver(object) || self.is_dictionary(object) {
            return 0;
        }
        let bits = self.uint(object.map, BIT_FIELD3, 4).unwrap_or_default();
        (bits >> OWN_DESCRIPTORS_SHIFT) & OWN_DESCRIPTORS
    }

    /// The own property of this name.
    pub fn property(&self, object: Object, name: &str) -> Option<Property> {
        let properties = self.properties(object, MAX_DESCRIPTORS);
        properties.into_iter().find(|property| self.is_named(property.key, name))
    }

    /// Whether a key is the string `name`.
    pub fn is_named(&self, key: Object, name: &str) -> bool {
        self.string_length(key) == Some(name.encode_utf16().count() as u64)
            && self.text(key, MAX_KEY).is_some_and(|text| text == name)
    }

    /// Whether the properties of an object lie in a hash table.
    pub fn is_dictionary(&self, object: Object) -> bool {
        object.kind == self.layout.types.global_object
            || self.uint(object.map, BIT_FIELD3, 4).is_some_and(|bits| bits & IS_DICTIONARY != 0)
    }

    fn fast_properties(&self, object: Object, bits: u64, most: u64) -> Option<Vec<Property>> {
        let count = (bits >> OWN_DESCRIPTORS_SHIFT) & OWN_DESCRIPTORS;
        let array = self.field(object.map, DESCRIPTORS)?;
        let one = |index: u64| {
            let at = index.checked_mul(24)?.checked_add(self.layout.offsets.descriptors)?;
            self.fast_property(object, array.at.checked_add(at)?)
        };
        Some((0..count.min(MAX_DESCRIPTORS).min(most)).filter_map(one).collect())
    }

    fn fast_property(&self, object: Object, descriptor: Addr) -> Option<Property> {
        let key = self.field(descriptor, 0).filter(|key| self.is_key(*key))?;
        let details = PropertyDetails::of(self.tagged(descriptor, 8)?)?;
        let value = match details.field(self.layout)? {
            Some(field) => self.property_field(object, field)?,
            None => self.tagged(descriptor, 16)?,
        };
        let attributes = details.attributes(self.layout)?;
        Some(Property { key, value, is_accessor: details.is_accessor(), attributes })
    }

    /// The key of field `index` of an object, counted through it and what holds the rest of them.
    pub fn field_key(&self, object: Object, index: u64) -> Option<Object> {
        let bits = self.uint(object.map, BIT_FIELD3, 4).filter(|bits| bits & IS_DICTIONARY == 0)?;
        let count = ((bits >> OWN_DESCRIPTORS_SHIFT) & 0x3ff).min(MAX_DESCRIPTORS);
        let array = self.field(object.map, DESCRIPTORS)?;
        let key = |descriptor: u64| {
            let at = descriptor.checked_mul(24)?.checked_add(self.layout.offsets.descriptors)?;
            let details = PropertyDetails::of(self.tagged(array.at, at.checked_add(8)?)?)?;
            let is_it = self.field_index(object, details.field(self.layout)??)? == index;
            is_it.then(|| self.field(array.at, at).filter(|key| self.is_key(*key)))?
        };
        (0..count).find_map(key)
    }

    /// A field of an object.
    fn property_field(&self, object: Object, field: Field) -> Option<Tagged> {
        match field {
            Field::Index(index) => self.indexed_field(object, index),
            Field::InObject(word) => self.tagged(object.at, word.checked_mul(8)?),
            Field::Outside(word) => {
                let array =
                    self.field_of(object.at, PROPERTIES, self.layout.types.property_array)?;
                self.tagged(array.at, word.checked_mul(8)?)
            }
        }
    }

    /// Field `index` of an object: in itself as far as it has room, and then in its PropertyArray.
    fn indexed_field(&self, object: Object, index: u64) -> Option<Tagged> {
        let size = self.uint(object.map, INSTANCE_SIZE, 1)?;
        let start = self.uint(object.map, INOBJECT_START, 1)?;
        let inside = size.checked_sub(start)?;
        if index < inside {
            return self.tagged(object.at, start.checked_add(index)?.checked_mul(8)?);
        }
        let array = self.field_of(object.at, PROPERTIES, self.layout.types.property_array)?;
        self.tagged(array.at, index.checked_sub(inside)?.checked_mul(8)?.checked_add(16)?)
    }

    /// The number of a field, counted through its object and what holds the rest of them.
    fn field_index(&self, object: Object, field: Field) -> Option<u64> {
        let start = self.uint(object.map, INOBJECT_START, 1)?;
        match field {
            Field::Index(index) => Some(index),
            Field::InObject(word) => word.checked_sub(start),
            Field::Outside(word) => {
                let inside = self.uint(object.map, INSTANCE_SIZE, 1)?.checked_sub(start)?;
                word.checked_sub(PROPERTY_ARRAY_HEADER)?.checked_add(inside)
            }
        }
    }

    fn is_key(&self, object: Object) -> bool {
        self.is_string(object) || object.kind == self.layout.types.symbol
    }

    /// A NameDictionary: entries of key, value and details.
    fn dictionary_properties(&self, object: Object, most: u64) -> Option<Vec<Property>> {
        let table = self.field(object.at, PROPERTIES)?;
        let capacity = self.capacity(table)?;
        let first = self.layout.offsets.dictionary_prefix.checked_add(3)?;
        let entry = |entry: u64| {
            let at = entry.checked_mul(3)?.checked_add(first)?;
            let details = PropertyDetails::of(self.element(table, at.checked_add(2)?)?)?;
            let key = self.object(self.element(table, at)?).filter(|key| self.is_key(*key))?;
            self.described(key, self.element(table, at.checked_add(1)?)?, details)
        };
        Some(in_order((0..capacity).filter_map(entry).collect(), most))
    }

    /// A GlobalDictionary: a PropertyCell an entry.
    fn global_properties(&self, object: Object, most: u64) -> Option<Vec<Property>> {
        let table = self.field(object.at, PROPERTIES)?;
        let capacity = self.capacity(table)?;
        let entry = |entry: u64| {
            let cell = self.object(self.element(table, entry.checked_add(5)?)?)?;
            (cell.kind == self.layout.types.property_cell).then_some(())?;
            let key = self.field(cell.at, 8).filter(|key| self.is_key(*key))?;
            let details = PropertyDetails::of(self.tagged(cell.at, 16)?)?;
            self.described(key, self.tagged(cell.at, 24)?, details)
        };
        Some(in_order((0..capacity).filter_map(entry).collect(), most))
    }

    /// The capacity of a dictionary, as far as it is looked through: an entry takes an element at least.
    pub fn capacity(&self, table: Object) -> Option<u64> {
        let capacity = u64::try_from(self.element(table, 2)?.smi()?).ok()?;
        Some(capacity.min(MAX_CAPACITY).min(self.elements_held(table)))
    }

    /// A property of a dictionary, and its number in the order of insertion.
    fn described(
        &self,
        key: Object,
        value: Tagged,
        details: PropertyDetails,
    ) -> Option<(u64, Property)> {
        let (is_accessor, attributes) = (details.is_accessor(), details.attributes(self.layout)?);
        Some((details.order(), Property { key, value, is_accessor, attributes }))
    }

    /// The prototype of an object.
    pub fn prototype(&self, object: Object) -> Option<Object> {
        self.field(object.map, PROTOTYPE).filter(|object| self.is_receiver(*object))
    }

    /// Whether an object is the prototype of others, as far as V8 noticed.
    pub fn is_prototype(&self, object: Object) -> bool {
        self.uint(object.map, BIT_FIELD3, 4).is_some_and(|bits| bits & IS_PROTOTYPE != 0)
    }

    /// What made the first object of a map's family: a function, or the template of one.
    pub fn constructor(&self, object: Object) -> Option<Object> {
        let mut map = object.map;
        for _ in 0..MAX_TRANSITIONS {
            let maker = self.field(map, CONSTRUCTOR)?;
            if maker.kind != self.layout.types.map {
                return Some(maker);
            }
            map = maker.at;
        }
        None
    }

    /// The kind of an object's elements.
    pub fn elements_kind(&self, object: Object) -> Option<u64> {
        self.uint(object.map, BIT_FIELD2, 1).map(|bits| bits >> 2)
    }

    /// The getter and setter of an accessor, as far as they are functions.
    pub fn accessors(&self, property: &Property) -> [Option<Object>; 2] {
        if property.is_accessor { self.accessors_of(property.value) } else { [None, None] }
    }

    /// The getter and setter of a pair, as far as they are functions.
    pub fn accessors_of(&self, pair: Tagged) -> [Option<Object>; 2] {
        let pair = self.object(pair);
        let pair = pair.filter(|pair| pair.kind == self.layout.types.accessor_pair);
        [8, 16].map(|offset| self.field(pair?.at, offset).filter(|part| self.is_function(*part)))
    }
}

fn in_order(mut entries: Vec<(u64, Property)>, most: u64) -> Vec<Property> {
    entries.sort_by_key(|(order, _)| *order);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    entries.into_iter().take(most).map(|(_, property)| property).collect()
}
