//! One entry of DWARF with its attributes, and the entries right below it.

use std::{cell::Cell, rc::Rc, sync::Arc};

use gimli::{Attribute, AttributeValue, DwAt, DwTag, Error, Reader as _, constants};

use super::super::model::TypeLink;
use crate::{
    DebugInfo, DieId,
    dwarf::{Reader, Result, Unit, UnitOffset, Walk, sibling},
    meter::Meter,
};

/// Entries below one entry that are read: enumerations of a hundred thousand names exist.
const MAX_CHILDREN: usize = 1 << 20;

/// Bytes of the longest text that is read: names of C++ reach some kilobytes.
const MAX_TEXT: usize = 64 << 10;

/// Bytes of text that is read of one entry and all below it. Entries may share one text, which each of
/// them would have a copy of.
const MAX_TEXTS: usize = 16 << 20;

/// Names for a type that are followed to its size.
const MAX_ALIASES: usize = 16;

/// An entry whose attributes were read.
pub struct DieEntry<'a> {
    info: &'a DebugInfo,
    id: DieId,
    unit: Arc<Unit>,
    offset: UnitOffset,
    tag: DwTag,
    attributes: Vec<Attribute<Reader>>,
    has_children: bool,
    /// Bytes of text that may still be read, of all entries that were reached from one.
    text_left: Rc<Cell<usize>>,
    /// Counts the entries below it.
    meter: Rc<Meter>,
}

impl<'a> DieEntry<'a> {
    /// Reads an entry. What lies below it may be read as often as one likes.
    pub fn read(info: &'a DebugInfo, id: DieId) -> Result<Self> {
        Self::read_by(info, id, &Rc::new(Meter::free()))
    }

    /// Reads an entry. It and what is read below it is counted.
    pub fn read_by(info: &'a DebugInfo, id: DieId, meter: &Rc<Meter>) -> Result<Self> {
        meter.count(1)?;
        let (unit, offset) = info.place(id)?;
        let mut walk = Walk::new(&unit, Some(offset))?;
        let entry = walk.next(-1)?.ok_or(Error::NoEntryAtGivenOffset(id.offset as u64))?;
        let mut attributes = Vec::with_capacity(entry.shape.attributes().len());
        walk.attributes(&entry, |attribute| {
            attributes.push(attribute.clone());
            Ok(())
        })?;
        let (tag, has_children) = (entry.shape.tag(), entry.shape.has_children());
        drop(walk);
        let text_left = Rc::new(Cell::new(MAX_TEXTS));
        let meter = Rc::clone(meter);
        Ok(Self { info, id, unit, offset, tag, attributes, has_children, text_left, meter })
    }

    /// Reads an entry that this one refers to. Both count together, and share what text may be read.
    pub fn beside(&self, info: &'a DebugInfo, id: DieId) -> Result<Self> {
        let text_left = Rc::clone(&self.text_left);
        Ok(Self { text_left, ..Self::read_by(info, id, &self.meter)? })
    }

    /// Counts what is read for this entry.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// The debug information that it is read from.
    pub const fn info(&self) -> &'a DebugInfo {
        self.info
    }

    /// Its unit.
    pub const fn unit(&self) -> &Arc<Unit> {
        &self.unit
    }

    /// Its attributes.
    pub fn attributes(&self) -> &[Attribute<Reader>] {
        &self.attributes
    }

    /// Where it is.
    pub const fn id(&self) -> DieId {
        self.id
    }

    /// What it is.
    pub const fn tag(&self) -> DwTag {
        self.tag
    }

    /// Bytes of an address in its unit.
    pub fn address_size(&self) -> u64 {
        u64::from(self.unit.unit.header.address_size())
    }

    /// Calls `each` with every entry right below it, in order.
    pub fn children(&self, mut each: impl FnMut(DieEntry<'a>) -> Result<()>) -> Result<()> {
        if !self.has_children {
            return Ok(());
        }
        let mut walk = Walk::new(&self.unit, Some(self.offset))?;
        if let Some(own) = walk.next(-1)? {
            walk.pass(&own)?;
        }
        for _ in 0..MAX_CHILDREN {
            let Some(entry) = walk.next(0)? else { break };
            let mut attributes = Vec::with_capacity(entry.shape.attributes().len());
            let mut next = None;
            walk.attributes(&entry, |attribute| {
                next = next.or_else(|| sibling(attribute));
                attributes.push(attribute.clone());
                Ok(())
            })?;
            each(DieEntry {
                info: self.info,
                id: self.id_of(entry.offset),
                unit: Arc::clone(&self.unit),
                offset: entry.offset,
                tag: entry.shape.tag(),
                attributes,
                has_children: entry.shape.has_children(),
                text_left: Rc::clone(&self.text_left),
                meter: Rc::clone(&self.meter),
            })?;
            walk.pass_children(&entry, next)?;
            self.meter.count(walk.take_come_to())?;
        }
        Ok(())
    }

    fn id_of(&self, offset: UnitOffset) -> DieId {
        DieId { which: self.id.which, offset: self.unit.start.saturating_add(offset.0) }
    }

    /// The value of an attribute.
    pub fn value(&self, name: DwAt) -> Option<AttributeValue<Reader>> {
        self.attributes.iter().find(|attribute| attribute.name() == name).map(Attribute::value)
    }

    /// Whether its location is a list by addresses.
    pub fn has_location_list(&self) -> bool {
        let location = self.value(constants::DW_AT_location);
        let is_one = |it| matches!(it, AttributeValue::Exprloc(_) | AttributeValue::Block(_));
        location.is_some_and(|location| !is_one(location))
    }

    /// A number without sign.
    pub fn number(&self, name: DwAt) -> Option<u64> {
        let attribute = self.attributes.iter().find(|attribute| attribute.name() == name)?;
        attribute.udata_value()
    }

    /// A constant. Only the forms that say so have a sign: compilers write negative numbers in those.
    pub fn constant(&self, name: DwAt) -> Option<i128> {
        Some(match self.value(name)? {
            AttributeValue::Sdata(value) => value.into(),
            AttributeValue::Data1(value) => value.into(),
            AttributeValue::Data2(value) => value.into(),
            AttributeValue::Data4(value) => value.into(),
            AttributeValue::Data8(value) | AttributeValue::Udata(value) => value.into(),
            AttributeValue::Data16(value) => value.cast_signed(),
            AttributeValue::Block(block) => self.wide_constant(&block)?,
            _ => self.number(name)?.into(),
        })
    }

    /// A constant whose plain forms have a sign too: offsets of bits before the beginning.
    pub fn constant_with_sign(&self, name: DwAt) -> Option<i128> {
        let attribute = self.attributes.iter().find(|attribute| attribute.name() == name)?;
        attribute.sdata_value().map(i128::from)
    }

    /// The size that the type of this entry states, through names for it and qualifiers.
    pub fn size_of_type(&self) -> Option<u64> {
        let mut ty = self.reference(constants::DW_AT_type)?;
        for _ in 0..MAX_ALIASES {
            let entry = DieEntry::read(self.info, ty).ok()?;
            if let Some(size) = entry.number(constants::DW_AT_byte_size) {
                return Some(size);
            }
            ty = entry.reference(constants::DW_AT_type)?;
        }
        None
    }

    /// A number that has no form of its own, in the byte order of the file.
    fn wide_constant(&self, block: &Reader) -> Option<i128> {
        let bytes = block.to_slice().ok()?;
        let mut wide = [0; 16];
        wide.get_mut(..bytes.len())?.copy_from_slice(&bytes);
        if self.is_big_endian() {
            wide.get_mut(..bytes.len())?.reverse();
        }
        Some(i128::from_le_bytes(wide))
    }

    /// Whether the file's bytes stand with the most significant one first.
    pub fn is_big_endian(&self) -> bool {
        let units = self.info.files().units(self.id.which);
        units.is_some_and(|units| units.file.is_big_endian())
    }

    /// The language of its unit.
    pub fn language(&self) -> Option<crate::Language> {
        self.unit.language
    }

    /// Whether a flag is there and set.
    pub fn flag(&self, name: DwAt) -> bool {
        matches!(self.value(name), Some(AttributeValue::Flag(true)))
    }

    /// Text, if it is not too long and there was not too much before.
    pub fn text(&self, name: DwAt) -> Option<Arc<str>> {
        let files = self.info.files();
        let text = files.string(self.id.which, &self.unit, self.value(name)?)?;
        // Any number of entries may have one text, to whose end each of them looks.
        self.meter.count_bytes(text.len()).ok()?;
        let left = self.text_left.get().checked_sub(text.len())?;
        if text.len() > MAX_TEXT {
            return None;
        }
        self.text_left.set(left);
        Some(text.to_string_lossy().ok()?.into())
    }

    /// Its own name.
    pub fn name(&self) -> Option<Arc<str>> {
        self.text(constants::DW_AT_name).filter(|name| !name.is_empty())
    }

    /// The bytes of an expression.
    pub fn expression(&self, name: DwAt) -> Option<Arc<[u8]>> {
        match self.value(name)? {
            AttributeValue::Exprloc(expression) => Some(expression.0.to_slice().ok()?.into()),
            AttributeValue::Block(block) => Some(block.to_slice().ok()?.into()),
            _ => None,
        }
    }

    /// The type that `DW_AT_type` refers to.
    pub fn type_link(&self) -> TypeLink {
        self.link(constants::DW_AT_type)
    }

    /// The type that an attribute refers to; `void` without it.
    pub fn link(&self, name: DwAt) -> TypeLink {
        self.reference(name).map_or(TypeLink::Void, TypeLink::Die)
    }

    /// The entry that an attribute refers to.
    pub fn reference(&self, name: DwAt) -> Option<DieId> {
        let value = self.value(name)?;
        self.info
            .files()
            .reference(self.id.which, &self.unit, &value)
            .map(|(which, offset)| DieId { which, offset })
    }
}
