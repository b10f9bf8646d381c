//! The text of an exception: what `what()` gives where that needs no code of the program, or the value of a plain type.

use kcore_mem::Addr;

use super::type_info::{TypeInfo, base};
use crate::Core;

const MAX_WHAT: usize = 16 << 10;
const WORD: u64 = 8;
/// Classes of the standard library whose first member behind the vtable is the text of `what()`.
const WITH_TEXT: [&str; 2] = ["St13runtime_error", "St11logic_error"];
/// Where the vtable of `std::exception` has `what()`: behind two destructors.
const WHAT: u64 = 16;
/// The standard library's functions of that name that give more than that text.
const WITH_MORE: &str = "filesystem";
/// `std::string` of libstdc++.
const STRING: &str = "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";

/// The text of `what()`, for classes that derive from one that keeps it behind its vtable pointer and do not give another.
pub fn what(core: &Core, class: TypeInfo, object: Addr) -> Option<String> {
    let part = base(core, class, object, &WITH_TEXT)?;
    gives_own_text(core, part).then_some(())?;
    text(core, part.checked_add(WORD)?)
}

/// Whether `what()` of an object is not a function of the program.
fn gives_own_text(core: &Core, part: Addr) -> bool {
    let function = || {
        let vtable = core.space().read_addr(part).ok()?;
        let function = core.space().read_addr(vtable.checked_add(WHAT)?).ok()?;
        core.symbols().at(function)
    };
    function().is_none_or(|symbol| {
        let name = symbol.name.trim_start_matches("non-virtual thunk to ");
        name.starts_with("std::") && !name.contains(WITH_MORE)
    })
}

/// The value of an exception that is a number or a text, as it is written in a program.
pub fn plain(core: &Core, name: &str, object: Addr) -> Option<String> {
    let space = core.space();
    let word = || space.read_word(object).ok();
    let half = || u32::try_from(space.read_uint(object, 4).ok()?).ok();
    match name {
        "i" => half().map(|number| number.cast_signed().to_string()),
        "j" => half().map(|number| number.to_string()),
        "l" | "x" => word().map(|number| number.cast_signed().to_string()),
        "m" | "y" => word().map(|number| number.to_string()),
        "PKc" | "Pc" => text(core, object),
        STRING => string(core, object),
        _ => None,
    }
}

/// The text of a `std::string` of libstdc++: its address, then its length.
fn string(core: &Core, object: Addr) -> Option<String> {
    let length = core.space().read_word(object.checked_add(WORD)?).ok()?;
    let length = usize::try_from(length).ok().filter(|length| *length <= MAX_WHAT)?;
    let mut bytes = vec![0; length];
    core.space().read(core.space().read_addr(object).ok()?, &mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The text to which the word at an address points.
fn text(core: &Core, at: Addr) -> Option<String> {
    let text = core.space().read_addr(at).ok()?;
    let text = core.space().read_cstr(text, MAX_WHAT).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}
