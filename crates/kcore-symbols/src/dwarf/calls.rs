//! The calls that were inlined into one function, ordered once for all of its addresses.
//!
//! A function may have as many calls as the stack has frames in it, so that whoever asks about it again and again
//! is not answered from its entries.

use std::sync::{Arc, Mutex, PoisonError};

use gimli::{Error, constants};
use rustc_hash::FxHashMap;

use super::{
    Result, UnitOffset,
    attributes::RangesLeft,
    file::DwarfFile,
    inlined::{FunctionAt, InlinedCall},
    names::NameAttributes,
    pieces::{NOBODY, Pieces},
    rows::SourcePosition,
    unit::Unit,
    walk::Walk,
};
use crate::meter::HALTED;

/// Addresses of a function whose calls are looked for among its entries, before all are ordered.
const SELDOM: u32 = 4;

/// The calls of functions that were asked about often, by the function's entry.
#[derive(Default)]
pub struct CallsOfFunctions(Mutex<FxHashMap<UnitOffset, FunctionCalls>>);

/// How often a function was asked about, and its calls once that was often.
#[derive(Default)]
struct FunctionCalls {
    times: u32,
    calls: Option<Arc<Calls>>,
}

/// The calls that were inlined into one function.
struct Calls {
    names: NameAttributes,
    /// In the order in which they lie.
    calls: Vec<Call>,
    pieces: Pieces,
    /// Why there are no more.
    problem: Option<Error>,
}

/// A call.
struct Call {
    entry: UnitOffset,
    place: SourcePosition,
    /// The call that it lies in, or [`NOBODY`].
    around: u32,
}

impl CallsOfFunctions {
    /// The function at `entry` with its calls at `pc`.
    pub fn at(
        &self,
        file: &DwarfFile,
        unit: &Unit,
        entry: UnitOffset,
        pc: u64,
    ) -> Result<FunctionAt> {
        match self.calls(file, unit, entry)? {
            Some(calls) => calls.at(unit, pc),
            None => FunctionAt::read(file, unit, entry, pc),
        }
    }

    /// The calls of a function that is asked about often.
    fn calls(
        &self,
        file: &DwarfFile,
        unit: &Unit,
        entry: UnitOffset,
    ) -> Result<Option<Arc<Calls>>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = known.entry(entry).or_default();
        asked.times = asked.times.saturating_add(1);
        if asked.times > SELDOM && asked.calls.is_none() {
            asked.calls = Some(Arc::new(Calls::read(file, unit, entry)?));
        }
        Ok(asked.calls.clone())
    }
}

impl Calls {
    fn read(file: &DwarfFile, unit: &Unit, entry: UnitOffset) -> Result<Self> {
        let mut walk = Walk::new(unit, Some(entry))?;
        let mut all = Self {
            names: NameAttributes::default(),
            calls: Vec::new(),
            pieces: Pieces::default(),
            problem: None,
        };
        let Some(function) = walk.next(-1)? else { return Ok(all) };
        walk.attributes(&function, |attribute| {
            all.names.take(attribute);
            Ok(())
        })?;
        if function.shape.has_children() {
            all.problem = all.read_calls(file, unit, &mut walk).err();
            if all.problem == Some(HALTED) {
                return Err(HALTED);
            }
        }
        all.pieces.finish();
        Ok(all)
    }

    fn read_calls(&mut self, file: &DwarfFile, unit: &Unit, walk: &mut Walk<'_>) -> Result<()> {
        let left = file.ranges_left();
        // The calls that the walk is in, each with its depth.
        let mut open: Vec<(isize, u32)> = Vec::new();
        while let Some(entry) = walk.next(0)? {
            while open.pop_if(|(depth, _)| *depth >= entry.depth).is_some() {}
            match entry.shape.tag() {
                constants::DW_TAG_subprogram => walk.pass_tree(&entry)?,
                constants::DW_TAG_inlined_subroutine => {
                    let call = InlinedCall::read(file, unit, walk, &entry)?;
                    let around = open.last().map_or(NOBODY, |(_, around)| *around);
                    open.push((entry.depth, self.add(file, unit, left, &call, around)?));
                }
                _ => walk.pass(&entry)?,
            }
        }
        Ok(())
    }

    /// Adds a call, and gives it what no call before it has of its addresses.
    fn add(
        &mut self,
        file: &DwarfFile,
        unit: &Unit,
        left: &RangesLeft,
        call: &InlinedCall,
        around: u32,
    ) -> Result<u32> {
        let number = u32::try_from(self.calls.len()).map_err(|_| Error::UnsupportedOffset)?;
        let Self { calls, pieces, .. } = self;
        calls.push(Call { entry: call.entry(), place: call.place(), around });
        let mut fits = true;
        call.each_range(file, unit, left, |range| {
            fits &= pieces.give(range.begin..range.end, around, number);
        })?;
        if fits && !left.is_over() { Ok(number) } else { Err(Error::TooManyIterations) }
    }

    fn at(&self, unit: &Unit, pc: u64) -> Result<FunctionAt> {
        let mut next = self.pieces.at(pc);
        if let (NOBODY, Some(problem)) = (next, self.problem) {
            return Err(problem);
        }
        let mut inlined = Vec::new();
        while let Some(call) = self.calls.get(next as usize) {
            inlined.push((call.entry, call.place));
            next = call.around;
        }
        inlined.reverse();
        FunctionAt::with(unit, self.names.clone(), &inlined)
    }
}
