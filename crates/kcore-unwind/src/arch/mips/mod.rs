//! MIPS: the interfaces o32, n32 and n64, in both byte orders, Linux (`arch/mips/include/uapi/asm/reg.h`).

mod prologue;

use kcore_mem::{Addr, AddressSpace};

use super::described::{
    Calls, Chain, Description, Layout, Prologue, SavedRegisters, SignalFrame, SystemCalls,
    UNNUMBERED_PC, Ucontext, word_at,
};
use crate::RegisterId;

/// What is to be known of o32.
pub const O32: Description = Description {
    pr_reg: 180,
    layout: Layout(&[(4, &["", "", "", "", "", ""]), (4, GENERAL32), (4, SPECIAL)]),
    fp_layout: None,
    names: NAMES32,
    other_names: &[("fp", "s8"), ("epc", "pc")],
    of_thread: &[],
    thread_pointer: None,
    pc: "pc",
    program_counter: UNNUMBERED_PC,
    stack_pointer: RegisterId(29),
    frame_pointer: RegisterId(30),
    link: Some(RegisterId(31)),
    after_call: 0,
    preserved: &[16, 17, 18, 19, 20, 21, 22, 23, 30],
    code_bits: 0xffff_fffc,
    stack_pointer_is_cfa: true,
    signal_frames: &[
        // `li v0, 4193; syscall` and `li v0, 4119; syscall`, in both byte orders.
        with_info32(&[0x61, 0x10, 0x02, 0x24, 0x0c, 0x00, 0x00, 0x00]),
        with_info32(&[0x24, 0x02, 0x10, 0x61, 0x00, 0x00, 0x00, 0x0c]),
        plain32(&[0x17, 0x10, 0x02, 0x24, 0x0c, 0x00, 0x00, 0x00]),
        plain32(&[0x24, 0x02, 0x10, 0x17, 0x00, 0x00, 0x00, 0x0c]),
    ],
    ucontext: Some(Ucontext {
        signal_info: Some(-128),
        registers: 24 + PC32,
        saved: SIGCONTEXT32,
        mask: 616,
        fault_address: None,
    }),
    calls: Calls { follows: follows_call, target: called_before, has_called: None },
    system_calls: system_calls(4000),
    chain: Chain::None,
    exception_table: None,
    prologue: Some(Prologue { decoders: &[prologue::decode], frames: &[30], room_above: 0 }),
};

/// What is to be known of n64.
pub const N64: Description = Description {
    pr_reg: 360,
    layout: Layout(&[(8, GENERAL64), (8, SPECIAL)]),
    names: NAMES64,
    code_bits: !3,
    signal_frames: &[
        // `li v0, 5211; syscall`, in both byte orders.
        with_info64(&[0x5b, 0x14, 0x02, 0x24, 0x0c, 0x00, 0x00, 0x00]),
        with_info64(&[0x24, 0x02, 0x14, 0x5b, 0x00, 0x00, 0x00, 0x0c]),
    ],
    ucontext: Some(Ucontext {
        signal_info: Some(-128),
        registers: 40,
        saved: SIGCONTEXT64,
        mask: 632,
        fault_address: None,
    }),
    system_calls: system_calls(5000),
    ..O32
};

/// What is to be known of n32: the registers of n64, and words of 32 bits.
pub const N32: Description = Description {
    code_bits: 0xffff_fffc,
    signal_frames: &[
        // `li v0, 6211; syscall`, in both byte orders.
        with_info_n32(&[0x43, 0x18, 0x02, 0x24, 0x0c, 0x00, 0x00, 0x00]),
        with_info_n32(&[0x24, 0x02, 0x18, 0x43, 0x00, 0x00, 0x00, 0x0c]),
    ],
    ucontext: Some(Ucontext {
        signal_info: Some(-128),
        registers: 24,
        saved: SIGCONTEXT64,
        mask: 616,
        fault_address: None,
    }),
    system_calls: system_calls(6000),
    ..N64
};

/// `syscall`, in both byte orders. A call leaves its result where its number was; the numbers of an interface begin
/// at `lowest`.
const fn system_calls(lowest: u64) -> SystemCalls {
    SystemCalls {
        instructions: &[
            &[Some(0x0c), Some(0x00), Some(0x00), Some(0x00)],
            &[Some(0x00), Some(0x00), Some(0x00), Some(0x0c)],
        ],
        number: &["v0"],
        number_in_code: false,
        lowest,
    }
}

/// Offset of the `ucontext_t` in a signal frame: arguments of the handler, room for code, `siginfo_t` (Linux
/// `arch/mips/kernel/signal.c`, `struct rt_sigframe`).
const CONTEXT: u64 = 152;
/// Offset of `sc_pc`, which the registers follow, in `struct sigcontext` of o32.
const PC32: u64 = 8;

/// All slots have 64 bits (Linux `arch/mips/include/uapi/asm/sigcontext.h`).
const SIGCONTEXT32: SavedRegisters = SavedRegisters {
    width: 8,
    order: &[
        "pc", "zero", "at", "v0", "v1", "a0", "a1", "a2", "a3", "t0", "t1", "t2", "t3", "t4", "t5",
        "t6", "t7", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "t8", "t9", "k0", "k1", "gp",
        "sp", "s8", "ra",
    ],
    beside: &[],
};
const SIGCONTEXT64: SavedRegisters =
    SavedRegisters { width: 8, order: GENERAL64, beside: &[("pc", 576)] };

const fn with_info32(code: &'static [u8]) -> SignalFrame {
    const fn registers(sp: Addr, _: &dyn AddressSpace) -> Option<Addr> {
        sp.checked_add(CONTEXT + 24 + PC32)
    }
    SignalFrame { code, registers, saved: SIGCONTEXT32, has_context: true, keeps_others: false }
}

const fn plain32(code: &'static [u8]) -> SignalFrame {
    const fn registers(sp: Addr, _: &dyn AddressSpace) -> Option<Addr> {
        sp.checked_add(24 + PC32)
    }
    SignalFrame { code, registers, saved: SIGCONTEXT32, has_context: false, keeps_others: false }
}

const fn with_info64(code: &'static [u8]) -> SignalFrame {
    const fn registers(sp: Addr, _: &dyn AddressSpace) -> Option<Addr> {
        sp.checked_add(CONTEXT + 40)
    }
    SignalFrame { code, registers, saved: SIGCONTEXT64, has_context: true, keeps_others: false }
}

const fn with_info_n32(code: &'static [u8]) -> SignalFrame {
    const fn registers(sp: Addr, _: &dyn AddressSpace) -> Option<Addr> {
        sp.checked_add(CONTEXT + 24)
    }
    SignalFrame { code, registers, saved: SIGCONTEXT64, has_context: true, keeps_others: false }
}

const GENERAL32: &[&str] = &[
    "zero", "at", "v0", "v1", "a0", "a1", "a2", "a3", "t0", "t1", "t2", "t3", "t4", "t5", "t6",
    "t7", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "t8", "t9", "k0", "k1", "gp", "sp", "s8",
    "ra",
];

const GENERAL64: &[&str] = &[
    "zero", "at", "v0", "v1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "t0", "t1", "t2",
    "t3", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "t8", "t9", "k0", "k1", "gp", "sp", "s8",
    "ra",
];

/// What follows the general registers.
const SPECIAL: &[&str] = &["lo", "hi", "pc", "badvaddr", "status", "cause"];

const NAMES32: &[(&str, RegisterId)] = &[
    ("zero", RegisterId(0)),
    ("at", RegisterId(1)),
    ("v0", RegisterId(2)),
    ("v1", RegisterId(3)),
    ("a0", RegisterId(4)),
    ("a1", RegisterId(5)),
    ("a2", RegisterId(6)),
    ("a3", RegisterId(7)),
    ("t0", RegisterId(8)),
    ("t1", RegisterId(9)),
    ("t2", RegisterId(10)),
    ("t3", RegisterId(11)),
    ("t4", RegisterId(12)),
    ("t5", RegisterId(13)),
    ("t6", RegisterId(14)),
    ("t7", RegisterId(15)),
    ("s0", RegisterId(16)),
    ("s1", RegisterId(17)),
    ("s2", RegisterId(18)),
    ("s3", RegisterId(19)),
    ("s4", RegisterId(20)),
    ("s5", RegisterId(21)),
    ("s6", RegisterId(22)),
    ("s7", RegisterId(23)),
    ("t8", RegisterId(24)),
    ("t9", RegisterId(25)),
    ("k0", RegisterId(26)),
    ("k1", RegisterId(27)),
    ("gp", RegisterId(28)),
    ("sp", RegisterId(29)),
    ("s8", RegisterId(30)),
    ("ra", RegisterId(31)),
];

const NAMES64: &[(&str, RegisterId)] = &[
    ("zero", RegisterId(0)),
    ("at", RegisterId(1)),
    ("v0", RegisterId(2)),
    ("v1", RegisterId(3)),
    ("a0", RegisterId(4)),
    ("a1", RegisterId(5)),
    ("a2", RegisterId(6)),
    ("a3", RegisterId(7)),
    ("a4", RegisterId(8)),
    ("a5", RegisterId(9)),
    ("a6", RegisterId(10)),
    ("a7", RegisterId(11)),
    ("t0", RegisterId(12)),
    ("t1", RegisterId(13)),
    ("t2", RegisterId(14)),
    ("t3", RegisterId(15)),
    ("s0", RegisterId(16)),
    ("s1", RegisterId(17)),
    ("s2", RegisterId(18)),
    ("s3", RegisterId(19)),
    ("s4", RegisterId(20)),
    ("s5", RegisterId(21)),
    ("s6", RegisterId(22)),
    ("s7", RegisterId(23)),
    ("t8", RegisterId(24)),
    ("t9", RegisterId(25)),
    ("k0", RegisterId(26)),
    ("k1", RegisterId(27)),
    ("gp", RegisterId(28)),
    ("sp", RegisterId(29)),
    ("s8", RegisterId(30)),
    ("ra", RegisterId(31)),
];

/// Whether a call and its delay slot end at `at`: `jal`, `jalx`, `jalr`, and branches that link.
fn follows_call(at: Addr, space: &dyn AddressSpace) -> bool {
    word_at(at, -8, space).is_some_and(|word| match word >> 26 {
        3 | 0x1d => true,
        0 => word & 0x3f == 9,
        1 => word & 0x0010_0000 != 0,
        _ => false,
    })
}

/// The target of a `jal` or `bal` that ends, with its delay slot, at `at`.
fn called_before(at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    const REGION: u64 = 0x0fff_ffff;
    let (word, slot) = (word_at(at, -8, space)?, at.wrapping_offset(-4));
    match (word >> 26, word >> 16) {
        (3, _) => {
            let low = u64::from(word & 0x03ff_ffff) << 2;
            Some(Addr::new((slot.get() & !REGION) | low))
        }
        (_, 0x0411) => {
            let by = (word << 16).cast_signed() >> 16;
            Some(slot.wrapping_offset(i64::from(by).wrapping_mul(4)))
        }
        _ => None,
    }
}
