//! A DWARF expression, and what it refers to by numbers of its own.

use std::{fmt, sync::Arc};

use gimli::{DebugAddrIndex, Encoding, Format, ValueType, constants};

use crate::{
    DebugInfo, DieId,
    dwarf::{Unit, Which, is_number},
    types::DieEntry,
};

/// A DWARF expression with the unit that it stands in.
#[derive(Clone)]
pub struct Expression {
    bytes: Arc<[u8]>,
    encoding: Encoding,
    place: Option<ExpressionUnit>,
}

/// The unit that an expression stands in.
#[derive(Clone)]
struct ExpressionUnit {
    info: Arc<DebugInfo>,
    which: Which,
    unit: Arc<Unit>,
}

impl Expression {
    /// An expression of a unit.
    pub(crate) fn of(
        info: &Arc<DebugInfo>,
        which: Which,
        unit: &Arc<Unit>,
        bytes: Arc<[u8]>,
    ) -> Self {
        let place = ExpressionUnit { info: Arc::clone(info), which, unit: Arc::clone(unit) };
        Self { bytes, encoding: unit.unit.encoding(), place: Some(place) }
    }

    /// An expression that stands in no unit, for a target with addresses of `word` bytes.
    pub fn made(bytes: impl Into<Arc<[u8]>>, word: u8) -> Self {
        let encoding = Encoding { address_size: word, format: Format::Dwarf32, version: 5 };
        Self { bytes: bytes.into(), encoding, place: None }
    }

    /// An expression of the unit that an entry stands in; `None` if there is no such entry.
    pub fn beside_entry(info: &Arc<DebugInfo>, id: DieId, bytes: Arc<[u8]>) -> Option<Self> {
        let (unit, _) = info.place(id).ok()?;
        Some(Self::of(info, id.which, &unit, bytes))
    }

    /// Another expression of the same unit: one that stands within this one.
    #[must_use]
    pub fn beside(&self, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { bytes: bytes.into(), ..self.clone() }
    }

    /// Its operations.
    pub const fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// How its operations are encoded.
    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The debug information that it stands in.
    pub fn debug_info(&self) -> Option<&Arc<DebugInfo>> {
        self.place.as_ref().map(|place| &place.info)
    }

    /// The address of a number in `.debug_addr`, as the file states it.
    pub fn indexed_address(&self, index: usize) -> Option<u64> {
        let place = self.place.as_ref().filter(|_| is_number(index))?;
        let dwarf = &place.info.files().units(place.which)?.file.dwarf;
        dwarf.address(&place.unit.unit, DebugAddrIndex(index)).ok()
    }

    /// The entry at an offset in its unit.
    pub fn entry_in_unit(&self, offset: usize) -> Option<DieId> {
        let place = self.place.as_ref()?;
        let offset = place.unit.start.checked_add(offset)?;
        Some(DieId { which: place.which, offset })
    }

    /// The entry at an offset in `.debug_info`.
    pub fn entry(&self, offset: usize) -> Option<DieId> {
        let place = self.place.as_ref()?;
        Some(DieId { which: place.which, offset })
    }

    /// The type of numbers that the base type at an offset in its unit is.
    pub fn base_type(&self, offset: usize) -> Option<ValueType> {
        let info = self.debug_info()?;
        let entry = DieEntry::read(info, self.entry_in_unit(offset)?).ok()?;
        let encoding = u8::try_from(entry.number(constants::DW_AT_encoding)?).ok()?;
        let size = entry.number(constants::DW_AT_byte_size)?;
        ValueType::from_encoding(gimli::DwAte(encoding), size)
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.bytes).finish()
    }
}

impl PartialEq for Expression {
    /// Whether the operations are the same.
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}
