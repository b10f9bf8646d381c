//! The units that were opened, by where they begin.

use std::sync::Arc;

use gimli::{AttributeValue, Error};
use rustc_hash::FxHashMap;

use super::{Reader, Result, file::DwarfFile, unit::Unit};

/// Units that are kept open; beyond it all are closed.
const MAX_OPEN: usize = 4096;

/// The units of one file.
pub struct Units {
    /// Their file.
    pub file: DwarfFile,
    open: FxHashMap<usize, Arc<Unit>>,
    /// Where the first units begin, as far as that was needed, and one place more.
    starts: Vec<usize>,
    /// Where units begin by `.debug_aranges`, in order: without them, the way to a unit leads over
    /// the headers of all before it.
    known: Vec<usize>,
}

/// The file of a module, or the one that it shares with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The module's own.
    Main,
    /// The supplementary one.
    Supplementary,
}

/// The files of a module.
pub struct Files {
    /// Its own.
    pub main: Units,
    /// The one that `dwz` made.
    pub supplementary: Option<Units>,
}

impl Units {
    /// No unit is open.
    pub fn new(file: DwarfFile) -> Self {
        Self { file, open: FxHashMap::default(), starts: vec![0], known: Vec::new() }
    }

    /// The same, with places where units begin.
    pub fn with_known(file: DwarfFile, known: impl Iterator<Item = usize>) -> Self {
        let mut known: Vec<usize> = known.collect();
        known.sort_unstable();
        Self { known, ..Self::new(file) }
    }

    /// The unit that begins at `start`.
    pub fn at(&mut self, start: usize) -> Result<Arc<Unit>> {
        if let Some(unit) = self.open.get(&start) {
            return Ok(Arc::clone(unit));
        }
        let unit = Arc::new(Unit::open(&self.file, start)?);
        if self.open.len() >= MAX_OPEN {
            self.open.clear();
        }
        self.open.insert(start, Arc::clone(&unit));
        Ok(unit)
    }

    /// The unit that `offset` of `.debug_info` lies in.
    pub fn containing(&mut self, offset: usize) -> Result<Arc<Unit>> {
        if let Some(start) = self.start_by_known(offset) {
            return self.at(start);
        }
        while self.starts.last().is_some_and(|last| *last <= offset) {
            self.find_next_start()?;
        }
        let after = self.starts.partition_point(|start| *start <= offset);
        let start = after.checked_sub(1).and_then(|at| self.starts.get(at)).copied();
        self.at(start.ok_or(Error::NoEntryAtGivenOffset(offset as u64))?)
    }

    /// Where the unit begins that `offset` lies in, from the nearest known one on. What is known may
    /// be wrong: then nothing is found.
    fn start_by_known(&self, offset: usize) -> Option<usize> {
        let after = self.known.partition_point(|start| *start <= offset);
        let mut start = *self.known.get(after.checked_sub(1)?)?;
        loop {
            let next = self.file.next_unit(start).ok()?;
            if offset < next {
                return Some(start);
            }
            start = next;
        }
    }

    /// Where all units begin, as far as they can be told apart, and why no further.
    pub fn starts(&mut self) -> (&[usize], Option<Error>) {
        let mut problem = None;
        while problem.is_none()
            && self.starts.last().is_some_and(|last| *last < self.file.info_size())
        {
            problem = self.find_next_start().err();
        }
        let units = self.starts.split_last().map_or(&[][..], |(_, units)| units);
        (units, problem)
    }

    fn find_next_start(&mut self) -> Result<()> {
        let last = self.starts.last().copied().unwrap_or(0);
        let next = self.file.next_unit(last)?;
        self.starts.push(next);
        Ok(())
    }
}

impl Files {
    /// The units of one of the files.
    pub const fn units(&mut self, which: Which) -> Option<&mut Units> {
        match which {
            Which::Main => Some(&mut self.main),
            Which::Supplementary => self.supplementary.as_mut(),
        }
    }

    /// The string that an attribute of a unit of that file stands for.
    pub fn string(
        &self,
        which: Which,
        unit: &Unit,
        value: AttributeValue<Reader>,
    ) -> Option<Reader> {
        let supplementary = self.supplementary.as_ref();
        match (which, value) {
            (_, AttributeValue::DebugStrRefSup(offset)) => {
                supplementary?.file.dwarf.string(offset).ok()
            }
            (Which::Main, value) => self.main.file.dwarf.attr_string(&unit.unit, value).ok(),
            (Which::Supplementary, value) => {
                supplementary?.file.dwarf.attr_string(&unit.unit, value).ok()
            }
        }
    }
}
