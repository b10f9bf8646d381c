//! What V8 keeps of a property beside its key and value, in the bits of one Smi:
//! `src/objects/property-details.h`.
//!
//! Where some of the bits lie V8's own metadata says, which is memory like any other: a number that is no
//! place in the word is damage.

use super::{Tagged, layout::Layout};

/// The lowest bit: whether the property is an accessor.
const IS_ACCESSOR: u64 = 1;
/// Of a property of a map: the number of its field.
const FIELD_SHIFT: u32 = 19;
const FIELD: u64 = 0x3ff;
/// The same since V8 14.7: the word of its field, and whether that is in the object itself.
const FIELD_WORD: u64 = 0x7ff;
const IN_OBJECT: u64 = 1 << 30;
/// Of a property of a dictionary: its number in the order of insertion, which is all that is left.
const ORDER_SHIFT: u32 = 8;
const ATTRIBUTES: u64 = 7;

/// Where the field of a property lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    /// By its number among all fields of the object.
    Index(u64),
    /// By its word in the object.
    InObject(u64),
    /// By its word in the PropertyArray of the object.
    Outside(u64),
}

/// The details of a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PropertyDetails(u64);

impl PropertyDetails {
    /// Those that a Smi holds.
    pub fn of(value: Tagged) -> Option<Self> {
        value.smi().map(|bits| Self(u64::from(bits.cast_unsigned())))
    }

    /// Whether it has a getter or setter instead of a value.
    pub const fn is_accessor(self) -> bool {
        self.0 & IS_ACCESSOR != 0
    }

    /// Which field of its object holds it; `Some(None)` when its descriptor does.
    pub fn field(self, layout: &Layout) -> Option<Option<Field>> {
        let is_constant = self.bits(layout.offsets.location_shift, 1)? == 1;
        let bits = self.0 >> FIELD_SHIFT;
        let field = match layout.has_field_words() {
            false => Field::Index(bits & FIELD),
            true if self.0 & IN_OBJECT != 0 => Field::InObject(bits & FIELD_WORD),
            true => Field::Outside(bits & FIELD_WORD),
        };
        Some((!is_constant).then_some(field))
    }

    /// 1 read-only, 2 not enumerable, 4 not to be deleted.
    pub fn attributes(self, layout: &Layout) -> Option<u64> {
        self.bits(layout.offsets.attributes_shift, ATTRIBUTES)
    }

    /// Its number in the order of insertion, in a dictionary.
    pub const fn order(self) -> u64 {
        self.0 >> ORDER_SHIFT
    }

    fn bits(self, shift: u64, mask: u64) -> Option<u64> {
        Some(self.0.checked_shr(u32::try_from(shift).ok()?)? & mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v8::layout::Column;

    fn layout(location_shift: u64, attributes_shift: u64) -> Layout {
        let metadata = |name: &str| match name {
            "prop_location_shift" => Some(location_shift),
            "prop_attributes_shift" => Some(attributes_shift),
            _ => None,
        };
        Layout::load(Column::all().last().expect("a column"), &metadata)
    }

    #[test]
    fn bits_are_where_metadata_says() {
        let details = PropertyDetails((7 << FIELD_SHIFT) | (5 << 2) | 1);
        assert_eq!(details.field(&layout(5, 2)), Some(Some(Field::Outside(7))));
        let inside = PropertyDetails(IN_OBJECT | (7 << FIELD_SHIFT));
        assert_eq!(inside.field(&layout(5, 2)), Some(Some(Field::InObject(7))));
        assert_eq!(details.field(&layout(2, 2)), Some(None));
        assert_eq!(details.attributes(&layout(5, 2)), Some(5));
        assert!(details.is_accessor());
    }

    #[test]
    fn a_place_beyond_the_word_is_none() {
        for shift in [64, 1 << 32, u64::MAX] {
            let details = PropertyDetails(u64::MAX);
            assert_eq!(details.field(&layout(shift, 2)), None);
            assert_eq!(details.attributes(&layout(5, shift)), None);
        }
    }
}
