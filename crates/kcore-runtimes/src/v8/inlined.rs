//! Functions that optimized code holds inside of others.
//!
//! `src/objects/deoptimization-data.h`: the source position of an instruction says from which inlining
//! it comes; an inlining, which function that was and at which position it was called.

use super::{Code, Heap, Tagged, function::Shared, heap::Object, positions::Position};

/// Inlined functions that lie inside of each other, at most.
const MAX_DEPTH: usize = 64;
/// An `InliningPosition`: a position, u64, and the index of a literal, i32.
const INLINING_SIZE: u64 = 16;

/// A function at a position in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inlined {
    /// The function.
    pub shared: Shared,
    /// The position in its script.
    pub script_offset: Option<u64>,
}

/// What is inlined at an instruction of optimized code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlinings {
    /// The inlined functions, innermost first.
    pub inlined: Vec<Inlined>,
    /// Where the function itself is, in its script.
    pub script_offset: Option<u64>,
}

/// The tables of some optimized code.
struct Tables {
    literals: Object,
    positions: Object,
}

impl Inlinings {
    /// Those at the instruction that is `offset` bytes into the code.
    pub fn at(heap: &Heap<'_>, code: &Code, offset: u64) -> Option<Self> {
        let mut position = heap.position_at(code.positions(heap)?, offset)?;
        let mut inlined = Vec::new();
        while let Some(inlining) = position.inlining().filter(|_| inlined.len() < MAX_DEPTH) {
            let (shared, caller) = Tables::load(heap, code)?.inlining(heap, inlining)?;
            inlined.push(Inlined { shared, script_offset: position.script_offset() });
            position = caller;
        }
        Some(Self { inlined, script_offset: position.script_offset() })
    }
}

/// The function that some optimized code is of.
pub fn optimized_function(heap: &Heap<'_>, code: &Code) -> Option<Shared> {
    let data = code.deoptimization(heap)?;
    let shared = heap.element(data, heap.layout.offsets.deopt_shared)?;
    Shared::load(heap, heap.object(shared)?)
}

impl Tables {
    fn load(heap: &Heap<'_>, code: &Code) -> Option<Self> {
        let (data, offsets) = (code.deoptimization(heap)?, &heap.layout.offsets);
        let literals = heap.object(heap.element(data, offsets.deopt_literals)?)?;
        let positions = heap.object(heap.element(data, offsets.deopt_positions)?)?;
        heap.is_byte_array(positions).then_some(Self { literals, positions })
    }

    /// The function of an inlining, and where it was called.
    fn inlining(&self, heap: &Heap<'_>, index: u64) -> Option<(Shared, Position)> {
        let start = index.checked_mul(INLINING_SIZE)?;
        let end = start.checked_add(INLINING_SIZE)?;
        (end <= heap.length(self.positions)?).then_some(())?;
        let at = start.checked_add(16)?;
        let position = Position(heap.word(self.positions.at, at)?);
        let literal = heap.uint(self.positions.at, at.checked_add(8)?, 4)?;
        let shared: Tagged = heap.element(self.literals, literal)?;
        Some((Shared::load(heap, heap.object(shared)?)?, position))
    }
}
