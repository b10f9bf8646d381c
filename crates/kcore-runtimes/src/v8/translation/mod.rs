//! What the frame of optimized code stands for: the functions that it runs, on what, and where they are.
//!
//! V8 keeps that for every call, to leave the code when it has to: a safepoint says by the return
//! address which entry of the deoptimization data counts, the entry where its translation begins
//! (`src/objects/deoptimization-data.h`), and the translation makes frames, the outermost one first
//! (`src/deoptimizer/translated-state.cc`). Stack traces are made of the same
//! (`OptimizedJSFrame::Summarize` in `src/execution/frames.cc`).

mod commands;
mod safepoints;
mod stepped;

use kcore_mem::Addr;

use super::{
    Code, CodeKind, Function, Heap, call_site::Receiver, frame::FrameSlots, function::Shared,
    heap::Object, layout::Command,
};
use commands::{Commands, Operands};

/// Frames that one translation makes, at most.
const MAX_FRAMES: i64 = 256;
/// Objects that are held by objects that were never made, at most.
const MAX_DEPTH: usize = 32;
/// Bytes of translations of one piece of code, at most.
const MAX_BYTES: u64 = 1 << 20;
/// Entries begin so many elements behind the inlining positions.
const ENTRIES_BEHIND_POSITIONS: u64 = 4;
/// Elements of an entry: where in the bytecode, where the translation begins, where in the code.
const ENTRY_ELEMENTS: u64 = 3;

/// A frame that optimized code stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Translated {
    /// What its function shares with others.
    pub shared: Shared,
    /// The function, where there is one in memory.
    pub function: Option<Function>,
    /// What it was called on, where that is told.
    pub receiver: Option<Receiver>,
    /// Whether it was called by `new`.
    pub is_construct: bool,
    /// The offset in its script; `None` of a builtin.
    pub script_offset: Option<u64>,
}

/// The frames that a frame of optimized code stands for, innermost first; `None` where that is not told,
/// as where the code was stopped at no call.
pub fn translated(
    heap: &Heap<'_>,
    code: &Code,
    return_address: Addr,
    slots: FrameSlots,
) -> Option<Vec<Translated>> {
    [CodeKind::Maglev, CodeKind::Turbofan].contains(&code.kind).then_some(())?;
    let index = safepoints::deoptimization_index(heap, code, return_address)?;
    let (data, offsets) = (code.deoptimization(heap)?, &heap.layout.offsets);
    let first = offsets.deopt_positions.checked_add(ENTRIES_BEHIND_POSITIONS)?;
    let entry = first.checked_add(index.checked_mul(ENTRY_ELEMENTS)?)?;
    let start = heap.element(data, entry.checked_add(1)?)?.smi()?;
    let literals = heap.object(heap.element(data, offsets.deopt_literals)?)?;
    let bytes = heap.object(heap.element(data, 0)?).filter(|it| heap.is_byte_array(*it))?;
    let bytes = heap.bytes(bytes, MAX_BYTES)?;
    let commands = Commands::new(heap.layout.column, &bytes, usize::try_from(start).ok()?);
    Translation { heap, literals, slots, commands, objects: Vec::new() }.frames()
}

/// A translation that is read.
struct Translation<'h, 'a, 'b> {
    heap: &'h Heap<'a>,
    literals: Object,
    slots: FrameSlots,
    commands: Commands<'b>,
    /// What later commands may call a duplicate of, in the order in which it came.
    objects: Vec<Option<Receiver>>,
}

/// A value: `None` where it is not told what it is.
type KnownReceiver = Option<Receiver>;

impl Translation<'_, '_, '_> {
    fn frames(mut self) -> Option<Vec<Translated>> {
        let mut rest = self.commands.begin()?.min(MAX_FRAMES);
        let (mut frames, mut is_construct) = (Vec::new(), false);
        while rest > 0 {
            let (command, operands) = self.commands.next()?;
            match command {
                Command::Function(_) => {
                    let offset = u64::try_from(operands.signed(0)).ok();
                    frames.push(self.frame(operands.signed(1), offset, is_construct)?);
                }
                Command::Builtin => {
                    frames.push(self.frame(operands.signed(1), None, is_construct)?)
                }
                Command::Construct(_) | Command::Frame(_) => {}
                _ => {
                    self.value(command, operands, MAX_DEPTH)?;
                    continue;
                }
            }
            is_construct = matches!(command, Command::Construct(_));
            rest = rest.checked_sub(1)?;
        }
        frames.reverse();
        Some(frames)
    }

    /// A frame, whose first values are its function and what that was called on.
    fn frame(
        &mut self,
        literal: i64,
        offset: Option<u64>,
        is_construct: bool,
    ) -> Option<Translated> {
        let heap = self.heap;
        let Some(Receiver::Value(shared)) = self.literal(literal) else { return None };
        let shared = Shared::load(heap, heap.object(shared)?)?;
        let function = match self.next_value(MAX_DEPTH)? {
            Some(Receiver::Value(value)) => Function::load(heap, value),
            _ => None,
        };
        // Else it was read amiss.
        function.is_none_or(|function| function.shared == shared).then_some(())?;
        let receiver = self.next_value(MAX_DEPTH)?;
        let script_offset = || {
            let bytecode = shared.bytecode(heap)?;
            heap.bytecode_position(bytecode, offset?)?.script_offset()
        };
        let script_offset = script_offset();
        Some(Translated { shared, function, receiver, is_construct, script_offset })
    }

    fn next_value(&mut self, depth: usize) -> Option<KnownReceiver> {
        let (command, operands) = self.commands.next()?;
        self.value(command, operands, depth)
    }

    /// The value that a command begins, with all that it holds; `None` where no value can be.
    fn value(
        &mut self,
        command: Command,
        operands: Operands,
        depth: usize,
    ) -> Option<KnownReceiver> {
        Some(match command {
            Command::Literal => self.literal(operands.signed(0)),
            Command::Slot => self.slot(operands.signed(0)),
            Command::Number => Some(Receiver::Primitive("Number")),
            Command::Boolean => Some(Receiver::Primitive("Boolean")),
            Command::BigInt => Some(Receiver::Primitive("BigInt")),
            Command::Unknown(_) | Command::Feedback => None,
            Command::Elements => self.remember(None),
            Command::Duplicated => {
                let index = usize::try_from(operands.signed(0)).ok()?;
                let told = self.objects.get(index).copied()?;
                self.remember(told)
            }
            Command::Concatenated => {
                let told = self.remember(Some(Receiver::Primitive("String")));
                self.held(2, depth)?;
                told
            }
            Command::Captured => self.captured(operands.signed(0), depth)?,
            _ => return None,
        })
    }

    fn remember(&mut self, told: KnownReceiver) -> KnownReceiver {
        self.objects.push(told);
        told
    }

    /// An object that was never made, of which only the map is in memory: the first of its fields.
    fn captured(&mut self, fields: i64, depth: usize) -> Option<KnownReceiver> {
        let index = self.objects.len();
        self.objects.push(None);
        let map = self.held(fields, depth)?;
        let told = map.and_then(|map| Receiver::of_map(self.heap, map));
        *self.objects.get_mut(index)? = told;
        Some(told)
    }

    /// Values that another one holds: the first of them.
    fn held(&mut self, count: i64, depth: usize) -> Option<KnownReceiver> {
        let depth = depth.checked_sub(1)?;
        let mut first = None;
        for index in 0..count {
            let told = self.next_value(depth)?;
            if index == 0 {
                first = told;
            }
        }
        Some(first)
    }

    fn literal(&self, index: i64) -> KnownReceiver {
        let literal = self.heap.element(self.literals, u64::try_from(index).ok()?)?;
        Some(Receiver::Value(literal))
    }

    /// A slot, counted down from the return address: those of what the caller pushed are negative.
    /// `OptimizedJSFrame::StackSlotOffsetRelativeToFp`.
    fn slot(&self, index: i64) -> KnownReceiver {
        let offset = index.checked_add(1)?.checked_mul(-8)?.checked_add(16)?;
        self.slots.tagged(self.heap, offset).map(Receiver::Value)
    }
}
