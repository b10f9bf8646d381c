//! The units that were opened, by where they begin.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use gimli::Error;
use kcore_mem::Built;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Result, file::DwarfFile, signatures::Signatures, unit::Unit};

/// Units that are kept open; beyond it all are closed.
const MAX_OPEN: usize = 4096;

/// Headers that are read from a known unit on: `.debug_aranges` leaves few units out between two others.
/// Where it leaves out more, the headers of all are read, once.
const NEAR: usize = 64;

/// Units of a file that are told apart: the largest programs have some hundred thousand.
const MAX_UNITS: usize = 1 << 20;

/// How many times the length of their section units may be long that were opened: those of a compiler do not
/// overlap.
const OVERLAP: usize = 2;

/// The units of one file.
pub struct Units {
    /// Their file.
    pub file: DwarfFile,
    open: RwLock<FxHashMap<usize, Arc<Unit>>>,
    /// Where the first units begin, as far as that was needed, and one place more.
    starts: Arc<Mutex<Vec<usize>>>,
    /// Those that are listed, if not all are.
    listed: Option<Vec<usize>>,
    counted: Mutex<OpenUnits>,
    /// Where units begin by `.debug_aranges`, in order: without them, the way to a unit leads over
    /// the headers of all before it.
    known: Vec<usize>,
    signatures: Arc<Built<Signatures>>,
}

/// The units that were opened, and their bytes.
#[derive(Default)]
struct OpenUnits {
    units: FxHashSet<usize>,
    bytes: usize,
}

impl Units {
    /// No unit is open.
    pub fn new(file: DwarfFile) -> Self {
        Self {
            file,
            open: RwLock::default(),
            starts: Arc::new(Mutex::new(vec![0])),
            listed: None,
            counted: Mutex::default(),
            known: Vec::new(),
            signatures: Arc::default(),
        }
    }

    /// The units of the same file as one skeleton sees them, of which it lists only some. What does not depend on the
    /// skeleton they share.
    pub fn for_skeleton(&self, file: DwarfFile, listed: Vec<usize>) -> Self {
        Self {
            starts: Arc::clone(&self.starts),
            signatures: Arc::clone(&self.signatures),
            listed: Some(listed),
            ..Self::new(file)
        }
    }

    /// The same, with places where units begin.
    pub fn with_known(file: DwarfFile, known: impl Iterator<Item = usize>) -> Self {
        let mut known: Vec<usize> = known.collect();
        known.sort_unstable();
        Self { known, ..Self::new(file) }
    }

    /// The unit that begins at `start`.
    pub fn at(&self, start: usize) -> Result<Arc<Unit>> {
        let known = self.open.read().unwrap_or_else(PoisonError::into_inner).get(&start).cloned();
        if let Some(unit) = known {
            return Ok(unit);
        }
        self.count(start)?;
        let unit = Arc::new(Unit::open(&self.file, start)?);
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= MAX_OPEN {
            open.clear();
        }
        Ok(Arc::clone(open.entry(start).or_insert(unit)))
    }

    /// Counts the bytes of a unit that is opened for the first time. `.debug_aranges` may say that units
    /// begin where none does, so that any number of them share their bytes.
    fn count(&self, start: usize) -> Result<()> {
        let bytes = self.file.next_unit(start)?.saturating_sub(start);
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.units.insert(start) {
            counted.bytes = counted.bytes.saturating_add(bytes);
        }
        if counted.bytes > self.file.info_size().saturating_mul(OVERLAP) {
            return Err(Error::OffsetOutOfBounds(start as u64));
        }
        Ok(())
    }

    /// The unit that `offset` of `.debug_info` lies in.
    pub fn containing(&self, offset: usize) -> Result<Arc<Unit>> {
        if let Some(start) = self.start_by_known(offset) {
            return self.at(start);
        }
        let start = self.start_by_headers(offset)?;
        self.at(start.ok_or(Error::NoEntryAtGivenOffset(offset as u64))?)
    }

    /// Where the unit begins that `offset` lies in, by the headers of those before it.
    fn start_by_headers(&self, offset: usize) -> Result<Option<usize>> {
        let mut starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        while starts.last().is_some_and(|last| *last <= offset) {
            self.find_next_start(&mut starts)?;
        }
        let after = starts.partition_point(|start| *start <= offset);
        Ok(after.checked_sub(1).and_then(|at| starts.get(at)).copied())
    }

    /// Where the unit begins that `offset` lies in, from the nearest known one on. What is known may
    /// be wrong: then nothing is found.
    fn start_by_known(&self, offset: usize) -> Option<usize> {
        let after = self.known.partition_point(|start| *start <= offset);
        let mut start = *self.known.get(after.checked_sub(1)?)?;
        for _ in 0..NEAR {
            let next = self.file.next_unit(start).ok()?;
            if offset < next {
                return Some(start);
            }
            start = next;
        }
        None
    }

    /// The entry of the type with this signature.
    pub fn type_by_signature(&self, signature: u64) -> Option<usize> {
        self.signatures.get_or_build(&self.file.budget, || Signatures::read(self)).find(signature)
    }

    /// Where all units begin, as far as they can be told apart, and why no further. Of a file that several
    /// skeletons name, each lists what is its own.
    pub fn starts(&self) -> (Vec<usize>, Option<Error>) {
        match &self.listed {
            Some(listed) => (listed.clone(), None),
            None => self.all_starts(),
        }
    }

    /// The same of all units in the file.
    pub fn all_starts(&self) -> (Vec<usize>, Option<Error>) {
        let mut starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut problem = None;
        while problem.is_none() && starts.last().is_some_and(|last| *last < self.file.info_size()) {
            problem = self.find_next_start(&mut starts).err();
        }
        let units = starts.split_last().map_or(&[][..], |(_, units)| units);
        (units.to_vec(), problem)
    }

    fn find_next_start(&self, starts: &mut Vec<usize>) -> Result<()> {
        let last = starts.last().copied().unwrap_or(0);
        if starts.len() > MAX_UNITS {
            return Err(Error::OffsetOutOfBounds(last as u64));
        }
        starts.push(self.file.next_unit(last)?);
        Ok(())
    }
}
