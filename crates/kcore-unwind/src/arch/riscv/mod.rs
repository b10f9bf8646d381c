//! RISC-V of 64 and of 32 bits: psABI, Linux (`arch/riscv/include/uapi/asm/ptrace.h`, `struct user_regs_struct`).

mod prologue;

use kcore_mem::{Addr, AddressSpace};

use super::described::{
    Calls, Chain, Description, Layout, Prologue, SavedRegisters, SignalFrame, SystemCalls,
    UNNUMBERED_PC, Ucontext, word_at,
};
use crate::RegisterId;

/// What is to be known of the machine of 64 bits.
pub const RISCV64: Description = Description {
    pr_reg: 256,
    layout: Layout(&[(8, ORDER)]),
    fp_layout: None,
    names: NAMES,
    other_names: OTHER_NAMES,
    of_thread: &["tp"],
    thread_pointer: None,
    pc: "pc",
    program_counter: UNNUMBERED_PC,
    stack_pointer: RegisterId(2),
    frame_pointer: RegisterId(8),
    link: Some(RegisterId(1)),
    after_call: 0,
    preserved: &[3, 4, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27],
    code_bits: u64::MAX,
    stack_pointer_is_cfa: true,
    // The kernel marks its frame in the unwind information and says nothing more.
    signal_frames: &[SignalFrame {
        code: RESTORER,
        registers: |sp, _| sp.checked_add(SIGNAL_INFO + 176),
        saved: SavedRegisters { width: 8, order: ORDER, beside: &[] },
        has_context: true,
        keeps_others: false,
    }],
    ucontext: Some(Ucontext {
        signal_info: Some(-128),
        registers: 176,
        saved: SavedRegisters { width: 8, order: ORDER, beside: &[] },
        mask: 40,
        fault_address: None,
    }),
    calls: Calls { follows: follows_call, target: called_before, has_called: None },
    system_calls: SystemCalls {
        instructions: &[&[Some(0x73), Some(0x00), Some(0x00), Some(0x00)]],
        number: &["a7"],
        number_in_code: false,
        lowest: 0,
    },
    chain: Chain::Record { saved: -16, return_address: -8, cfa: 0 },
    exception_table: None,
    prologue: Some(Prologue { decoders: &[prologue::decode64], frames: &[8], room_above: 0 }),
};

/// What is to be known of the machine of 32 bits.
pub const RISCV32: Description = Description {
    pr_reg: 128,
    layout: Layout(&[(4, ORDER)]),
    code_bits: u32::MAX as u64,
    signal_frames: &[SignalFrame {
        code: RESTORER,
        registers: |sp, _| sp.checked_add(SIGNAL_INFO + 160),
        saved: SavedRegisters { width: 4, order: ORDER, beside: &[] },
        has_context: true,
        keeps_others: false,
    }],
    ucontext: None,
    chain: Chain::Record { saved: -8, return_address: -4, cfa: 0 },
    prologue: Some(Prologue { decoders: &[prologue::decode32], frames: &[8], room_above: 0 }),
    ..RISCV64
};

/// `li a7, 139; ecall`.
const RESTORER: &[u8] = &[0x93, 0x08, 0xb0, 0x08, 0x73, 0x00, 0x00, 0x00];
/// Bytes of `siginfo_t`, which begins the signal frame.
const SIGNAL_INFO: u64 = 128;

/// `pr_reg`, and `sc_regs` of a signal frame.
const ORDER: &[&str] = &[
    "pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
    "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5",
    "t6",
];

const NAMES: &[(&str, RegisterId)] = &[
    ("ra", RegisterId(1)),
    ("sp", RegisterId(2)),
    ("gp", RegisterId(3)),
    ("tp", RegisterId(4)),
    ("t0", RegisterId(5)),
    ("t1", RegisterId(6)),
    ("t2", RegisterId(7)),
    ("s0", RegisterId(8)),
    ("s1", RegisterId(9)),
    ("a0", RegisterId(10)),
    ("a1", RegisterId(11)),
    ("a2", RegisterId(12)),
    ("a3", RegisterId(13)),
    ("a4", RegisterId(14)),
    ("a5", RegisterId(15)),
    ("a6", RegisterId(16)),
    ("a7", RegisterId(17)),
    ("s2", RegisterId(18)),
    ("s3", RegisterId(19)),
    ("s4", RegisterId(20)),
    ("s5", RegisterId(21)),
    ("s6", RegisterId(22)),
    ("s7", RegisterId(23)),
    ("s8", RegisterId(24)),
    ("s9", RegisterId(25)),
    ("s10", RegisterId(26)),
    ("s11", RegisterId(27)),
    ("t3", RegisterId(28)),
    ("t4", RegisterId(29)),
    ("t5", RegisterId(30)),
    ("t6", RegisterId(31)),
];

const OTHER_NAMES: &[(&str, &str)] = &[
    ("fp", "s0"),
    ("x1", "ra"),
    ("x2", "sp"),
    ("x3", "gp"),
    ("x4", "tp"),
    ("x5", "t0"),
    ("x6", "t1"),
    ("x7", "t2"),
    ("x8", "s0"),
    ("x9", "s1"),
    ("x10", "a0"),
    ("x11", "a1"),
    ("x12", "a2"),
    ("x13", "a3"),
    ("x14", "a4"),
    ("x15", "a5"),
    ("x16", "a6"),
    ("x17", "a7"),
    ("x18", "s2"),
    ("x19", "s3"),
    ("x20", "s4"),
    ("x21", "s5"),
    ("x22", "s6"),
    ("x23", "s7"),
    ("x24", "s8"),
    ("x25", "s9"),
    ("x26", "s10"),
    ("x27", "s11"),
    ("x28", "t3"),
    ("x29", "t4"),
    ("x30", "t5"),
    ("x31", "t6"),
];

/// Whether a call ends at `at`: `jal` and `jalr` that link in `ra` or `t0`, and their short forms.
fn follows_call(at: Addr, space: &dyn AddressSpace) -> bool {
    let long = word_at(at, -4, space).is_some_and(|word| {
        matches!(word & 0x7f, 0x6f | 0x67) && matches!((word >> 7) & 31, 1 | 5)
    });
    let short = || {
        let half = space.read_uint(at.wrapping_offset(-2), 2).ok();
        half.is_some_and(|half| {
            let is_jalr = half & 0xf07f == 0x9002 && half & 0x0f80 != 0;
            is_jalr || (space.target().word == 4 && half & 0xe003 == 0x2001)
        })
    };
    long || short()
}

/// The target of a `jal` that ends at `at`.
fn called_before(at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    let word = word_at(at, -4, space).filter(|word| word & 0xfff == 0x0ef)?;
    let low = ((word >> 21) & 0x3ff) << 1;
    let middle = (((word >> 20) & 1) << 11) | (word & 0x000f_f000);
    let distance = low | middle | ((word >> 31) << 20);
    let distance = (distance << 11).cast_signed() >> 11;
    Some(at.wrapping_offset(-4).wrapping_offset(i64::from(distance)))
}
