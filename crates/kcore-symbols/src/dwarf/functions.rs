//! Which function of a unit holds an address.

use gimli::{DwTag, Error, constants};
use kcore_mem::Built;

use super::{
    Result, UnitOffset,
    attributes::{PcRanges, RangesLeft},
    file::DwarfFile,
    unit::Unit,
    walk::{Entry, Walk, sibling},
};

/// Functions that begin before an address and are looked at for one that holds it: they rarely
/// overlap.
const MAX_OVERLAP: usize = 16;

/// Ranges of functions of one unit; see [`PcRanges`].
const MAX_CODE: usize = 1 << 22;

/// The functions of a unit. Functions within functions and within types are rare; the unit is
/// searched for them only when an address belongs to no other.
pub struct Functions {
    outer: Table,
    all: Built<Result<Table>>,
}

/// Functions by the addresses of their code.
#[derive(Default)]
struct Table(Vec<Code>);

#[derive(Clone, Copy)]
struct Code {
    begin: u64,
    end: u64,
    entry: UnitOffset,
}

impl Functions {
    /// Reads the outer functions of a unit.
    pub fn read(file: &DwarfFile, unit: &Unit) -> Result<Self> {
        Ok(Self { outer: Table::read(file, unit, true)?, all: Built::new() })
    }

    /// The entry of the function that holds `pc`.
    pub fn find(&self, file: &DwarfFile, unit: &Unit, pc: u64) -> Result<Option<UnitOffset>> {
        if let Some(found) = self.outer.find(pc) {
            return Ok(Some(found));
        }
        let all = self.all.get_or_build(&unit.budget, || Table::read(file, unit, false));
        all.as_ref().map(|all| all.find(pc)).map_err(Error::clone)
    }
}

impl Table {
    fn read(file: &DwarfFile, unit: &Unit, only_outer: bool) -> Result<Self> {
        let mut table = Self::default();
        let left = file.ranges_left();
        let mut walk = Walk::new(unit, None)?;
        while table.0.len() < MAX_CODE
            && let Some(entry) = walk.next(-1)?
        {
            if entry.shape.tag() == constants::DW_TAG_subprogram {
                let next = table.add(file, unit, left, &mut walk, &entry)?;
                if only_outer {
                    walk.pass_children(&entry, next)?;
                }
            } else if only_outer && is_type(entry.shape.tag()) {
                walk.pass_tree(&entry)?;
            } else {
                walk.pass(&entry)?;
            }
        }
        if left.is_over() {
            return Err(Error::TooManyIterations);
        }
        table.0.sort_by_key(|code| code.begin);
        Ok(table)
    }

    /// Adds the code of a function; says which entry comes next beside it.
    fn add(
        &mut self,
        file: &DwarfFile,
        unit: &Unit,
        left: &RangesLeft,
        walk: &mut Walk<'_>,
        entry: &Entry<'_>,
    ) -> Result<Option<UnitOffset>> {
        let (mut pcs, mut next) = (PcRanges::default(), None);
        walk.attributes(entry, |attribute| {
            next = next.or_else(|| sibling(attribute));
            pcs.take(file, &unit.unit, attribute)
        })?;
        pcs.each(file, &unit.unit, left, |range| {
            self.0.push(Code { begin: range.begin, end: range.end, entry: entry.offset });
        })?;
        Ok(next)
    }

    fn find(&self, pc: u64) -> Option<UnitOffset> {
        let after = self.0.partition_point(|code| code.begin <= pc);
        let before = self.0.get(..after)?.iter().rev().take(MAX_OVERLAP);
        before.copied().find(|code| pc < code.end).map(|code| code.entry)
    }
}

/// Whether an entry is a type that has entries below it.
const fn is_type(tag: DwTag) -> bool {
    matches!(
        tag,
        constants::DW_TAG_structure_type
            | constants::DW_TAG_class_type
            | constants::DW_TAG_union_type
            | constants::DW_TAG_interface_type
            | constants::DW_TAG_enumeration_type
            | constants::DW_TAG_array_type
            | constants::DW_TAG_subroutine_type
    )
}
