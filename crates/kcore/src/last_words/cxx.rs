//! The C++ exception for which `std::terminate` was called.
//!
//! A thrown object lies behind a header of the Itanium C++ ABI (libstdc++
//! `libsupc++/unwind-cxx.h`, libc++abi `src/cxa_exception.h`, the same on 64-bit machines): 80
//! bytes of `__cxa_exception`, of which the first word is the `std::type_info`, then the
//! `_Unwind_Exception`, whose first word is its class, then the object. The machinery that failed to
//! find a handler keeps the address of the `_Unwind_Exception` on the stack.
//!
//! `std::rethrow_exception` throws a `__cxa_dependent_exception` of the same size, which has no object of its own:
//! it points to that of the primary exception, and its class ends in 1.

mod barrier;
mod type_info;
mod value;

use kcore_mem::Addr;
use kcore_runtimes::Fate;

pub(super) use self::barrier::stopped_by;
use self::type_info::{TypeInfo, base};
use super::{DyingFrame, LastWords, frame_of};
use crate::Core;

/// Class of a primary exception of libstdc++ (`GNUCC++\0`) and of libc++abi (`CLNGC++\0`).
const CLASSES: [u64; 2] = [0x474e_5543_432b_2b00, 0x434c_4e47_432b_2b00];
/// Class of a dependent exception, and the way from its `_Unwind_Exception` back to the address of the primary object:
/// its first word for libstdc++ (`GNUCC++\1`), the word before that for libc++abi (`CLNGC++\1`).
const DEPENDENT: [(u64, u64); 2] = [(0x474e_5543_432b_2b01, 80), (0x434c_4e47_432b_2b01, 88)];
/// From the `_Unwind_Exception` back to the type, and on to the object.
const TYPE_BELOW: u64 = 80;
const OBJECT_ABOVE: u64 = 32;
/// Stack that is searched, in words.
const MAX_WORDS: u64 = 16 << 10;
/// Exceptions of which one came of the next that are told.
const MAX_NESTED: usize = 8;
/// What `std::throw_with_nested` adds to an exception, and from there to the address of the object that it carries
/// (libstdc++ `nested_exception.h`, libc++ `exception`).
const NESTED: &str = "St16nested_exception";
const CARRIED: u64 = 8;
/// The function that looks for handlers, and those that call it to unwind.
const PERSONALITY: &str = "__gxx_personality_v0";

/// The exception, if the stack is one of `std::terminate`, behind those of which it came.
pub fn find(core: &Core, frames: &[DyingFrame]) -> Vec<LastWords> {
    let Some(exception) = thrown(core, frames) else { return Vec::new() };
    let mut found: Vec<LastWords> = nested(core, exception).collect();
    found.reverse();
    found.extend(exception_at(core, exception, Fate::Uncaught));
    found
}

/// The `_Unwind_Exception` of the exception for which a stack ends.
fn thrown(core: &Core, frames: &[DyingFrame]) -> Option<Addr> {
    let names = ["std::terminate", "__cxxabiv1::__terminate", "__cxa_throw", "__cxa_rethrow"];
    if frame_of(frames, &names).is_none() && !is_refused(frames) {
        return None;
    }
    let start = frames.first()?.frame.sp?;
    let end = frames.last()?.frame.cfa.unwrap_or_else(|| start.saturating_add(MAX_WORDS));
    let words = end.offset_from(start)?.min(MAX_WORDS.saturating_mul(8)) / 8;
    (0..words).find_map(|index| {
        let slot = start.checked_add(index.checked_mul(8)?)?;
        let at = core.space().read_addr(slot).ok()?;
        exception_at(core, at, Fate::Uncaught).map(|_| at)
    })
}

/// Whether the function that looks for handlers has ended the process.
fn is_refused(frames: &[DyingFrame]) -> bool {
    let mut functions = frames.iter().map(|frame| &*frame.function);
    functions.any(|name| name == "abort") && functions.any(|name| name == PERSONALITY)
}

/// The exceptions that one carries, one in the other: `std::nested_exception`.
fn nested(core: &Core, exception: Addr) -> impl Iterator<Item = LastWords> + '_ {
    let next = move |at: &Addr| {
        let at = primary(core, *at)?;
        let (class, object) = (type_of(core, at)?, at.checked_add(OBJECT_ABOVE)?);
        let part = base(core, class, object, &[NESTED])?;
        let carried = core.space().read_addr(part.checked_add(CARRIED)?).ok()?;
        let inner = Addr::new(carried.get().checked_sub(OBJECT_ABOVE)?);
        (inner != at).then_some(inner)
    };
    let chain = std::iter::successors(next(&exception), next).take(MAX_NESTED);
    chain.map_while(move |at| exception_at(core, at, Fate::Nested))
}

/// The exception whose `_Unwind_Exception` lies at `at`, if one does.
fn exception_at(core: &Core, at: Addr, fate: Fate) -> Option<LastWords> {
    let at = primary(core, at)?;
    let class = type_of(core, at)?;
    let name = class.name(core)?;
    let object = at.checked_add(OBJECT_ABOVE)?;
    let type_name = kcore_symbols::demangle_type(name.as_bytes());
    let what = value::what(core, class, object).or_else(|| value::plain(core, &name, object));
    Some(LastWords::Exception {
        fate,
        type_name,
        what,
        signal: None,
        object: None,
        trace: Vec::new(),
    })
}

/// The type of the exception whose `_Unwind_Exception` lies at `at`.
fn type_of(core: &Core, at: Addr) -> Option<TypeInfo> {
    let below = Addr::new(at.get().checked_sub(TYPE_BELOW)?);
    core.space().read_addr(below).ok().map(TypeInfo)
}

/// The `_Unwind_Exception` of the primary exception, of one that may lie at `at`.
fn primary(core: &Core, at: Addr) -> Option<Addr> {
    let class = |at: Addr| {
        let is_aligned = at.get().is_multiple_of(8);
        is_aligned.then(|| core.space().read_word(at).ok()).flatten()
    };
    let found = class(at)?;
    if CLASSES.contains(&found) {
        return Some(at);
    }
    let (_, below) = DEPENDENT.iter().find(|(class, _)| *class == found)?;
    let object = core.space().read_addr(Addr::new(at.get().checked_sub(*below)?)).ok()?;
    let primary = Addr::new(object.get().checked_sub(OBJECT_ABOVE)?);
    CLASSES.contains(&class(primary)?).then_some(primary)
}
