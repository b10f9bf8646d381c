//! The line at which a coroutine is suspended.
//!
//! gcc's part that goes on begins with a jump by the number of the point; where it leads, the line table says which
//! `co_await` goes on there. clang's stores the number before it waits, as a constant; the instruction that does so is of the line
//! of that `co_await`.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange, AddressSpace, Arch};
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

/// Where in its source a coroutine is suspended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suspension {
    /// The source file.
    pub file: Option<Arc<str>>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// Whether it did not begin: the line is that of the function.
    pub is_first: bool,
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
            let line = line_at(module, at)?;
            let is_first = index == FIRST;
            Some(Suspension { file: line.file, line: line.line, is_first })
        }
        Compiler::Clang => by_store(host.space(), module, function, place, index),
    }
}

/// gcc's number of the point before the body.
pub const FIRST: u64 = 2;

/// By the instructions that store a number; `None` if they are of several lines.
fn by_store(
    space: &dyn AddressSpace,
    module: &dyn HostModule,
    function: &CoroutineFunction,
    place: IndexPlace,
    index: u64,
) -> Option<Suspension> {
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
    let end = function.resume.end.get().checked_sub(1).map(Addr::new);
    let end = end.and_then(|end| line_at(module, end)).and_then(|line| line.line);
    let is_first = index == 0 && resume.is_empty() && begin == first.line && end != begin;
    Some(Suspension { file: first.file, line: first.line, is_first })
}

/// Where code stores a number of one byte at an offset from a register.
fn stores(space: &dyn AddressSpace, code: AddrRange, offset: u64, number: u8) -> Vec<Addr> {
    let bytes = space.read_held(code.start, code.len().min(MAX_CODE));
    let places = memchr::memchr_iter(STORE, &bytes);
    let is_one = |at: &usize| {
        let rest = bytes.get(*at..).unwrap_or_default();
        is_store(rest, offset, number)
    };
    let places = places.filter(is_one).filter_map(|at| u64::try_from(at).ok());
    places.filter_map(|at| code.start.checked_add(at)).collect()
}

fn is_store(bytes: &[u8], offset: u64, number: u8) -> bool {
    let Some((_, [operand, rest @ ..])) = bytes.split_first() else { return false };
    // With a stack pointer, or r12, as its base an operand has one byte more.
    let rest = if operand & 7 == 4 { rest.get(1..).unwrap_or_default() } else { rest };
    match operand & 0xf8 {
        0x40 => u8::try_from(offset)
            .is_ok_and(|offset| offset < 0x80 && rest.starts_with(&[offset, number])),
        0x80 => u32::try_from(offset).is_ok_and(|offset| {
            let [a, b, c, d] = offset.to_le_bytes();
            rest.starts_with(&[a, b, c, d, number])
        }),
        _ => false,
    }
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
    fn a_store_has_its_offset_and_its_number() {
        assert!(is_store(&[0xc6, 0x43, 0x24, 0x02], 0x24, 2));
        assert!(is_store(&[0xc6, 0x44, 0x24, 0x24, 0x02], 0x24, 2));
        assert!(is_store(&[0xc6, 0x80, 0x84, 0, 0, 0, 1], 0x84, 1));
        assert!(!is_store(&[0xc6, 0x43, 0x24, 0x02], 0x24, 1));
        assert!(!is_store(&[0xc6, 0x43, 0x24], 0x24, 1));
        assert!(!is_store(&[0xc6], 0x24, 1));
    }
}
