//! The line table of a unit: which line an address comes from.

use std::sync::Arc;

use gimli::{ColumnType, DebugLine, DebugLineOffset, LineProgramHeader};

use kcore_mem::{Budget, Watch};

use super::{Reader, Result, file::DwarfFile, paths, shared::Reading, unit::Unit};
use crate::meter::HALTED;

/// Rows of one unit that are kept. The largest units have some hundred thousand.
const MAX_ROWS: usize = 1 << 24;

/// The line table of a unit.
#[derive(Default)]
pub struct Rows {
    /// Has the names of the files.
    header: Option<LineProgramHeader<Reader>>,
    /// By start; they do not overlap.
    sequences: Vec<Sequence>,
    rows: Vec<Row>,
}

/// Code that lies together, and the rows that belong to it.
struct Sequence {
    start: u64,
    end: u64,
    rows: std::ops::Range<usize>,
}

#[derive(Clone, Copy)]
struct Row {
    address: u64,
    file: u32,
    line: u32,
    column: u32,
}

/// Where an address comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourcePosition {
    /// Number of the file.
    pub file: Option<u64>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column, from 1.
    pub column: Option<u32>,
}

impl Rows {
    /// The rows of the line program at `start`, which other units may have as well: units of types
    /// have that of their compilation unit.
    pub fn shared(file: &DwarfFile, unit: &Unit, start: usize) -> Result<Arc<Self>> {
        let address_size = unit.unit.header.address_size();
        file.lines.get((start, address_size), |_| {
            let bytes = file.line_bytes(start);
            let len = bytes.as_ref().map_or(0, gimli::Reader::len);
            Reading {
                result: bytes.and_then(|bytes| Self::read(bytes, address_size, &file.budget)),
                bytes: len,
            }
        })
    }

    /// Runs a line program. Of the unit it knows nothing: [`paths`] adds what the unit is called.
    fn read(bytes: Reader, address_size: u8, budget: &Budget) -> Result<Self> {
        let program =
            DebugLine::from(bytes).program(DebugLineOffset(0), address_size, None, None)?;
        let mut table = Self { header: Some(program.header().clone()), ..Self::default() };
        let mut rows = program.rows();
        // Where the rows of the sequence begin that is being read.
        let (mut first, mut watch) = (0, Watch::new(budget));
        while let Some((_, row)) = rows.next_row()?
            && table.rows.len() < MAX_ROWS
        {
            if watch.is_over() {
                return Err(HALTED);
            }
            if row.end_sequence() {
                table.end_sequence(first, row.address());
                first = table.rows.len();
            } else {
                table.add(first, Row::new(row));
            }
        }
        table.sequences.sort_by_key(|sequence| sequence.start);
        Ok(table)
    }

    /// Where `pc` comes from.
    pub fn find(&self, pc: u64) -> Option<SourcePosition> {
        let after = self.sequences.partition_point(|sequence| sequence.start <= pc);
        let sequence = self.sequences.get(after.checked_sub(1)?)?;
        if pc >= sequence.end {
            return None;
        }
        let rows = self.rows.get(sequence.rows.clone())?;
        let after = rows.partition_point(|row| row.address <= pc);
        rows.get(after.checked_sub(1)?).map(Row::place)
    }

    /// The path of a file by its number.
    pub fn path(&self, file: &DwarfFile, unit: &Unit, number: u64) -> Result<Option<String>> {
        self.header.as_ref().map_or(Ok(None), |header| paths::path(file, unit, header, number))
    }

    /// The addresses that have lines.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        self.sequences.iter().map(|sequence| (sequence.start, sequence.end))
    }

    /// Of several rows for one address the last one counts.
    fn add(&mut self, first: usize, row: Row) {
        let ours = self.rows.get_mut(first..).unwrap_or_default();
        match ours.last_mut() {
            Some(last) if last.address == row.address => *last = row,
            _ => self.rows.push(row),
        }
    }

    fn end_sequence(&mut self, first: usize, end: u64) {
        match self.rows.get(first).map(|row| row.address) {
            Some(start) if start < end => {
                self.sequences.push(Sequence { start, end, rows: first..self.rows.len() });
            }
            _ => self.rows.truncate(first),
        }
    }
}

impl Row {
    fn new(row: &gimli::LineRow) -> Self {
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            address: row.address(),
            file: small(row.file_index()),
            line: row.line().map_or(0, |line| small(line.get())),
            column: match row.column() {
                ColumnType::LeftEdge => 0,
                ColumnType::Column(column) => small(column.get()),
            },
        }
    }

    fn place(&self) -> SourcePosition {
        let known = |number: u32| Some(number).filter(|number| *number > 0);
        SourcePosition {
            file: Some(self.file.into()),
            line: known(self.line),
            column: known(self.line).and_then(|_| known(self.column)),
        }
    }
}
