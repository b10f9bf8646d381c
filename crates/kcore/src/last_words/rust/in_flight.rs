//! The panics that were being unwound.
//!
//! A panic travels as an exception of the Itanium C++ ABI (`library/panic_unwind/src/gcc.rs`):
//! `_Unwind_Exception` of 32 bytes, whose first are the class, the address of a static as a
//! canary, then the payload, a `Box<dyn Any>`: data and vtable (seen in Rust 1.95). The unwinder
//! keeps the address of the exception on the stack, where what is called later may overwrite it. The exception itself
//! says which frame it is unwound into: its second private word is the stack pointer of that frame (libgcc 12,
//! `unwind.inc`, `_Unwind_RaiseException`; LLVM 14, `UnwindLevel1.c`).

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::Frame;
use rustc_hash::FxHashSet;

use super::payload::TraitObject;
use crate::{
    AccessKind, Core, Panic,
    search::{UnitSize, ValuePattern},
};

/// The class as its bytes stand in memory.
const CLASS: [u8; 8] = *b"MOZ\0RUST";
const HANDLER: u64 = 24;
const CANARY: u64 = 32;
const PAYLOAD: u64 = 40;
const VTABLE: u64 = 48;
/// Bytes of memory that are searched for an exception, at most.
const MAX_SEARCHED: u64 = 256 << 20;

/// The panics that are the exceptions to which the words of `stack`, which begins at `start`, point.
/// The latest comes first: its unwinder ran further in.
pub fn find(core: &Core, start: Addr, stack: &[u8]) -> Vec<Panic> {
    let word = usize::from(core.target().word);
    if word != 8 || !start.get().is_multiple_of(8) {
        return Vec::new();
    }
    let words = stack.chunks_exact(word).map(|bytes| core.target().uint(bytes));
    let exceptions: Vec<Addr> = words.map(Addr::new).filter(|at| is_exception(core, *at)).collect();
    // An address further in may be left from before: the outermost place of each counts.
    let mut seen = FxHashSet::default();
    let mut found: Vec<Addr> =
        exceptions.into_iter().rev().filter(|exception| seen.insert(*exception)).collect();
    found.reverse();
    found.into_iter().filter_map(|exception| panic_of(core, exception)).collect()
}

/// The panic that was unwound into a frame, wherever in writable memory its exception lies; `None` where that holds none,
/// or several that say so.
pub fn into_frame(core: &Core, frame: &Frame) -> Option<Panic> {
    let (sp, cfa) = frame.sp.zip(frame.cfa)?;
    let is_into = |at: Addr| {
        let handler = field(core, at, HANDLER);
        is_exception(core, at) && handler.is_some_and(|handler| sp <= handler && handler < cfa)
    };
    let class = core.target().uint(&CLASS);
    let matches = writable(core)
        .into_iter()
        .flat_map(|range| {
            core.memory().search(ValuePattern::exactly(class), UnitSize::Eight, range)
        })
        .flat_map(|batch| batch.matches);
    let found: Vec<Addr> = matches.map(|found| found.addr).filter(|at| is_into(*at)).collect();
    match found.as_slice() {
        [exception] => panic_of(core, *exception),
        _ => None,
    }
}

/// Writable mappings, as many as are searched.
fn writable(core: &Core) -> Vec<AddrRange> {
    let mut left = MAX_SEARCHED;
    let mappings = core.mappings().iter();
    let writable = mappings.filter(|it| it.permits(AccessKind::Write) == Some(true));
    let fits = |range: &AddrRange| {
        let rest = left.checked_sub(range.len());
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    writable.map(|mapping| mapping.range).filter(fits).collect()
}

fn is_exception(core: &Core, at: Addr) -> bool {
    let mut class = [0; 8];
    at.get().is_multiple_of(8)
        && core.space().read(at, &mut class).is_ok()
        && class == CLASS
        && field(core, at, CANARY).is_some_and(|canary| core.modules().at(canary).is_some())
}

fn field(core: &Core, base: Addr, offset: u64) -> Option<Addr> {
    core.space().read_addr(base.checked_add(offset)?).ok()
}

/// The panic that an exception is.
fn panic_of(core: &Core, exception: Addr) -> Option<Panic> {
    let (value, table) = (field(core, exception, PAYLOAD)?, field(core, exception, VTABLE)?);
    Some(TraitObject::new(core, value.get(), table.get())?.panic(core))
}
