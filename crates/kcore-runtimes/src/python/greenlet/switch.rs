//! How a greenlet that was left goes on: in `slp_switch` of `platform/switch_amd64_unix.h`, right after it changed the
//! stack pointer. What it restores then its frame description knows, but for the frame pointer of those builds that keep
//! one: how far that lies from the stack pointer the code says with which the function ends.

use kcore_mem::{Addr, AddrRange, CodeAddr};

use crate::{Host, HostModule};

/// Bytes of code that are searched, at most: the biggest of these modules has a tenth.
const MAX_CODE: u64 = 1 << 20;
/// `ldmxcsr`: this, and in the next byte 2 in the three bits from 3 on, and an operand in memory.
const OPCODE: [u8; 2] = [0x0f, 0xae];
/// The function.
const FUNCTION: &str = "slp_switch";
/// Instructions behind the one that goes on: `fldcw`, the stack pointer up, and pops.
const MAX_INSTRUCTIONS: usize = 12;

/// Where a greenlet goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The instruction.
    pub pc: Addr,
    /// How far the frame pointer lies above the stack pointer, if the function keeps one.
    pub frame: Option<u64>,
}

/// Where greenlets of a module go on.
///
/// # Errors
/// Says why it is not known.
pub fn find(host: &dyn Host, module: &dyn HostModule) -> Result<Switch, &'static str> {
    let span = module.span();
    let ranges = host.ranges().into_iter().filter(|range| range.executable);
    let code = ranges.map(|range| range.range).filter(|range| span.contains(range.start));
    let found: Vec<StatusLoad> = code.flat_map(|range| loads(host, range)).collect();
    let is_named = |found: &&StatusLoad| {
        host.function_at(CodeAddr::Pc(found.at)).is_some_and(|name| &*name == FUNCTION)
    };
    let found = match found.as_slice() {
        [] => Err("the code of the greenlet module was not dumped, and its file is missing"),
        [one] => Ok(one),
        several => several
            .iter()
            .find(is_named)
            .ok_or("which instruction its stacks go on with is not known"),
    }?;
    let unknown = "where its switch keeps the frame pointer is not known";
    match found.by_frame {
        false => Ok(Switch { pc: found.at, frame: None }),
        true => found.frame.map(|it| Switch { pc: found.at, frame: Some(it) }).ok_or(unknown),
    }
}

/// An instruction that loads `mxcsr`.
#[derive(Clone, Copy)]
struct StatusLoad {
    at: Addr,
    /// Whether its operand is addressed by the frame pointer.
    by_frame: bool,
    frame: Option<u64>,
}

/// Where instructions load `mxcsr`.
fn loads(host: &dyn Host, range: AddrRange) -> Vec<StatusLoad> {
    let code = host.space().read_held(range.start, range.len().min(MAX_CODE));
    let is_load = |bytes: &[u8]| match bytes {
        [first, second, operand] => {
            [*first, *second] == OPCODE && operand >> 3 & 7 == 2 && operand >> 6 != 3
        }
        _ => false,
    };
    let places = code.windows(3).enumerate().filter(|(_, bytes)| is_load(bytes));
    let found = |(place, bytes): (usize, &[u8])| {
        Some(StatusLoad {
            at: range.start.checked_add(u64::try_from(place).ok()?)?,
            by_frame: bytes.last().is_some_and(|operand| operand & 7 == 5),
            frame: frame(code.get(place..).unwrap_or_default()),
        })
    };
    places.filter_map(found).collect()
}

/// How far the frame pointer lies above the stack pointer, by the code from the instruction on that addresses by it. The
/// operands of two instructions have a byte each.
fn frame(code: &[u8]) -> Option<u64> {
    let [0x0f, 0xae, 0x55, _, 0xd9, 0x6d, _, end @ ..] = code else { return None };
    let (mut distance, mut rest) = match end {
        [0x48, 0x83, 0xc4, up, rest @ ..] => (u64::from(*up), rest),
        [0x48, 0x81, 0xc4, a, b, c, d, rest @ ..] => {
            (u64::from(u32::from_le_bytes([*a, *b, *c, *d])), rest)
        }
        _ => return None,
    };
    for _ in 0..MAX_INSTRUCTIONS {
        rest = match rest {
            // `pop rbp; ret`: the frame pointer leads to what it was in the caller.
            [0x5d, 0xc3, ..] => return Some(distance),
            [0x5b, rest @ ..] | [0x41, 0x5c..=0x5f, rest @ ..] => rest,
            _ => return None,
        };
        distance = distance.checked_add(8)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `slp_switch` of greenlet 3.5.6 for CPython 3.15, from `ldmxcsr -0x44(%rbp)` on.
    const KEEPS_A_FRAME: [u8; 22] = [
        0x0f, 0xae, 0x55, 0xbc, 0xd9, 0x6d, 0xba, 0x48, 0x83, 0xc4, 0x28, 0x5b, 0x41, 0x5c, 0x41,
        0x5d, 0x41, 0x5e, 0x41, 0x5f, 0x5d, 0xc3,
    ];

    #[test]
    fn the_end_of_the_function_says_where_its_frame_is() {
        assert_eq!(frame(&KEEPS_A_FRAME), Some(0x28 + 5 * 8));
        let mut big = KEEPS_A_FRAME.to_vec();
        big.splice(7..11, [0x48, 0x81, 0xc4, 0x00, 0x01, 0, 0]);
        assert_eq!(frame(&big), Some(0x100 + 5 * 8));
    }

    #[test]
    fn code_that_ends_otherwise_says_nothing() {
        for len in 0..KEEPS_A_FRAME.len() {
            assert_eq!(frame(&KEEPS_A_FRAME[..len]), None, "{len}");
        }
        let by_stack =
            [0x0f, 0xae, 0x54, 0x24, 0x0c, 0xd9, 0x6c, 0x24, 0x0a, 0x48, 0x83, 0xc4, 0x20];
        assert_eq!(frame(&by_stack), None);
        let endless = [&KEEPS_A_FRAME[..11], &[0x5b; 64]].concat();
        assert_eq!(frame(&endless), None);
    }
}
