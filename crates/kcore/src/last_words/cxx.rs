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

use kcore_mem::Addr;
use kcore_runtimes::Fate;

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
const MAX_NAME: usize = 4096;
const MAX_WHAT: usize = 16 << 10;
/// Base classes that are followed.
const MAX_BASES: usize = 16;
/// Classes of the standard library whose first member behind the vtable is the text of `what()`.
const WITH_TEXT: [&str; 2] = ["St13runtime_error", "St11logic_error"];

/// The exception, if the stack is one of `std::terminate`.
pub fn find(core: &Core, frames: &[DyingFrame]) -> Option<LastWords> {
    let names = ["std::terminate", "__cxxabiv1::__terminate", "__cxa_throw", "__cxa_rethrow"];
    frame_of(frames, &names)?;
    let start = frames.first()?.frame.sp?;
    let end = frames.last()?.frame.cfa.unwrap_or_else(|| start.saturating_add(MAX_WORDS));
    let words = end.offset_from(start)?.min(MAX_WORDS.saturating_mul(8)) / 8;
    (0..words).find_map(|index| {
        let slot = start.checked_add(index.checked_mul(8)?)?;
        exception_at(core, core.space().read_addr(slot).ok()?)
    })
}

/// The exception whose `_Unwind_Exception` lies at `at`, if one does.
fn exception_at(core: &Core, at: Addr) -> Option<LastWords> {
    let space = core.space();
    let at = primary(core, at)?;
    let type_info = space.read_addr(Addr::new(at.get().checked_sub(TYPE_BELOW)?)).ok()?;
    let name = type_name(core, type_info)?;
    let object = at.checked_add(OBJECT_ABOVE)?;
    let type_name = kcore_symbols::demangle_type(name.as_bytes());
    let what = what(core, type_info, object);
    Some(LastWords::Exception {
        fate: Fate::Uncaught,
        type_name,
        what,
        signal: None,
        object: None,
        trace: Vec::new(),
    })
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

/// The mangled name in a `std::type_info`: its second word points to it. A leading `*` says that
/// names are compared by address, and is no part of it.
fn type_name(core: &Core, type_info: Addr) -> Option<String> {
    let name = core.space().read_addr(type_info.checked_add(8)?).ok()?;
    let bytes = core.space().read_cstr(name, MAX_NAME).ok()?;
    let name = String::from_utf8(bytes).ok()?;
    let name = name.strip_prefix('*').unwrap_or(&name);
    (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic())).then(|| name.to_owned())
}

/// The text of `what()`, for classes that derive by single inheritance from one that keeps it
/// behind its vtable pointer.
fn what(core: &Core, type_info: Addr, object: Addr) -> Option<String> {
    let mut class = type_info;
    for _ in 0..MAX_BASES {
        if WITH_TEXT.contains(&type_name(core, class)?.as_str()) {
            let text = core.space().read_addr(object.checked_add(8)?).ok()?;
            let text = core.space().read_cstr(text, MAX_WHAT).ok()?;
            return Some(String::from_utf8_lossy(&text).into_owned());
        }
        class = single_base(core, class)?;
    }
    None
}

/// The base in a `__si_class_type_info`, whose third word points to it. Other kinds of
/// `type_info` are told apart by the symbol of their vtable.
fn single_base(core: &Core, class: Addr) -> Option<Addr> {
    let vtable = core.space().read_addr(class).ok()?;
    let symbol = core.symbols().at(vtable.wrapping_offset(-1))?;
    let is_single = symbol.name.contains("__si_class_type_info");
    is_single.then(|| core.space().read_addr(class.checked_add(16)?).ok())?
}
