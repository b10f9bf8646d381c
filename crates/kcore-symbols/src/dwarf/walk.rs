//! A walk over the entries of a unit in the order in which they lie, that can leave subtrees out.

use gimli::{Abbreviation, Attribute, AttributeValue, EntriesRaw, Error, constants};
use kcore_mem::Budget;

use super::{Reader, Result, UnitOffset, unit::Unit};
use crate::meter::HALTED;

/// Entries between two looks at the time.
const AT_ONCE: u32 = 1 << 12;

/// A walk over entries.
pub struct Walk<'a> {
    unit: &'a gimli::Unit<Reader>,
    budget: &'a Budget,
    entries: EntriesRaw<'a, Reader>,
    /// Depth of the place where the entries were last opened.
    base: isize,
    come_to: u64,
    seen: u32,
}

/// An entry whose attributes are not read yet: one of [`Walk::attributes`] and [`Walk::pass`] must
/// be called before the next.
pub struct Entry<'a> {
    /// Where it is.
    pub offset: UnitOffset,
    /// How deep it lies below the place where the walk began.
    pub depth: isize,
    /// Its shape.
    pub shape: &'a Abbreviation,
}

impl<'a> Walk<'a> {
    /// Begins at an entry; without one, at the root.
    pub fn new(of: &'a Unit, at: Option<UnitOffset>) -> Result<Self> {
        let unit = &of.unit;
        let entries = unit.header.entries_raw(&unit.abbreviations, at)?;
        Ok(Self { unit, budget: &of.budget, entries, base: 0, come_to: 0, seen: 0 })
    }

    /// The next entry that lies deeper than `above`; `None` behind the last of them. Fails with [`HALTED`] when the
    /// command has to end.
    pub fn next(&mut self, above: isize) -> Result<Option<Entry<'a>>> {
        while !self.entries.is_empty() {
            let (offset, depth) = (self.entries.next_offset(), self.depth());
            if depth <= above {
                return Ok(None);
            }
            self.come_to = self.come_to.wrapping_add(1);
            self.look_at_time()?;
            if let Some(shape) = self.entries.read_abbreviation()? {
                return Ok(Some(Entry { offset, depth, shape }));
            }
        }
        Ok(None)
    }

    fn look_at_time(&mut self) -> Result<()> {
        self.seen = self.seen.wrapping_add(1);
        let is_over = self.seen.is_multiple_of(AT_ONCE) && self.budget.halt().is_some();
        if is_over { Err(HALTED) } else { Ok(()) }
    }

    /// How many entries the walk has come to since that was asked last, those that it passed over among them.
    pub const fn take_come_to(&mut self) -> u64 {
        std::mem::replace(&mut self.come_to, 0)
    }

    /// Reads the attributes of an entry.
    pub fn attributes(
        &mut self,
        entry: &Entry<'_>,
        mut each: impl FnMut(&Attribute<Reader>) -> Result<()>,
    ) -> Result<()> {
        for form in entry.shape.attributes() {
            let attribute = self.entries.read_attribute(*form)?;
            check(&attribute)?;
            each(&attribute)?;
        }
        Ok(())
    }

    /// Passes over the attributes of an entry, to its first child if it has any.
    pub fn pass(&mut self, entry: &Entry<'_>) -> Result<()> {
        self.entries.skip_attributes(entry.shape.attributes())
    }

    /// Passes over an entry and all below it.
    pub fn pass_tree(&mut self, entry: &Entry<'_>) -> Result<()> {
        let mut next = None;
        self.attributes(entry, |attribute| {
            next = next.or_else(|| sibling(attribute));
            Ok(())
        })?;
        self.pass_children(entry, next)
    }

    /// Passes over all below an entry whose attributes are read. `next` is its [`sibling`], if it
    /// has one.
    pub fn pass_children(&mut self, entry: &Entry<'_>, next: Option<UnitOffset>) -> Result<()> {
        if !entry.shape.has_children() {
            return Ok(());
        }
        // Never backwards: a walk must end.
        if let Some(next) = next.filter(|next| *next >= self.entries.next_offset())
            && let Ok(entries) = self.unit.header.entries_raw(&self.unit.abbreviations, Some(next))
        {
            self.entries = entries;
            self.base = entry.depth;
            return Ok(());
        }
        while let Some(below) = self.next(entry.depth)? {
            self.pass(&below)?;
        }
        Ok(())
    }

    fn depth(&self) -> isize {
        self.base.saturating_add(self.entries.next_depth())
    }
}

/// Refuses numbers of strings, addresses and lists that no section has room for: gimli multiplies them by
/// the size of an item without a look.
pub fn check(attribute: &Attribute<Reader>) -> Result<()> {
    let number = match attribute.raw_value() {
        AttributeValue::DebugStrOffsetsIndex(index) => index.0,
        AttributeValue::DebugAddrIndex(index) => index.0,
        AttributeValue::DebugRngListsIndex(index) => index.0,
        AttributeValue::DebugLocListsIndex(index) => index.0,
        _ => return Ok(()),
    };
    if is_number(number) { Ok(()) } else { Err(Error::UnsupportedOffset) }
}

/// Whether a section may have so many items.
pub const fn is_number(number: usize) -> bool {
    number < 1 << 40
}

/// The next entry at the same depth, if the attribute says that.
pub fn sibling(attribute: &Attribute<Reader>) -> Option<UnitOffset> {
    match (attribute.name(), attribute.value()) {
        (constants::DW_AT_sibling, AttributeValue::UnitRef(offset)) => Some(offset),
        _ => None,
    }
}
