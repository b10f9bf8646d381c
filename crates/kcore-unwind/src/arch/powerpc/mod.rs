//! PowerPC of 32 and 64 bits, in both byte orders and both ABIs of 64 bits, Linux
//! (`arch/powerpc/include/uapi/asm/ptrace.h`, `struct pt_regs`).

mod prologue;

use kcore_mem::{Addr, AddressSpace};

use super::described::{
    Calls, Chain, Description, Layout, Prologue, SavedRegisters, SignalFrame, SystemCalls,
    UNNUMBERED_PC, Ucontext, word_at,
};
use crate::RegisterId;

/// What is to be known of the machine of 64 bits.
pub const POWERPC64: Description = Description {
    pr_reg: 384,
    layout: Layout(&[(8, ORDER)]),
    fp_layout: None,
    names: NAMES,
    other_names: &[("sp", "r1"), ("nip", "pc")],
    of_thread: &["r13"],
    thread_pointer: None,
    pc: "pc",
    program_counter: UNNUMBERED_PC,
    stack_pointer: RegisterId(1),
    frame_pointer: RegisterId(1),
    link: Some(LINK),
    after_call: 0,
    preserved: &[13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31],
    code_bits: !3,
    stack_pointer_is_cfa: true,
    signal_frames: SIGNAL_FRAMES64,
    ucontext: Some(Ucontext {
        signal_info: None,
        registers: CONTEXT_REGISTERS,
        saved: SavedRegisters { width: 8, order: ORDER, beside: &[] },
        mask: 40,
        fault_address: None,
    }),
    calls: Calls { follows: follows_call, target: called_before, has_called: None },
    system_calls: SystemCalls {
        // `sc` and `scv 0`.
        instructions: &[
            &[Some(0x44), Some(0x00), Some(0x00), Some(0x02)],
            &[Some(0x02), Some(0x00), Some(0x00), Some(0x44)],
            &[Some(0x44), Some(0x00), Some(0x00), Some(0x01)],
            &[Some(0x01), Some(0x00), Some(0x00), Some(0x44)],
        ],
        number: &["r0"],
        number_in_code: false,
        lowest: 0,
    },
    chain: Chain::Backwards(16),
    exception_table: None,
    prologue: Some(Prologue { decoders: &[prologue::decode], frames: &[31], room_above: 24 }),
};

/// What is to be known of the machine of 32 bits.
pub const POWERPC: Description = Description {
    pr_reg: 192,
    layout: Layout(&[(4, ORDER)]),
    of_thread: &["r2"],
    preserved: &[2, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31],
    code_bits: 0xffff_fffc,
    signal_frames: SIGNAL_FRAMES32,
    ucontext: None,
    chain: Chain::Backwards(4),
    prologue: Some(Prologue { decoders: &[prologue::decode], frames: &[31], room_above: 8 }),
    ..POWERPC64
};

/// The link register, which unwind information numbers 65.
const LINK: RegisterId = RegisterId(32);
const COUNT: RegisterId = RegisterId(33);
const CONDITION: RegisterId = RegisterId(34);

/// Numbers of unwind information above those of the general registers. That of the kernel's page has a column of
/// its own for the pc, 67, and `.eh_frame` names all of the condition register by one of its fields, 70.
pub const fn register_of_dwarf(number: u16) -> RegisterId {
    match number {
        65 => LINK,
        66 => COUNT,
        64 | 70 => CONDITION,
        67 => UNNUMBERED_PC,
        _ => RegisterId(u16::MAX),
    }
}

/// Offset in `ucontext_t` of its machine context (64 bits), and of the registers in that: a pointer to them lies
/// right before, which proves the place.
const CONTEXT: u64 = 168;
const REGISTERS: u64 = 64;
const CONTEXT_REGISTERS: u64 = CONTEXT + REGISTERS;

/// `li r0, 172; sc`. Kernels return to the instruction before, which drops the frame of the call.
const SIGNAL_FRAMES64: &[SignalFrame] = &[
    frame64(&[0x38, 0x00, 0x00, 0xac, 0x44, 0x00, 0x00, 0x02]),
    frame64(&[0xac, 0x00, 0x00, 0x38, 0x02, 0x00, 0x00, 0x44]),
    frame64(&[0x38, 0x21, 0x00, 0x80, 0x38, 0x00, 0x00, 0xac, 0x44, 0x00, 0x00, 0x02]),
    frame64(&[0x80, 0x00, 0x21, 0x38, 0xac, 0x00, 0x00, 0x38, 0x02, 0x00, 0x00, 0x44]),
];

const fn frame64(code: &'static [u8]) -> SignalFrame {
    let saved = SavedRegisters { width: 8, order: ORDER, beside: &[] };
    SignalFrame { code, registers: registers64, saved, has_context: true, keeps_others: false }
}

/// The kernel has the context right behind the call's frame, emulators 16 bytes further.
fn registers64(sp: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    let at = |offset: u64| {
        let registers = sp.checked_add(offset)?.checked_add(CONTEXT_REGISTERS)?;
        let pointer = space.read_addr(registers.wrapping_offset(-8)).ok()?;
        (pointer == registers).then_some(registers)
    };
    [128, 144, 0, 16].into_iter().find_map(at)
}

/// `li r0, 172; sc` and `li r0, 119; sc`. Both frames hold a pointer to the registers.
const SIGNAL_FRAMES32: &[SignalFrame] = &[
    SignalFrame {
        code: &[0x38, 0x00, 0x00, 0xac, 0x44, 0x00, 0x00, 0x02],
        registers: |sp, space| space.read_addr(sp.checked_add(256)?).ok(),
        saved: SavedRegisters { width: 4, order: ORDER, beside: &[] },
        has_context: true,
        keeps_others: false,
    },
    SignalFrame {
        code: &[0x38, 0x00, 0x00, 0x77, 0x44, 0x00, 0x00, 0x02],
        registers: |sp, space| space.read_addr(sp.checked_add(92)?).ok(),
        saved: SavedRegisters { width: 4, order: ORDER, beside: &[] },
        has_context: false,
        keeps_others: false,
    },
];

/// `struct pt_regs`.
const ORDER: &[&str] = &[
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27",
    "r28", "r29", "r30", "r31", "pc", "msr", "orig_r3", "ctr", "lr", "xer", "ccr", "softe", "trap",
    "dar", "dsisr", "result",
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
    ("r16", RegisterId(16)),
    ("r17", RegisterId(17)),
    ("r18", RegisterId(18)),
    ("r19", RegisterId(19)),
    ("r20", RegisterId(20)),
    ("r21", RegisterId(21)),
    ("r22", RegisterId(22)),
    ("r23", RegisterId(23)),
    ("r24", RegisterId(24)),
    ("r25", RegisterId(25)),
    ("r26", RegisterId(26)),
    ("r27", RegisterId(27)),
    ("r28", RegisterId(28)),
    ("r29", RegisterId(29)),
    ("r30", RegisterId(30)),
    ("r31", RegisterId(31)),
    ("lr", LINK),
    ("ctr", COUNT),
    ("ccr", CONDITION),
];

/// Whether a call ends at `at`: a branch that sets the link register.
fn follows_call(at: Addr, space: &dyn AddressSpace) -> bool {
    word_at(at, -4, space).is_some_and(|word| match word >> 26 {
        16 | 18 => word & 1 != 0,
        // bctrl and blrl, with any condition.
        19 => matches!(word & 0x7ff, 0x421 | 0x021),
        _ => false,
    })
}

/// The target of a `bl` that ends at `at`.
fn called_before(at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    let word = word_at(at, -4, space).filter(|word| word & 0xfc00_0003 == 0x4800_0001)?;
    let distance = (word & 0x03ff_fffc) << 6;
    Some(at.wrapping_offset(-4).wrapping_offset(i64::from(distance.cast_signed() >> 6)))
}
