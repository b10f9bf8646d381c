//! Machine code that V8 made: which code holds an address, and what describes it.
//!
//! `src/objects/code.h`. Up to V8 10 a `Code` begins with what describes it and ends with the
//! instructions. Since V8 11 the instructions lie in an `InstructionStream` in executable memory, which
//! refers to a `Code` elsewhere.

use kcore_mem::{Addr, AddrRange};

use super::{Heap, heap::Object};
use crate::Host;

/// Code objects are no longer than this.
const MAX_CODE: u64 = 1 << 20;
/// The code kind, in the lowest bits of the flags.
const KIND: u64 = 0xf;
/// InstructionStream: the Code that describes it.
const STREAM_CODE: u64 = 8;

/// What compiled some code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeKind {
    /// Sparkplug: bytecode by bytecode, on the frame of the interpreter.
    Baseline,
    /// Maglev.
    Maglev,
    /// TurboFan.
    Turbofan,
    /// Something else: a builtin, a regular expression, WebAssembly's.
    Other,
}

/// Code in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code {
    /// What describes it.
    pub object: Object,
    /// The instructions.
    pub instructions: AddrRange,
    /// What compiled it.
    pub kind: CodeKind,
}

impl Code {
    /// The code that holds `pc`. For a return address the byte before it is asked for.
    pub fn at(heap: &Heap<'_>, host: &dyn Host, pc: Addr) -> Option<Self> {
        let mapping = host.range_at(pc).filter(|range| range.executable && !range.is_file)?;
        let lowest = pc.get().saturating_sub(MAX_CODE).max(mapping.range.start.get());
        let holder = (lowest..=pc.get() & !7)
            .rev()
            .step_by(8)
            .find_map(|at| Self::holder_at(heap, Addr::new(at)))?;
        let code = Self::load(heap, holder)?;
        code.instructions.contains(pc).then_some(code)
    }

    /// The object at `at`, if it is one that holds instructions.
    fn holder_at(heap: &Heap<'_>, at: Addr) -> Option<Object> {
        // Nearly all words before are instructions; few look like a pointer to a map.
        (heap.word(at, 0)? & 3 == 1).then_some(())?;
        let types = &heap.layout.types;
        let wanted = match heap.layout.has_instruction_streams() {
            true => types.instruction_stream,
            false => types.code,
        };
        heap.object_at(at).filter(|object| object.kind == wanted)
    }

    fn load(heap: &Heap<'_>, holder: Object) -> Option<Self> {
        let streams = heap.layout.has_instruction_streams();
        let object = match streams {
            true => heap.field_of(holder.at, STREAM_CODE, heap.layout.types.code)?,
            false => holder,
        };
        Self::of(heap, object)
    }

    /// The code that an object describes, if it describes any.
    pub fn of(heap: &Heap<'_>, object: Object) -> Option<Self> {
        (object.kind == heap.layout.types.code).then_some(())?;
        let offsets = &heap.layout.offsets;
        let start = match heap.layout.has_instruction_streams() {
            true => Addr::new(heap.word(object.at, offsets.code_start)?),
            false => object.at.checked_add(offsets.code_start)?,
        };
        let size = heap.uint(object.at, offsets.code_size, 4)?;
        let kind = CodeKind::load(heap, object)?;
        Some(Self { object, instructions: AddrRange::with_len(start, size), kind })
    }

    /// Bytes from its first instruction to `pc`.
    pub fn offset(&self, pc: Addr) -> Option<u64> {
        pc.offset_from(self.instructions.start)
    }

    /// Its source positions, or of baseline code the offsets of its bytecodes.
    pub fn positions(&self, heap: &Heap<'_>) -> Option<Object> {
        let table = heap.field(self.object.at, heap.layout.offsets.code_positions)?;
        heap.is_byte_array(table).then_some(table)
    }

    /// What it needs to go back to the interpreter.
    pub fn deoptimization(&self, heap: &Heap<'_>) -> Option<Object> {
        heap.field(self.object.at, heap.layout.offsets.code_deopt)
    }
}

impl CodeKind {
    /// What compiled the code that an object describes.
    pub fn load(heap: &Heap<'_>, code: Object) -> Option<Self> {
        let flags = heap.uint(code.at, heap.layout.offsets.code_flags, 4)?;
        Some(Self::of(heap, flags & KIND))
    }

    fn of(heap: &Heap<'_>, kind: u64) -> Self {
        let offsets = &heap.layout.offsets;
        match kind {
            0 => Self::Other,
            _ if kind == offsets.kind_baseline => Self::Baseline,
            _ if kind == offsets.kind_maglev => Self::Maglev,
            _ if kind == offsets.kind_turbofan => Self::Turbofan,
            _ => Self::Other,
        }
    }
}
