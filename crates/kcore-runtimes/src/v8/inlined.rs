//! Functions that optimized code holds inside of others.
//!
//! What V8 keeps to leave the code tells them as V8's own stack traces do. Where it was stopped at no
//! call, source positions do, but not what functions were called on:
//! `src/objects/deoptimization-data.h`: the source position of an instruction says from which inlining
//! it comes; an inlining, which function that was and at which position it was called.

use kcore_mem::CodeAddr;

use super::{
    Code, Function, Heap, Tagged,
    call_site::Receiver,
    frame::FrameSlots,
    function::Shared,
    heap::Object,
    positions::Position,
    translation::{Translated, translated},
};

/// Inlined functions that lie inside of each other, at most.
const MAX_DEPTH: usize = 64;
/// An `InliningPosition`: a position, u64, and the index of a literal, i32.
const INLINING_SIZE: u64 = 16;
/// Literals of code that are looked at, at most.
const MAX_LITERALS: u64 = 1 << 12;
/// Longer than any name that is looked for in source text.
const MAX_WORD: u64 = 16;
/// Builtins that are inlined, and the functions that they call.
const ARRAY_BUILTINS: [&str; 9] =
    ["every", "filter", "find", "findIndex", "forEach", "map", "reduce", "reduceRight", "some"];

/// How an inlined function was called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InlinedCall {
    /// V8 tells it.
    Told {
        /// The function, where there is one in memory.
        function: Option<Function>,
        /// What it was called on.
        receiver: Option<Receiver>,
        /// Whether it was called by `new`.
        is_construct: bool,
    },
    /// As any, as far as its caller's source and tables tell.
    Plain,
    /// By `new`, or as the constructor of a base class.
    Construct,
    /// It is a builtin of arrays that calls what it was given.
    ArrayBuiltin,
}

/// A function at a position in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inlined {
    /// The function.
    pub shared: Shared,
    /// The position in its script.
    pub script_offset: Option<u64>,
    /// How it was called.
    pub call: InlinedCall,
}

/// What is inlined at an instruction of optimized code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlinings {
    /// The inlined functions, innermost first.
    pub inlined: Vec<Inlined>,
    /// Where the function itself is, in its script.
    pub script_offset: Option<u64>,
}

impl From<Translated> for Inlined {
    fn from(frame: Translated) -> Self {
        let Translated { shared, function, receiver, is_construct, script_offset } = frame;
        let call = InlinedCall::Told { function, receiver, is_construct };
        Self { shared, script_offset, call }
    }
}

/// The tables of some optimized code.
#[derive(Clone, Copy)]
struct Tables {
    literals: Object,
    positions: Object,
}

impl Inlinings {
    /// Those of a frame of `function` that called another, as V8 would make them to leave the code.
    pub fn told(
        heap: &Heap<'_>,
        code: &Code,
        pc: CodeAddr,
        slots: FrameSlots,
        function: Shared,
    ) -> Option<Self> {
        let CodeAddr::Return(to) = pc else { return None };
        let mut frames = translated(heap, code, to, slots)?;
        let own = frames.pop().filter(|own| own.shared == function)?;
        frames.retain(|frame| frame.shared.is_visible(heap));
        let inlined = frames.into_iter().map(Inlined::from).collect();
        Some(Self { inlined, script_offset: own.script_offset })
    }

    /// Those at the instruction that is `offset` bytes into the code of `function`.
    pub fn at(heap: &Heap<'_>, code: &Code, offset: u64, function: Shared) -> Option<Self> {
        let mut position = heap.position_at(code.positions(heap)?, offset)?;
        let mut found: Vec<(Shared, Option<u64>)> = Vec::new();
        let tables = Tables::load(heap, code);
        while let Some(inlining) = position.inlining().filter(|_| found.len() < MAX_DEPTH) {
            let (shared, caller) = tables?.inlining(heap, inlining)?;
            found.push((shared, position.script_offset()));
            position = caller;
        }
        let script_offset = position.script_offset();
        let callers = found.iter().skip(1).copied().chain([(function, script_offset)]);
        let inlined = found.iter().zip(callers).flat_map(|((shared, script_offset), caller)| {
            let call = tables.map(|tables| Call { heap, tables, callee: *shared, caller });
            let kind = call.as_ref().map_or(InlinedCall::Plain, Call::kind);
            let inlined = Inlined { shared: *shared, script_offset: *script_offset, call: kind };
            [Some(inlined), call.and_then(|call| call.array_builtin())]
        });
        Some(Self { inlined: inlined.flatten().collect(), script_offset })
    }
}

/// The call of an inlined function. Positions of calls are those of their callee's name, and of `new`
/// that of the word.
struct Call<'h, 'a> {
    heap: &'h Heap<'a>,
    tables: Tables,
    callee: Shared,
    caller: (Shared, Option<u64>),
}

impl Call<'_, '_> {
    fn kind(&self) -> InlinedCall {
        let constructs = self.callee.is_class_constructor(self.heap)
            || matches!(self.word().as_deref(), Some("new" | "super"));
        if constructs { InlinedCall::Construct } else { InlinedCall::Plain }
    }

    /// The builtin of arrays that stands between caller and callee: it is no inlined function itself,
    /// but it is among the literals, to go on where the code is left.
    /// `JSCallReducer` in `src/compiler/js-call-reducer.cc`
    fn array_builtin(&self) -> Option<Inlined> {
        let word = self.word()?;
        let is_called_so = self.callee.debug_name(self.heap).is_some_and(|name| name == word);
        (ARRAY_BUILTINS.contains(&&*word) && !is_called_so).then_some(())?;
        let shared = self.tables.builtin(self.heap, &word)?;
        Some(Inlined { shared, script_offset: None, call: InlinedCall::ArrayBuiltin })
    }

    /// The word of the source at which the caller is.
    fn word(&self) -> Option<String> {
        let (shared, offset) = self.caller;
        let source = shared.script(self.heap)?.source(self.heap)?;
        let units = self.heap.units(source, offset?, MAX_WORD)?;
        let is_part =
            |unit: &u16| u8::try_from(*unit).is_ok_and(|byte| byte.is_ascii_alphanumeric());
        Some(String::from_utf16_lossy(units.split(|unit| !is_part(unit)).next()?))
    }
}

impl Tables {
    fn load(heap: &Heap<'_>, code: &Code) -> Option<Self> {
        let (data, offsets) = (code.deoptimization(heap)?, &heap.layout.offsets);
        let literals = heap.object(heap.element(data, offsets.deopt_literals)?)?;
        let positions = heap.object(heap.element(data, offsets.deopt_positions)?)?;
        heap.is_byte_array(positions).then_some(Self { literals, positions })
    }

    /// The builtin of this name among the literals.
    fn builtin(&self, heap: &Heap<'_>, name: &str) -> Option<Shared> {
        let count = heap.length(self.literals)?.min(MAX_LITERALS);
        let literals = (0..count).filter_map(|index| heap.element(self.literals, index));
        let mut shared = literals.filter_map(|literal| Shared::load(heap, heap.object(literal)?));
        shared.find(|shared| {
            shared.script(heap).is_none() && shared.name(heap).is_some_and(|found| found == name)
        })
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
