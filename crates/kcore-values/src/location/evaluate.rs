//! Runs one expression.

use std::{cell::Cell, sync::Arc};

use gimli::{
    EndianArcSlice, EndianSlice, EvaluationResult, LittleEndian, Reader as _, RunTimeEndian, Value,
    constants,
};
use kcore_mem::{Endian, Resource, Target};
use kcore_symbols::{Expression, VariableLocation};

use super::{FrameContext, typed};
use crate::Absent;

/// Bytes of an expression. They are counted, since those that it calls are read in its place.
pub type Reader = EndianArcSlice<RunTimeEndian>;
pub type Pieces = Vec<gimli::Piece<Reader>>;
type Evaluation = gimli::Evaluation<Reader>;

/// Operations of one expression, at most.
const MAX_OPERATIONS: u32 = 1 << 12;
/// Bytes of expressions, each of which is an operation at most, that count as one entry of debug information.
const BYTES_OF_ENTRY: usize = 16;
/// Questions that one variable's expressions may ask, at most; each may begin another expression.
const MAX_QUESTIONS: u32 = 1 << 10;
/// Expressions that are evaluated for one another, at most: calls and their callers, pointers to
/// pointers.
const MAX_DEPTH: usize = 16;
/// The size of a piece whose bits cannot be counted in 64 bits.
const MAX_PIECE: u64 = 1 << 60;

/// How many questions may still be asked.
pub struct Budget(Cell<u32>);

impl Default for Budget {
    fn default() -> Self {
        Self(Cell::new(MAX_QUESTIONS))
    }
}

/// Evaluates the expressions that one frame has for one variable.
#[derive(Clone, Copy)]
pub struct Evaluator<'f> {
    /// The frame.
    pub frame: &'f dyn FrameContext,
    budget: &'f Budget,
    depth: usize,
}

impl<'f> Evaluator<'f> {
    /// Evaluates in a frame.
    pub const fn new(frame: &'f dyn FrameContext, budget: &'f Budget) -> Self {
        Self { frame, budget, depth: MAX_DEPTH }
    }

    /// Evaluates for another expression, in the same frame or in its caller.
    pub fn within<'g>(&self, frame: &'g dyn FrameContext) -> Result<Evaluator<'g>, Absent>
    where
        'f: 'g,
    {
        let depth = self.depth.checked_sub(1).ok_or_else(|| unreadable("it refers to itself"))?;
        Ok(Evaluator { frame, budget: self.budget, depth })
    }

    /// What the target is.
    pub fn target(&self) -> Target {
        self.frame.space().target()
    }

    /// The order of bytes, as gimli names it.
    pub fn order(&self) -> RunTimeEndian {
        match self.target().endian {
            Endian::Little => RunTimeEndian::Little,
            Endian::Big => RunTimeEndian::Big,
        }
    }

    /// Where an expression says that something lies.
    pub fn pieces(&self, expression: &Expression) -> Result<Pieces, Absent> {
        self.run(expression, self.reader(expression.bytes())?)
    }

    /// The value of an expression, which has one and no place.
    pub fn value(&self, expression: &Expression) -> Result<Value, Absent> {
        let mut bytes = expression.bytes().to_vec();
        bytes.push(constants::DW_OP_stack_value.0);
        let pieces = self.run(expression, self.reader(&bytes)?)?;
        match pieces.as_slice() {
            [gimli::Piece { location: gimli::Location::Value { value }, .. }] => Ok(*value),
            _ => Err(unreadable("an expression has no value")),
        }
    }

    /// The address or number that an expression gives. A register stands for what it held.
    pub fn number(&self, expression: &Expression) -> Result<u64, Absent> {
        let mask = self.address_mask();
        let pieces = self.pieces(expression)?;
        let [piece] = pieces.as_slice() else {
            return Err(unreadable("an expression has no number"));
        };
        match piece.location {
            gimli::Location::Address { address } => Ok(address),
            gimli::Location::Value { value } => value.to_u64(mask).map_err(damaged),
            gimli::Location::Register { register } => self.register_number(register.0),
            _ => Err(unreadable("an expression has no number")),
        }
    }

    /// The frame base.
    pub fn frame_base(&self) -> Result<u64, Absent> {
        match self.frame.frame_base() {
            Some(VariableLocation::Expression(expression)) => {
                self.within(self.frame)?.number(expression)
            }
            Some(VariableLocation::Damaged(error)) => Err(damaged(*error)),
            _ => Err(Absent::OptimizedOut),
        }
    }

    /// The bits that an address has.
    pub fn address_mask(&self) -> u64 {
        if self.target().word == 4 { u64::from(u32::MAX) } else { u64::MAX }
    }

    /// Bytes as gimli reads them, if they cannot make it count wrongly.
    pub fn reader(&self, bytes: &[u8]) -> Result<Reader, Absent> {
        self.charge(bytes.len())?;
        if has_endless_piece(bytes) {
            return Err(unreadable("a piece of it is too large"));
        }
        Ok(EndianArcSlice::new(Arc::from(bytes), self.order()))
    }

    /// Charges an expression to the command: any number of variables may have one. Those that programs have are
    /// too short to count.
    fn charge(&self, bytes: usize) -> Result<(), Absent> {
        let entries = (bytes / BYTES_OF_ENTRY) as u64;
        let Some(budget) = self.frame.budget().filter(|_| entries > 0) else { return Ok(()) };
        let is_there = budget.halt().is_none() && budget.spend(Resource::Entries, entries);
        is_there
            .then_some(())
            .ok_or_else(|| unreadable("the command may not read more expressions"))
    }

    fn run(&self, expression: &Expression, bytes: Reader) -> Result<Pieces, Absent> {
        let completed = typed::with_conversions(expression, &bytes);
        let bytes = completed.map_or(bytes, |code| EndianArcSlice::new(code.into(), self.order()));
        let mut evaluation = Evaluation::new(bytes, expression.encoding());
        evaluation.set_max_iterations(MAX_OPERATIONS);
        let mut state = evaluation.evaluate().map_err(damaged)?;
        while state != EvaluationResult::Complete {
            let left = self.budget.0.get().checked_sub(1);
            self.budget.0.set(left.ok_or_else(|| unreadable("it asks for too much"))?);
            state = self.answer(&mut evaluation, expression, state)?;
        }
        Ok(evaluation.result())
    }
}

/// gimli 0.33 counts the bits of a piece without a check (`Operation::parse`, `DW_OP_piece`), which ends a
/// build with checks: so what could be such a piece is looked for first.
fn has_endless_piece(bytes: &[u8]) -> bool {
    let size_at = |at: usize| {
        let rest = bytes.get(at..).unwrap_or_default();
        EndianSlice::new(rest, LittleEndian).read_uleb128().unwrap_or(0)
    };
    bytes.iter().enumerate().any(|(at, byte)| {
        *byte == constants::DW_OP_piece.0 && size_at(at.saturating_add(1)) > MAX_PIECE
    })
}

/// A damaged expression.
pub fn damaged(error: gimli::Error) -> Absent {
    unreadable(&error.to_string())
}

/// What says where a variable lies cannot be followed.
pub fn unreadable(why: &str) -> Absent {
    Absent::Unreadable(format!("location: {why}"))
}
