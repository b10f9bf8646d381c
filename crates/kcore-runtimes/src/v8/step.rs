//! The way out of frames of V8's code.
//!
//! Compiled code and builtins have no call frame information; all keep the frame pointer, once their
//! prologue ran. Where C++ called JavaScript, `JSEntry` saved the registers that C++ wants back
//! (`src/builtins/x64/builtins-x64.cc`, `Generate_JSEntryVariant`).

use kcore_mem::{Addr, CodeAddr};
use kcore_unwind::{RegisterId, Regs, RuleFrame, RuleStep};

use super::{
    Code, Heap,
    frame::{FrameSlots, Shape},
};
use crate::Host;

const RBX: RegisterId = RegisterId(3);
const RBP: RegisterId = RegisterId(6);
const RSP: RegisterId = RegisterId(7);

/// What `JSEntry` saved, by offset from the frame pointer.
const SAVED_BY_ENTRY: [(RegisterId, i64); 5] = [
    (RegisterId(12), -24),
    (RegisterId(13), -32),
    (RegisterId(14), -40),
    (RegisterId(15), -48),
    (RBX, -56),
];

/// `push rbp; mov rbp, rsp`, with which compiled code makes its frame.
const MAKES_FRAME: [u8; 4] = [0x55, 0x48, 0x89, 0xe5];
/// It does so within so many bytes.
const MAX_PROLOGUE: u64 = 128;

/// The step out of `frame`, which runs V8's code. `caller` becomes the registers of its caller.
pub fn step(
    heap: &Heap<'_>,
    host: &dyn Host,
    frame: &RuleFrame<'_>,
    caller: &mut Regs,
) -> Option<RuleStep> {
    let interrupted = matches!(frame.pc, CodeAddr::Pc(_));
    let early = interrupted.then(|| step_without_frame(heap, host, frame.regs)).flatten();
    let (found, cfa) = early.or_else(|| step_by_frame(heap, frame.regs))?;
    *caller = found;
    caller.set(RSP, Some(cfa.get()));
    Some(RuleStep::Caller { cfa, interrupted: false })
}

/// The registers of a caller but for its stack pointer, which is the CFA beside them.
type Caller = (Regs, Addr);

/// Out of a frame that the frame pointer points to.
fn step_by_frame(heap: &Heap<'_>, regs: &Regs) -> Option<Caller> {
    let fp = Addr::new(regs.get(RBP)?);
    let slots = FrameSlots(fp);
    let shape = slots.shape(heap);
    (shape != Shape::Unknown).then_some(())?;
    let mut caller = regs.with_pc(Addr::new(slots.word(heap, 8)?));
    caller.set(RBP, Some(slots.word(heap, 0)?));
    if is_entry(heap, shape) {
        for (register, offset) in SAVED_BY_ENTRY {
            caller.set(register, slots.word(heap, offset));
        }
    }
    Some((caller, fp.checked_add(16)?))
}

fn is_entry(heap: &Heap<'_>, shape: Shape) -> bool {
    let frames = &heap.layout.frames;
    matches!(shape, Shape::Typed(kind) if [frames.entry, frames.construct_entry].contains(&kind))
}

/// Out of code that was stopped while the frame pointer was its caller's.
fn step_without_frame(heap: &Heap<'_>, host: &dyn Host, regs: &Regs) -> Option<Caller> {
    let sp = Addr::new(regs.get(RSP)?);
    let Some(code) = Code::at(heap, host, regs.pc()) else {
        return step_out_of_leaf(heap, host, regs, sp);
    };
    match progress(heap, &code, regs.pc())? {
        Progress::NoFrame => return_to(heap, *regs, sp),
        Progress::Pushed => {
            let mut caller = *regs;
            caller.set(RBP, Some(heap.word(sp, 0)?));
            return_to(heap, caller, sp.checked_add(8)?)
        }
        Progress::HasFrame => None,
    }
}

/// A builtin without a frame has its return address on top of the stack; it is known by lying in
/// compiled code.
fn step_out_of_leaf(heap: &Heap<'_>, host: &dyn Host, regs: &Regs, sp: Addr) -> Option<Caller> {
    let to = CodeAddr::Return(Addr::new(heap.word(sp, 0)?));
    Code::at(heap, host, to.lookup())?;
    (sp.get() < regs.get(RBP)?).then(|| return_to(heap, *regs, sp))?
}

fn return_to(heap: &Heap<'_>, regs: Regs, sp: Addr) -> Option<Caller> {
    Some((regs.with_pc(Addr::new(heap.word(sp, 0)?)), sp.checked_add(8)?))
}

/// How far compiled code has come with its frame.
enum Progress {
    NoFrame,
    Pushed,
    HasFrame,
}

fn progress(heap: &Heap<'_>, code: &Code, pc: Addr) -> Option<Progress> {
    let (start, at) = (code.instructions.start, code.offset(pc)?);
    let rest = code.instructions.len().saturating_sub(at);
    let next = heap.space.read_held(pc, rest.min(3));
    // `ret`, alone or with bytes to drop.
    if matches!(next.as_slice(), [0xc3 | 0xc2, ..]) {
        return Some(Progress::NoFrame);
    }
    let prologue = heap.space.read_held(start, code.instructions.len().min(MAX_PROLOGUE));
    let makes = prologue.windows(MAKES_FRAME.len()).position(|bytes| bytes == MAKES_FRAME)?;
    let makes = makes as u64;
    Some(match at {
        _ if at <= makes => Progress::NoFrame,
        _ if at == makes.saturating_add(1) => Progress::Pushed,
        _ => Progress::HasFrame,
    })
}
