//! s390x, and s390 of 31 bits: ELF ABI supplement, Linux (`arch/s390/include/uapi/asm/ptrace.h`, `s390_regs`).

mod prologue;

use kcore_mem::{Addr, AddressSpace};

use super::described::{
    Calls, Chain, Description, Layout, Prologue, SavedRegisters, SignalFrame, SystemCalls, Ucontext,
};
use crate::{RegisterId, UserRegister};

/// What is to be known of s390x.
pub const S390X: Description = Description {
    pr_reg: 216,
    layout: Layout(&[(8, ORDER), (4, ACCESS), (8, &["orig_r2"])]),
    fp_layout: Some(FLOATING),
    names: NAMES,
    other_names: &[("pswa", "pc"), ("sp", "r15"), ("fp", "r11")],
    of_thread: OF_THREAD,
    thread_pointer: Some(thread_pointer),
    pc: "pc",
    program_counter: PROGRAM_COUNTER,
    stack_pointer: RegisterId(15),
    frame_pointer: RegisterId(11),
    link: Some(RegisterId(14)),
    after_call: 0,
    // r6 to r13, and f8 to f15.
    preserved: &[6, 7, 8, 9, 10, 11, 12, 13, 24, 25, 26, 27, 28, 29, 30, 31],
    code_bits: u64::MAX,
    // The CFA lies 160 bytes above it: a function that saves no stack pointer leaves it as it is.
    stack_pointer_is_cfa: false,
    signal_frames: &[
        // `svc 173`, and `svc 119`.
        SignalFrame {
            code: &[0x0a, 0xad],
            registers: |sp, _| sp.checked_add(CALLER + 8 + SIGNAL_INFO + 40),
            saved: SavedRegisters { width: 8, order: ORDER, beside: &[] },
            has_context: true,
            keeps_others: false,
        },
        SignalFrame {
            code: &[0x0a, 0x77],
            registers: |sp, space| space.read_addr(sp.checked_add(CALLER + 8)?).ok(),
            saved: SavedRegisters { width: 8, order: ORDER, beside: &[] },
            has_context: false,
            keeps_others: false,
        },
    ],
    ucontext: Some(Ucontext {
        signal_info: Some(-128),
        registers: 40,
        saved: SavedRegisters { width: 8, order: ORDER, beside: &[] },
        mask: 384,
        fault_address: None,
    }),
    calls: Calls { follows: follows_call, target: called_before, has_called: None },
    system_calls: SystemCalls {
        instructions: &[&[Some(0x0a), None]],
        number: &["r1"],
        number_in_code: true,
        lowest: 0,
    },
    // Only code that is compiled with -mbackchain has one.
    chain: Chain::BackwardsAtTimes(112),
    exception_table: None,
    prologue: Some(Prologue { decoders: &[prologue::decode], frames: &[11], room_above: 160 }),
};

/// What is to be known of s390: bit 31 of a code address says how addresses are counted.
pub const S390: Description = Description {
    thread_pointer: None,
    pr_reg: 144,
    layout: Layout(&[(4, ORDER), (4, ACCESS), (4, &["orig_r2"])]),
    code_bits: 0x7fff_ffff,
    signal_frames: &[
        SignalFrame {
            code: &[0x0a, 0xad],
            registers: |sp, _| sp.checked_add(CALLER31 + 8 + SIGNAL_INFO + 24),
            saved: SavedRegisters { width: 4, order: ORDER, beside: &[] },
            has_context: true,
            keeps_others: false,
        },
        SignalFrame {
            code: &[0x0a, 0x77],
            registers: |sp, space| space.read_addr(sp.checked_add(CALLER31 + 8)?).ok(),
            saved: SavedRegisters { width: 4, order: ORDER, beside: &[] },
            has_context: false,
            keeps_others: false,
        },
    ],
    ucontext: None,
    chain: Chain::BackwardsAtTimes(56),
    prologue: Some(Prologue { decoders: &[prologue::decode], frames: &[11], room_above: 96 }),
    ..S390X
};

/// Bytes that a function leaves its callees to save registers in, from its stack pointer on.
const CALLER: u64 = 160;
const CALLER31: u64 = 96;
/// Bytes of `siginfo_t`.
const SIGNAL_INFO: u64 = 128;

const PROGRAM_COUNTER: RegisterId = RegisterId(33);

/// Numbers of unwind information above those of general and floating-point registers: the halves of the PSW.
pub const fn register_of_dwarf(number: u16) -> RegisterId {
    match number {
        64 => RegisterId(32),
        65 => PROGRAM_COUNTER,
        _ => RegisterId(u16::MAX),
    }
}

/// `s390_regs`, and `_s390_regs_common` of a signal frame.
const ORDER: &[&str] = &[
    "pswm", "pc", "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12",
    "r13", "r14", "r15",
];

/// `s390_fp_regs`: the control word and padding, then f0 to f15.
const FLOATING: Layout = Layout(&[
    (8, &[""]),
    (
        8,
        &[
            "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12", "f13",
            "f14", "f15",
        ],
    ),
]);

/// The access registers: those of a thread point to its local storage.
const ACCESS: &[&str] = &[
    "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10", "a11", "a12", "a13", "a14",
    "a15",
];

const NAMES: &[(&str, RegisterId)] = &[
    ("r0", RegisterId(0)),
    ("r1", RegisterId(1)),
    ("r2", RegisterId(2)),
    ("r3", RegisterId(3)),
    ("r4", RegisterId(4)),
    ("r5", RegisterId(5)),
    ("r6", RegisterId(6)),
    ("r7", RegisterId(7)),
    ("r8", RegisterId(8)),
    ("r9", RegisterId(9)),
    ("r10", RegisterId(10)),
    ("r11", RegisterId(11)),
    ("r12", RegisterId(12)),
    ("r13", RegisterId(13)),
    ("r14", RegisterId(14)),
    ("r15", RegisterId(15)),
    ("f0", RegisterId(16)),
    ("f2", RegisterId(17)),
    ("f4", RegisterId(18)),
    ("f6", RegisterId(19)),
    ("f1", RegisterId(20)),
    ("f3", RegisterId(21)),
    ("f5", RegisterId(22)),
    ("f7", RegisterId(23)),
    ("f8", RegisterId(24)),
    ("f10", RegisterId(25)),
    ("f12", RegisterId(26)),
    ("f14", RegisterId(27)),
    ("f9", RegisterId(28)),
    ("f11", RegisterId(29)),
    ("f13", RegisterId(30)),
    ("f15", RegisterId(31)),
];

/// What is the same in all frames of a thread: the access registers, and what they point to.
const OF_THREAD: &[&str] = &[
    "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10", "a11", "a12", "a13", "a14",
    "a15", "tp",
];

/// The first two access registers hold the halves of the thread pointer.
fn thread_pointer(registers: &[UserRegister]) -> Option<u64> {
    let value = |wanted: &str| registers.iter().find(|it| it.name == wanted).map(|it| it.value);
    Some((value("a0")? << 32) | value("a1")?)
}

/// Whether a call ends at `at`: `brasl`, `bras`, `basr`, `bas` into r14.
fn follows_call(at: Addr, space: &dyn AddressSpace) -> bool {
    let half = |by: i64| space.read_uint(at.wrapping_offset(by), 2).unwrap_or(0);
    let is_short = half(-4) == 0xa7e5 || half(-2) & 0xfff0 == 0x0de0;
    half(-6) == 0xc0e5 || is_short || half(-4) & 0xfff0 == 0x4de0
}

/// The target of a `brasl` or `bras` that ends at `at`: half words from the instruction.
fn called_before(at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    let (long, short) = (at.wrapping_offset(-6), at.wrapping_offset(-4));
    if space.read_uint(long, 2) == Ok(0xc0e5) {
        let by = space.read_uint(short, 4).ok()? as u32;
        return Some(long.wrapping_offset(i64::from(by.cast_signed()).wrapping_mul(2)));
    }
    if space.read_uint(short, 2) == Ok(0xa7e5) {
        let by = space.read_uint(at.wrapping_offset(-2), 2).ok()? as u16;
        return Some(short.wrapping_offset(i64::from(by.cast_signed()).wrapping_mul(2)));
    }
    None
}
