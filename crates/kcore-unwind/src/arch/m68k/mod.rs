//! m68k: System V ABI, Linux (`arch/m68k/include/asm/elf.h`, `ELF_CORE_COPY_REGS`).

use kcore_mem::{Addr, AddressSpace};

use super::described::{
    Calls, Chain, Description, Layout, SavedRegisters, SignalFrame, SystemCalls,
};
use crate::RegisterId;

/// What is to be known of the machine.
pub const MACHINE: Description = Description {
    pr_reg: 80,
    layout: Layout(&[(4, ORDER)]),
    fp_layout: None,
    names: NAMES,
    other_names: &[("a7", "sp"), ("fp", "a6")],
    of_thread: &[],
    thread_pointer: None,
    pc: "pc",
    program_counter: RegisterId(24),
    stack_pointer: RegisterId(15),
    frame_pointer: RegisterId(14),
    link: None,
    after_call: 0,
    // d2 to d7, a2 to a6.
    preserved: &[2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14],
    code_bits: u32::MAX as u64,
    stack_pointer_is_cfa: true,
    signal_frames: &[
        // `moveq #82, d0; not.b d0; trap #0`.
        SignalFrame {
            code: &[0x70, 0x52, 0x46, 0x00, 0x4e, 0x40],
            registers: |sp, space| space.read_addr(sp.checked_add(8)?).ok()?.checked_add(24),
            saved: SavedRegisters { width: 4, order: CONTEXT, beside: &[("pc", 64)] },
            has_context: true,
            keeps_others: false,
        },
        // `moveq #119, d0; trap #0`.
        SignalFrame {
            code: &[0x70, 0x77, 0x4e, 0x40],
            registers: |sp, space| space.read_addr(sp.checked_add(8)?).ok(),
            saved: SavedRegisters {
                width: 4,
                order: &["", "sp", "d0", "d1", "a0", "a1"],
                beside: &[("pc", 26)],
            },
            has_context: false,
            keeps_others: true,
        },
    ],
    ucontext: None,
    calls: Calls { follows: follows_call, target: |_, _| None, has_called: None },
    system_calls: SystemCalls {
        instructions: &[&[Some(0x4e), Some(0x40)]],
        number: &["orig_d0"],
        number_in_code: false,
        lowest: 0,
    },
    chain: Chain::Record { saved: 0, return_address: 4, cfa: 8 },
    exception_table: None,
    prologue: None,
};

/// `gregset_t` of a signal frame, up to the pc.
const CONTEXT: &[&str] = &[
    "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "sp",
];

const ORDER: &[&str] = &[
    "d1", "d2", "d3", "d4", "d5", "d6", "d7", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "d0", "sp",
    "orig_d0", "sr", "pc", "fmtvec",
];

const NAMES: &[(&str, RegisterId)] = &[
    ("d0", RegisterId(0)),
    ("d1", RegisterId(1)),
    ("d2", RegisterId(2)),
    ("d3", RegisterId(3)),
    ("d4", RegisterId(4)),
    ("d5", RegisterId(5)),
    ("d6", RegisterId(6)),
    ("d7", RegisterId(7)),
    ("a0", RegisterId(8)),
    ("a1", RegisterId(9)),
    ("a2", RegisterId(10)),
    ("a3", RegisterId(11)),
    ("a4", RegisterId(12)),
    ("a5", RegisterId(13)),
    ("a6", RegisterId(14)),
    ("sp", RegisterId(15)),
];

/// Whether a call ends at `at`: `bsr` and `jsr` in their lengths.
fn follows_call(at: Addr, space: &dyn AddressSpace) -> bool {
    let half = |by: i64| space.read_uint(at.wrapping_offset(by), 2).unwrap_or(0);
    let short = half(-2);
    let is_branch = short & 0xff00 == 0x6100 && !matches!(short & 0xff, 0 | 0xff);
    let is_short = short & 0xfff8 == 0x4e90 || is_branch;
    let is_middle = matches!(half(-4), 0x6100 | 0x4ea8..=0x4eb8 | 0x4eba | 0x4ebb);
    is_short || is_middle || matches!(half(-6), 0x61ff | 0x4eb0..=0x4eb7 | 0x4eb9 | 0x4ebb)
}
