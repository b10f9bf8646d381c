//! Which calls are inlined at an address of a function.

use gimli::{Attribute, AttributeValue, Range, constants};

use super::{
    Reader, Result, UnitOffset,
    attributes::{PcRanges, RangesLeft},
    file::DwarfFile,
    names::NameAttributes,
    rows::SourcePosition,
    unit::Unit,
    walk::{Entry, Walk, sibling},
};

/// Calls inlined into one another that are told of one address.
const MAX_INLINED: usize = 1024;

/// A call that was inlined.
pub struct InlinedCall {
    /// How the inlined function is named.
    pub names: NameAttributes,
    entry: UnitOffset,
    place: SourcePosition,
    pcs: PcRanges,
    sibling: Option<UnitOffset>,
}

/// What a function and the calls inlined into it at one address are named.
pub struct FunctionAt {
    /// How the function itself is named.
    pub names: NameAttributes,
    /// How each call is named and where it stands, the outermost first.
    pub inlined: Vec<(NameAttributes, SourcePosition)>,
}

impl FunctionAt {
    /// Reads the function at `entry` as far as it concerns `pc`.
    pub fn read(file: &DwarfFile, unit: &Unit, entry: UnitOffset, pc: u64) -> Result<Self> {
        let mut walk = Walk::new(unit, Some(entry))?;
        let mut found = Self { names: NameAttributes::default(), inlined: Vec::new() };
        let Some(function) = walk.next(-1)? else { return Ok(found) };
        walk.attributes(&function, |attribute| {
            found.names.take(attribute);
            Ok(())
        })?;
        if function.shape.has_children() {
            found.read_inlined(file, unit, &mut walk, pc)?;
        }
        Ok(found)
    }

    /// A function of these names and these calls, each by its entry and where it stands, the outermost first.
    pub fn with(
        unit: &Unit,
        names: NameAttributes,
        calls: &[(UnitOffset, SourcePosition)],
    ) -> Result<Self> {
        let read = |(entry, place): &(UnitOffset, SourcePosition)| {
            Ok((NameAttributes::read(unit, *entry)?, *place))
        };
        let inlined = calls.iter().take(MAX_INLINED).map(read).collect::<Result<_>>()?;
        Ok(Self { names, inlined })
    }

    /// Goes down into the calls that hold `pc`, and past the others. Blocks in between have no
    /// names.
    fn read_inlined(
        &mut self,
        file: &DwarfFile,
        unit: &Unit,
        walk: &mut Walk<'_>,
        pc: u64,
    ) -> Result<()> {
        let mut depth = 0;
        while self.inlined.len() < MAX_INLINED
            && let Some(entry) = walk.next(depth)?
        {
            match entry.shape.tag() {
                constants::DW_TAG_subprogram => walk.pass_tree(&entry)?,
                constants::DW_TAG_inlined_subroutine => {
                    let call = InlinedCall::read(file, unit, walk, &entry)?;
                    if call.pcs.contain(file, &unit.unit, pc)? {
                        self.inlined.push((call.names, call.place));
                        depth = entry.depth;
                        if !entry.shape.has_children() {
                            break;
                        }
                    } else {
                        walk.pass_children(&entry, call.sibling)?;
                    }
                }
                _ => walk.pass(&entry)?,
            }
        }
        Ok(())
    }
}

impl InlinedCall {
    /// Where the call stands.
    pub const fn place(&self) -> SourcePosition {
        self.place
    }

    /// Its entry.
    pub const fn entry(&self) -> UnitOffset {
        self.entry
    }

    /// Calls `each` with every range of its code, until no more are `left` to be read.
    pub fn each_range(
        &self,
        file: &DwarfFile,
        unit: &Unit,
        left: &RangesLeft,
        each: impl FnMut(Range),
    ) -> Result<()> {
        self.pcs.each(file, &unit.unit, left, each)
    }

    /// Reads the call at an entry that the walk has come to.
    pub fn read(
        file: &DwarfFile,
        unit: &Unit,
        walk: &mut Walk<'_>,
        entry: &Entry<'_>,
    ) -> Result<Self> {
        let mut call = Self {
            names: NameAttributes::default(),
            entry: entry.offset,
            place: SourcePosition::default(),
            pcs: PcRanges::default(),
            sibling: None,
        };
        let version = unit.unit.header.version();
        walk.attributes(entry, |attribute| {
            call.take(attribute, version);
            call.names.take(attribute);
            call.sibling = call.sibling.or_else(|| sibling(attribute));
            call.pcs.take(file, &unit.unit, attribute)
        })?;
        Ok(call)
    }

    fn take(&mut self, attribute: &Attribute<Reader>, version: u16) {
        let number = || {
            let number = attribute.udata_value().and_then(|value| u32::try_from(value).ok());
            number.filter(|number| *number > 0)
        };
        match (attribute.name(), attribute.value()) {
            // File 0 is none before DWARF 5, and a file since.
            (constants::DW_AT_call_file, AttributeValue::FileIndex(file)) => {
                self.place.file = (file > 0 || version >= 5).then_some(file);
            }
            (constants::DW_AT_call_line, _) => self.place.line = number(),
            (constants::DW_AT_call_column, _) => self.place.column = number(),
            _ => {}
        }
    }
}
