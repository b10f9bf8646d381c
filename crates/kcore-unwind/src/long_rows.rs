//! Rows of frame descriptions that are long.
//!
//! To find a row means to run its description from the beginning. Compilers write some ten operations a
//! function; where there are thousands, any number of frames may stand in one description, and it
//! is run once for all of them.

use std::sync::{Arc, Mutex, PoisonError};

use gimli::{BaseAddresses, EndianSlice, FrameDescriptionEntry, RunTimeEndian, UnwindSection};
use kcore_mem::Arch;
use rustc_hash::FxHashMap;

use crate::row::{CfiSectionKind, Context, FoundRow, Row};

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// Bytes of a description that is run anew for each frame, at most.
pub const LONG: usize = 1 << 10;
/// Bytes of what descriptions have in common, and is run before each of them: some twenty are usual.
pub const MAX_COMMON: usize = 4 << 10;
/// Rules of rows that are kept of one module.
const MAX_KEPT: usize = 1 << 20;
/// Bytes of descriptions that are run for one module beyond that.
const MAX_RUN: usize = 256 << 20;

/// The rows of the long descriptions of a module.
#[derive(Default)]
pub struct LongRows(Mutex<RowTables>);

#[derive(Default)]
struct RowTables {
    tables: FxHashMap<(CfiSectionKind, usize), Arc<Rows>>,
    kept: usize,
    run: usize,
}

/// The rows of one description, by address.
struct Rows {
    rows: Vec<RowSpan>,
    /// From where on rows are not kept, since they are too many.
    end: u64,
}

/// A row, its first address, and the first one behind it.
struct RowSpan {
    start: u64,
    end: u64,
    row: Row,
}

/// Where a row was looked for.
pub enum LongRow {
    /// It is this one, if there is any.
    Found(Option<Row>),
    /// The description is to be run.
    Run,
}

/// A description, and what it takes to run it.
pub struct Description<'s, 'a, S: UnwindSection<Slice<'a>>> {
    /// Its section.
    pub section: &'s S,
    /// Which one that is.
    pub kind: CfiSectionKind,
    /// What its pointers are relative to.
    pub bases: &'s BaseAddresses,
    /// The description.
    pub fde: &'s FrameDescriptionEntry<Slice<'a>>,
    /// Whose registers it names.
    pub arch: Arch,
}

impl LongRows {
    /// The row for the code at `at` of the file.
    pub fn find<'a, S: UnwindSection<Slice<'a>>>(
        &self,
        description: &Description<'_, 'a, S>,
        at: u64,
        context: &mut Context,
    ) -> LongRow {
        let key = (description.kind, description.fde.offset());
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = match known.tables.get(&key) {
            Some(rows) => Arc::clone(rows),
            None => {
                let rows = Rows::read(description, context, &mut known.kept);
                Arc::clone(known.tables.entry(key).or_insert(Arc::new(rows)))
            }
        };
        if at < rows.end {
            return LongRow::Found(rows.find(at));
        }
        known.run = known.run.saturating_add(description.fde.entry_len());
        if known.run > MAX_RUN { LongRow::Found(None) } else { LongRow::Run }
    }
}

impl Rows {
    /// Runs a description, as far as there is room for its rows. Behind a damage there are none.
    fn read<'a, S: UnwindSection<Slice<'a>>>(
        description: &Description<'_, 'a, S>,
        context: &mut Context,
        kept: &mut usize,
    ) -> Self {
        let Description { section, kind, bases, fde, arch } = description;
        let mut rows: Vec<RowSpan> = Vec::new();
        let Ok(mut table) = fde.rows(*section, bases, context) else {
            return Self { rows, end: u64::MAX };
        };
        while let Ok(Some(found)) = table.next_row() {
            if *kept > MAX_KEPT {
                return Self { rows, end: found.start_address() };
            }
            let (start, end) = (found.start_address(), found.end_address());
            let row = Row::new(&FoundRow::new(found, *kind, fde, *arch));
            let Some(mut row) = row.filter(|_| start < end) else { continue };
            match rows.last() {
                Some(last) if last.row.rules == row.rules => {
                    row.rules = Arc::clone(&last.row.rules)
                }
                _ => *kept = kept.saturating_add(row.rules.len()),
            }
            *kept = kept.saturating_add(1);
            rows.push(RowSpan { start, end, row });
        }
        Self { rows, end: u64::MAX }
    }

    fn find(&self, at: u64) -> Option<Row> {
        let after = self.rows.partition_point(|row| row.start <= at);
        let found = self.rows.get(after.checked_sub(1)?)?;
        (at < found.end).then(|| found.row.clone())
    }
}
