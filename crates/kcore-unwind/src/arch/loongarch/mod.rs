//! LoongArch of 64 bits: psABI, Linux (`arch/loongarch/include/uapi/asm/ptrace.h`, `struct user_pt_regs`).

use kcore_mem::{Addr, AddressSpace};

use super::described::{
    Calls, Chain, Description, Effect, Layout, Prologue, SavedRegisters, SignalFrame, SystemCalls,
    UNNUMBERED_PC, Ucontext, word_at,
};
use crate::RegisterId;

/// What is to be known of the machine.
pub const MACHINE: Description = Description {
    pr_reg: 360,
    layout: Layout(&[(8, GENERAL), (8, &["orig_a0", "pc", "badv"])]),
    fp_layout: None,
    names: NAMES,
    other_names: OTHER_NAMES,
    of_thread: &["tp"],
    thread_pointer: None,
    pc: "pc",
    program_counter: UNNUMBERED_PC,
    stack_pointer: RegisterId(3),
    frame_pointer: RegisterId(22),
    link: Some(RegisterId(1)),
    after_call: 0,
    preserved: &[2, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31],
    code_bits: u64::MAX,
    stack_pointer_is_cfa: true,
    // `li.w a7, 139; syscall 0`.
    signal_frames: &[SignalFrame {
        code: &[0x0b, 0x2c, 0x82, 0x03, 0x00, 0x00, 0x2b, 0x00],
        registers: |sp, _| sp.checked_add(128 + REGISTERS),
        saved: SIGCONTEXT,
        has_context: true,
        keeps_others: false,
    }],
    ucontext: Some(Ucontext {
        signal_info: Some(-128),
        registers: REGISTERS,
        saved: SIGCONTEXT,
        mask: 40,
        fault_address: None,
    }),
    calls: Calls { follows: follows_call, target: called_before, has_called: None },
    system_calls: SystemCalls {
        instructions: &[&[Some(0x00), Some(0x00), Some(0x2b), Some(0x00)]],
        number: &["a7"],
        number_in_code: false,
        lowest: 0,
    },
    chain: Chain::Record { saved: -16, return_address: -8, cfa: 0 },
    exception_table: None,
    prologue: Some(Prologue { decoders: &[decode], frames: &[22], room_above: 0 }),
};

/// Offset of the registers in `ucontext_t`.
const REGISTERS: u64 = 176;

/// `struct sigcontext` (Linux `arch/loongarch/include/uapi/asm/sigcontext.h`).
const SIGCONTEXT: SavedRegisters = SavedRegisters {
    width: 8,
    order: &[
        "pc", "zero", "ra", "tp", "sp", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "t0", "t1",
        "t2", "t3", "t4", "t5", "t6", "t7", "t8", "r21", "fp", "s0", "s1", "s2", "s3", "s4", "s5",
        "s6", "s7", "s8",
    ],
    beside: &[],
};

const GENERAL: &[&str] = &[
    "zero", "ra", "tp", "sp", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "t0", "t1", "t2",
    "t3", "t4", "t5", "t6", "t7", "t8", "r21", "fp", "s0", "s1", "s2", "s3", "s4", "s5", "s6",
    "s7", "s8",
];

const NAMES: &[(&str, RegisterId)] = &[
    ("zero", RegisterId(0)),
    ("ra", RegisterId(1)),
    ("tp", RegisterId(2)),
    ("sp", RegisterId(3)),
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
    ("t4", RegisterId(16)),
    ("t5", RegisterId(17)),
    ("t6", RegisterId(18)),
    ("t7", RegisterId(19)),
    ("t8", RegisterId(20)),
    ("r21", RegisterId(21)),
    ("fp", RegisterId(22)),
    ("s0", RegisterId(23)),
    ("s1", RegisterId(24)),
    ("s2", RegisterId(25)),
    ("s3", RegisterId(26)),
    ("s4", RegisterId(27)),
    ("s5", RegisterId(28)),
    ("s6", RegisterId(29)),
    ("s7", RegisterId(30)),
    ("s8", RegisterId(31)),
];

const OTHER_NAMES: &[(&str, &str)] = &[
    ("r0", "zero"),
    ("r1", "ra"),
    ("r2", "tp"),
    ("r3", "sp"),
    ("r4", "a0"),
    ("r5", "a1"),
    ("r6", "a2"),
    ("r7", "a3"),
    ("r8", "a4"),
    ("r9", "a5"),
    ("r10", "a6"),
    ("r11", "a7"),
    ("r12", "t0"),
    ("r13", "t1"),
    ("r14", "t2"),
    ("r15", "t3"),
    ("r16", "t4"),
    ("r17", "t5"),
    ("r18", "t6"),
    ("r19", "t7"),
    ("r20", "t8"),
    ("r22", "fp"),
    ("r23", "s0"),
    ("r24", "s1"),
    ("r25", "s2"),
    ("r26", "s3"),
    ("r27", "s4"),
    ("r28", "s5"),
    ("r29", "s6"),
    ("r30", "s7"),
    ("r31", "s8"),
    ("era", "pc"),
];

/// Whether a call ends at `at`: `bl`, and `jirl` that links in `ra`.
fn follows_call(at: Addr, space: &dyn AddressSpace) -> bool {
    word_at(at, -4, space)
        .is_some_and(|word| word >> 26 == 0x15 || (word >> 26 == 0x13 && word & 31 == 1))
}

/// The target of a `bl` that ends at `at`.
fn called_before(at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    let word = word_at(at, -4, space).filter(|word| word >> 26 == 0x15)?;
    let words = ((word & 0x3ff) << 16) | ((word >> 10) & 0xffff);
    let distance = i64::from((words << 6).cast_signed() >> 6).wrapping_mul(4);
    Some(at.wrapping_offset(-4).wrapping_offset(distance))
}

/// How functions begin: `addi.d sp, sp, -n`, `st.d` to the stack, `addi.d fp, sp, n`.
fn decode(code: &[u8], _is_big: bool) -> Option<(Effect, usize)> {
    let word = u32::from_le_bytes(*code.first_chunk()?);
    let immediate = i64::from((word << 10).cast_signed() >> 20);
    let effect = match word {
        _ if word & 0xffc0_03ff == 0x02c0_0063 => Effect::Move(immediate),
        _ if word & 0xffc0_03ff == 0x02c0_0076 => Effect::SetFrame(22, immediate),
        _ if word & 0xffc0_03e0 == 0x29c0_0060 => Effect::Store((word & 31) as u16, immediate),
        _ => Effect::None,
    };
    Some((effect, 4))
}
