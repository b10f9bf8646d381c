//! The messages of panics that were being unwound.
//!
//! A panic travels as an exception of the Itanium C++ ABI (`library/panic_unwind/src/gcc.rs`):
//! `_Unwind_Exception` of 32 bytes, whose first are the class, the address of a static as a
//! canary, then the payload, a `Box<dyn Any>`: data and vtable (seen in Rust 1.95). The unwinder
//! keeps the address of the exception on the stack.

use kcore_mem::Addr;
use rustc_hash::FxHashSet;

use crate::Core;

/// The class as its bytes stand in memory.
const CLASS: [u8; 8] = *b"MOZ\0RUST";
const CANARY: u64 = 32;
const PAYLOAD: u64 = 40;
const VTABLE: u64 = 48;
/// Offset of the size of the payload in its vtable, behind the destructor.
const VTABLE_SIZE: u64 = 8;
/// Size of a `&'static str`, the payload of `panic!("text")`.
const STR_SIZE: u64 = 16;
/// Size of a `String`, the payload of `panic!("text {}", argument)`.
const STRING_SIZE: u64 = 24;
const MAX_TEXT: u64 = 16 << 10;

/// The messages of the exceptions to which the words of `stack`, which begins at `start`, point.
/// The latest comes first: its unwinder ran further in.
pub fn find(core: &Core, start: Addr, stack: &[u8]) -> Vec<String> {
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
    found.into_iter().filter_map(|exception| message(core, exception)).collect()
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

/// The text of a payload. Any type may be one; only those of a text's size that hold a text count.
fn message(core: &Core, exception: Addr) -> Option<String> {
    let payload = field(core, exception, PAYLOAD)?;
    let size = field(core, field(core, exception, VTABLE)?, VTABLE_SIZE)?.get();
    let words: Vec<u64> = (0..size / 8)
        .take(3)
        .filter_map(|index| Some(field(core, payload, index.checked_mul(8)?)?.get()))
        .collect();
    match (size, words.as_slice()) {
        (STR_SIZE, [start, len]) => text(core, *start, *len),
        // The compiler orders the fields: the length is always behind, capacity and start not.
        (STRING_SIZE, [a, b, len]) => text(core, *b, *len).or_else(|| text(core, *a, *len)),
        _ => None,
    }
}

fn text(core: &Core, start: u64, len: u64) -> Option<String> {
    let len = usize::try_from(Some(len).filter(|len| (1..=MAX_TEXT).contains(len))?).ok()?;
    let mut bytes = vec![0; len];
    core.space().read(Addr::new(start), &mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}
