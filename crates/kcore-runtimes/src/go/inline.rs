//! What runs at a pc, through all inlined calls (`runtime/symtabinl.go`).

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace};

use super::{
    function::{Function, text},
    name::printed,
    tables::{TableFormat, Tables},
};
use crate::{FrameKind, LanguageFrame};

/// Kinds of `pcdata` and `funcdata` (`internal/abi/symtab.go`): which inlined call a pc is of, and the calls.
const CALL_AT: u32 = 2;
const CALLS: u32 = 3;
/// Calls that are inlined into each other, at most.
const MAX_DEPTH: usize = 256;

/// An inlined call.
struct Call {
    name: u32,
    /// Bytes from the function's entry to code of the caller, which stands for the place of the call.
    caller: i32,
}

impl Call {
    fn load(tables: &Tables, space: &dyn AddressSpace, calls: Addr, number: i32) -> Option<Self> {
        let (size, name, caller) = match tables.format {
            TableFormat::Go18 => (20_u64, 12, 16),
            TableFormat::Go20 => (16, 4, 8),
        };
        let at = calls.checked_add(u64::try_from(number).ok()?.checked_mul(size)?)?;
        let half = |offset| {
            let value = space.read_uint(at.checked_add(offset)?, 4).ok()?;
            u32::try_from(value).ok()
        };
        Some(Self { name: half(name)?, caller: half(caller)?.cast_signed() })
    }
}

/// What runs at `at`, innermost first; the function itself is the last one.
pub fn frames_at(
    tables: &Tables,
    space: &dyn AddressSpace,
    function: &Function,
    at: Addr,
) -> Vec<LanguageFrame> {
    let (mut frames, mut at) = (Vec::new(), at);
    let calls = function.funcdata(tables, space, CALLS);
    while let Some(calls) = calls.filter(|_| frames.len() < MAX_DEPTH) {
        let number = function.pcdata(tables, space, CALL_AT, at).filter(|number| *number >= 0);
        let call = number.and_then(|number| Call::load(tables, space, calls, number));
        let Some(call) = call else { break };
        let name = text(space, tables.names, call.name);
        let place = function.place(tables, space, at);
        frames.push(LanguageFrame { inline: true, ..frame(name, place) });
        let caller =
            u64::try_from(call.caller).ok().and_then(|to| function.code.start.checked_add(to));
        let Some(caller) = caller.filter(|caller| function.code.contains(*caller)) else { break };
        at = caller;
    }
    frames.push(frame(function.name(tables, space), function.place(tables, space, at)));
    frames
}

fn frame(name: Option<Arc<str>>, (file, line): (Option<Arc<str>>, Option<u32>)) -> LanguageFrame {
    LanguageFrame {
        kind: FrameKind::Go,
        function: name.map(printed),
        file,
        line,
        language: Some(FrameKind::Go.as_str()),
        ..LanguageFrame::default()
    }
}
