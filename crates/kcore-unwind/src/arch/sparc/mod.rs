//! SPARC V9: ABI of 64 bits, Linux (`arch/sparc/include/uapi/asm/ptrace.h`). Frames are windows of registers, which the
//! kernel writes to the stack before it dumps.

use kcore_mem::{Addr, AddressSpace};

use super::described::{
    Calls, Chain, Description, Layout, SavedRegisters, SignalFrame, SystemCalls, UNNUMBERED_PC,
    word_at,
};
use crate::RegisterId;

/// What is to be known of the machine.
pub const MACHINE: Description = Description {
    pr_reg: 288,
    layout: Layout(&[(8, ORDER)]),
    fp_layout: None,
    names: NAMES,
    other_names: &[("sp", "o6"), ("fp", "i6")],
    of_thread: &["g7"],
    thread_pointer: None,
    pc: "pc",
    program_counter: UNNUMBERED_PC,
    stack_pointer: RegisterId(14),
    frame_pointer: RegisterId(30),
    link: Some(RegisterId(15)),
    // The link register holds the address of the call itself, and its delay slot follows.
    after_call: 8,
    preserved: &[7, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31],
    code_bits: !3,
    stack_pointer_is_cfa: false,
    // `mov 101, %g1; ta 0x6d`.
    signal_frames: &[SignalFrame {
        code: &[0x82, 0x10, 0x20, 0x65, 0x91, 0xd0, 0x20, 0x6d],
        registers: |sp, _| sp.checked_add(BIAS + 320),
        saved: SavedRegisters {
            width: 8,
            order: &[
                "g0", "g1", "g2", "g3", "g4", "g5", "g6", "g7", "o0", "o1", "o2", "o3", "o4", "o5",
                "o6", "o7", "tstate", "pc",
            ],
            beside: &[],
        },
        has_context: false,
        keeps_others: false,
    }],
    ucontext: None,
    calls: Calls { follows: follows_call, target: called_before, has_called: None },
    system_calls: SystemCalls {
        instructions: &[&[Some(0x91), Some(0xd0), Some(0x20), Some(0x6d)]],
        number: &["g1"],
        number_in_code: false,
        lowest: 0,
    },
    chain: Chain::Windows(BIAS),
    exception_table: None,
    prologue: None,
};

/// What the stack pointer is off by.
const BIAS: u64 = 2047;

const ORDER: &[&str] = &[
    "g0", "g1", "g2", "g3", "g4", "g5", "g6", "g7", "o0", "o1", "o2", "o3", "o4", "o5", "o6", "o7",
    "l0", "l1", "l2", "l3", "l4", "l5", "l6", "l7", "i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7",
    "tstate", "pc", "tnpc", "y",
];

const NAMES: &[(&str, RegisterId)] = &[
    ("g0", RegisterId(0)),
    ("g1", RegisterId(1)),
    ("g2", RegisterId(2)),
    ("g3", RegisterId(3)),
    ("g4", RegisterId(4)),
    ("g5", RegisterId(5)),
    ("g6", RegisterId(6)),
    ("g7", RegisterId(7)),
    ("o0", RegisterId(8)),
    ("o1", RegisterId(9)),
    ("o2", RegisterId(10)),
    ("o3", RegisterId(11)),
    ("o4", RegisterId(12)),
    ("o5", RegisterId(13)),
    ("o6", RegisterId(14)),
    ("o7", RegisterId(15)),
    ("l0", RegisterId(16)),
    ("l1", RegisterId(17)),
    ("l2", RegisterId(18)),
    ("l3", RegisterId(19)),
    ("l4", RegisterId(20)),
    ("l5", RegisterId(21)),
    ("l6", RegisterId(22)),
    ("l7", RegisterId(23)),
    ("i0", RegisterId(24)),
    ("i1", RegisterId(25)),
    ("i2", RegisterId(26)),
    ("i3", RegisterId(27)),
    ("i4", RegisterId(28)),
    ("i5", RegisterId(29)),
    ("i6", RegisterId(30)),
    ("i7", RegisterId(31)),
];

/// Whether a call and its delay slot end at `at`.
fn follows_call(at: Addr, space: &dyn AddressSpace) -> bool {
    word_at(at, -8, space).is_some_and(|word| {
        let is_jump = word >> 30 == 2 && (word >> 19) & 0x3f == 0x38 && (word >> 25) & 31 == 15;
        word >> 30 == 1 || is_jump
    })
}

/// The target of a `call` that ends, with its delay slot, at `at`.
fn called_before(at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    let word = word_at(at, -8, space).filter(|word| word >> 30 == 1)?;
    let distance = i64::from((word << 2).cast_signed());
    Some(at.wrapping_offset(-8).wrapping_offset(distance))
}
