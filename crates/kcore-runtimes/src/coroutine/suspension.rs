//! The line at which a coroutine is suspended.
//!
//! gcc's part that goes on begins with a jump by the number of the point; where it leads, the line table says which
//! `co_await` goes on there. clang's stores the number before it waits, as a constant; the instruction that does so is of the line
//! of that `co_await`.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange, AddressSpace, Arch, CodeAddr};
use kcore_symbols::LineFrame;

use super::{
    dispatch,
    functions::{Compiler, CoroutineFunction},
    layout::IndexPlace,
};
use crate::{Host, HostModule};

/// Bytes of a function that are looked at.
const MAX_CODE: u64 = 1 << 20;
/// Bytes of `movb $NUMBER, OFFSET(REGISTER)` behind a prefix: with an offset of one byte and of four.
const STORE: u8 = 0xc6;
/// The same of more bytes, of which a prefix makes two.
const WIDE_STORE: u8 = 0xc7;
const OF_WORDS: u8 = 0x66;

/// Where in its source a coroutine is suspended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suspension {
    /// The source file.
    pub file: Option<Arc<str>>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// Whether it began, where that is known; of one that did not, the line is that of the function.
    pub begun: Option<bool>,
    /// The type of what it awaits, where the code tells: clang's frames do not.
    pub awaits: Option<Arc<str>>,
    /// Whether the line may be that of the statement behind the one in which it waits.
    pub is_behind: bool,
}

/// The point of suspension with a number, of a frame that is suspended there.
pub fn suspension(
    host: &dyn Host,
    function: &CoroutineFunction,
    frame: Addr,
    place: IndexPlace,
    index: u64,
) -> Option<Suspension> {
    let module = host.module_at(function.resume.start)?;
    match function.compiler {
        Compiler::Gcc => {
            let at = dispatch::landing(host.space(), function.resume.start, frame, place)?;
            // Of the code behind this place gcc 12 may say that it is of what follows, or of the function's end.
            let begun = index != FIRST;
            let waits = begun.then(|| waits_at(host, module, function, (place, index))).flatten();
            let line = line_at(module, waits.unwrap_or(at))?;
            let is_behind = begun && waits.is_none();
            let begun = Some(begun);
            Some(Suspension { file: line.file, line: line.line, begun, awaits: None, is_behind })
        }
        Compiler::Clang => by_store(host, module, function, place, index),
    }
}

/// gcc's number of the point before the body.
pub const FIRST: u64 = 2;

/// By the instructions that store a number; `None` if they are of several lines.
fn by_store(
    host: &dyn Host,
    module: &dyn HostModule,
    function: &CoroutineFunction,
    place: IndexPlace,
    index: u64,
) -> Option<Suspension> {
    let space = host.space();
    (space.target().arch == Arch::X86_64).then_some(())?;
    let number = u8::try_from(index).ok().filter(|_| place.size == 1)?;
    let resume = stores(space, function.resume, place.offset, number);
    let ramp = function.ramp.map(|ramp| stores(space, ramp, place.offset, number));
    let ramp = ramp.unwrap_or_default();
    let lines = resume.iter().chain(&ramp).filter_map(|at| line_at(module, *at));
    let mut lines = lines.filter(|line| line.line.is_some_and(|line| line > 0));
    let first = lines.next()?;
    let is_same = |other: &LineFrame| other.line == first.line && other.file == first.file;
    lines.all(|other| is_same(&other)).then_some(())?;
    let begin = line_at(module, function.resume.start).and_then(|line| line.line);
    let is_within = begin != first.line || !resume.is_empty();
    let begun = match index {
        0 if is_within => Some(true),
        0 => has_other_line(module, function.resume, begin).then_some(false),
        _ => Some(true),
    };
    let awaits = resume.iter().chain(&ramp).find_map(|at| awaited(host, module, *at));
    Some(Suspension { file: first.file, line: first.line, begun, awaits, is_behind: false })
}

/// Whether code is of several lines: in a function of one, nothing tells the point before its body from the others.
fn has_other_line(module: &dyn HostModule, code: AddrRange, line: Option<u32>) -> bool {
    let step = usize::try_from(code.len()).ok().and_then(|len| len.checked_div(SAMPLES));
    let offsets = (0..code.len()).step_by(step.unwrap_or(1).max(1));
    let mut lines = offsets.filter_map(|at| line_at(module, code.start.checked_add(at)?)?.line);
    lines.any(|other| Some(other) != line)
}

/// Places of a function whose lines are looked at.
const SAMPLES: usize = 64;
/// Bytes behind the store of a number in which an inlined `await_suspend` begins.
const NEAR: u64 = 48;
/// Bytes behind the store of a number in which code that is not optimized calls `await_suspend`.
const NEAR_SUSPEND: u64 = 128;
const AWAIT_SUSPEND: &str = "await_suspend";
/// The opcode of a call, and its bytes.
const CALL: u8 = 0xe8;
const CALL_SIZE: u64 = 5;

/// Where gcc's code has the `await_suspend` of a point, called or inlined, behind the one store of its number; `None`
/// where there is no such store, or several, or nothing of the function is left.
fn waits_at(
    host: &dyn Host,
    module: &dyn HostModule,
    function: &CoroutineFunction,
    (place, index): (IndexPlace, u64),
) -> Option<Addr> {
    (place.size == 2 && host.space().target().arch == Arch::X86_64).then_some(())?;
    let number = u16::try_from(index).ok()?;
    let code = host.space().read_held(function.resume.start, function.resume.len().min(MAX_CODE));
    let is_one = |at: &usize| {
        let rest = code.get(at.saturating_add(1)..).unwrap_or_default();
        rest.first() == Some(&WIDE_STORE) && is_store(rest, place.offset, &number.to_le_bytes())
    };
    let mut stores = memchr::memchr_iter(OF_WORDS, &code).filter(is_one);
    let store = stores.next().filter(|_| stores.next().is_none())?;
    let store = function.resume.start.checked_add(u64::try_from(store).ok()?)?;
    let mut calls = called_within(host, store, NEAR_SUSPEND).into_iter();
    let is_it =
        |name: &Option<Arc<str>>| name.as_ref().is_some_and(|it| it.contains(AWAIT_SUSPEND));
    let (call, _) = calls.find(|(_, name)| is_it(name))?;
    line_at(module, call)?.line.filter(|line| *line > 0).map(|_| call)
}

/// The bytes behind a place that look like calls, in order, and what they call; `None` where that is no function.
fn called_within(host: &dyn Host, at: Addr, len: u64) -> Vec<(Addr, Option<Arc<str>>)> {
    let bytes = host.space().read_held(at, len);
    let called = |place: usize| {
        let offset = i32::from_le_bytes(bytes.get(place..)?.get(1..5)?.try_into().ok()?);
        let call = at.checked_add(u64::try_from(place).ok()?)?;
        let to = call.checked_add(CALL_SIZE)?.get().wrapping_add_signed(offset.into());
        Some((call, host.function_at(CodeAddr::Pc(Addr::new(to)))))
    };
    memchr::memchr_iter(CALL, &bytes).filter_map(called).collect()
}

/// The type whose `await_suspend` is inlined or called behind the place where the number of a point is stored.
fn awaited(host: &dyn Host, module: &dyn HostModule, store: Addr) -> Option<Arc<str>> {
    let inlined = (0..NEAR).find_map(|offset| {
        let frames = module.symbols().lines().find(module.svma(store.checked_add(offset)?)?);
        let names = frames.iter().filter_map(|frame| frame.function.as_ref());
        let mut names = names.filter(|name| name.contains(AWAIT_SUSPEND));
        names.find_map(|name| class_of(&module.symbols().demangled(name)))
    });
    let mut called =
        called_within(host, store, NEAR_SUSPEND).into_iter().filter_map(|(_, name)| name);
    inlined.or_else(|| called.find_map(|name| class_of(&name)))
}

/// The class whose `await_suspend` a demangled name is: a template's has what it returns before it.
fn class_of(name: &str) -> Option<Arc<str>> {
    let (before, _) = name.split_once(AWAIT_SUSPEND)?;
    let class = before.strip_suffix("::")?;
    let mut depth = 0_usize;
    let start = class.char_indices().rev().find(|(_, character)| {
        match character {
            '>' => depth = depth.saturating_add(1),
            '<' => depth = depth.saturating_sub(1),
            _ => {}
        }
        *character == ' ' && depth == 0
    });
    let class = start.map_or(class, |(at, _)| class.get(at..).unwrap_or_default().trim_start());
    (!class.is_empty()).then(|| class.into())
}

/// Where code stores a number of one byte at an offset from a register.
fn stores(space: &dyn AddressSpace, code: AddrRange, offset: u64, number: u8) -> Vec<Addr> {
    let bytes = space.read_held(code.start, code.len().min(MAX_CODE));
    let places = memchr::memchr_iter(STORE, &bytes);
    let is_one = |at: &usize| {
        let rest = bytes.get(*at..).unwrap_or_default();
        is_store(rest, offset, &[number])
    };
    let places = places.filter(is_one).filter_map(|at| u64::try_from(at).ok());
    places.filter_map(|at| code.start.checked_add(at)).collect()
}

fn is_store(bytes: &[u8], offset: u64, number: &[u8]) -> bool {
    let Some((_, [operand, rest @ ..])) = bytes.split_first() else { return false };
    // With a stack pointer, or r12, as its base an operand has one byte more.
    let rest = if operand & 7 == 4 { rest.get(1..).unwrap_or_default() } else { rest };
    let place = match operand & 0xf8 {
        0x40 => u8::try_from(offset).ok().filter(|it| *it < 0x80).map(|it| vec![it]),
        0x80 => u32::try_from(offset).ok().map(|it| it.to_le_bytes().to_vec()),
        _ => None,
    };
    let rest = place.and_then(|place| rest.strip_prefix(&place[..]));
    rest.is_some_and(|rest| rest.starts_with(number))
}

/// The line of an address in the function that the machine called, whatever is inlined there.
fn line_at(module: &dyn HostModule, at: Addr) -> Option<LineFrame> {
    let frames = module.symbols().lines().find(module.svma(at)?);
    frames.last().filter(|frame| frame.line.is_some_and(|line| line > 0)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_awaited_is_the_class_of_the_function() {
        let class = |name| class_of(name).as_deref().map(str::to_owned);
        assert_eq!(
            class("Event::await_suspend(std::coroutine_handle<Task>)"),
            Some("Event".into())
        );
        let template = "bool ns::Aw<int, long>::await_suspend<Task>(std::coroutine_handle<Task>)";
        assert_eq!(class(template), Some("ns::Aw<int, long>".into()));
        assert_eq!(class("leaf(int).__await_suspend_wrapper__await"), None);
    }

    #[test]
    fn a_store_has_its_offset_and_its_number() {
        assert!(is_store(&[0xc6, 0x43, 0x24, 0x02], 0x24, &[2]));
        assert!(is_store(&[0xc6, 0x44, 0x24, 0x24, 0x02], 0x24, &[2]));
        assert!(is_store(&[0xc6, 0x80, 0x84, 0, 0, 0, 1], 0x84, &[1]));
        assert!(!is_store(&[0xc6, 0x43, 0x24, 0x02], 0x24, &[1]));
        assert!(!is_store(&[0xc6, 0x43, 0x24], 0x24, &[1]));
        assert!(!is_store(&[0xc6], 0x24, &[1]));
        assert!(is_store(&[0xc7, 0x40, 0x2c, 0x04, 0x00], 0x2c, &[4, 0]));
    }
}
