//! Alpha: calling standard, Linux (`arch/alpha/kernel/process.c`, `dump_elf_thread`).

use kcore_mem::{Addr, AddressSpace};

use super::described::{
    Calls, Chain, Description, Effect, Layout, Prologue, SystemCalls, UNNUMBERED_PC, word_at,
};
use crate::RegisterId;

/// What is to be known of the machine.
pub const MACHINE: Description = Description {
    pr_reg: 264,
    layout: Layout(&[(8, GENERAL), (8, &["pc", "unique"])]),
    fp_layout: None,
    names: NAMES,
    other_names: OTHER_NAMES,
    of_thread: &["unique"],
    thread_pointer: None,
    pc: "pc",
    program_counter: UNNUMBERED_PC,
    stack_pointer: RegisterId(30),
    frame_pointer: RegisterId(15),
    link: Some(RegisterId(26)),
    after_call: 0,
    preserved: &[9, 10, 11, 12, 13, 14, 15],
    code_bits: !3,
    stack_pointer_is_cfa: true,
    signal_frames: &[],
    ucontext: None,
    calls: Calls { follows: follows_call, target: |_, _| None, has_called: None },
    system_calls: SystemCalls {
        instructions: &[&[Some(0x83), Some(0x00), Some(0x00), Some(0x00)]],
        number: &["v0"],
        number_in_code: false,
        lowest: 0,
    },
    chain: Chain::None,
    exception_table: None,
    prologue: Some(Prologue { decoders: &[decode], frames: &[15], room_above: 0 }),
};

const GENERAL: &[&str] = &[
    "v0", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "s0", "s1", "s2", "s3", "s4", "s5", "fp",
    "a0", "a1", "a2", "a3", "a4", "a5", "t8", "t9", "t10", "t11", "ra", "t12", "at", "gp", "sp",
];

const NAMES: &[(&str, RegisterId)] = &[
    ("v0", RegisterId(0)),
    ("t0", RegisterId(1)),
    ("t1", RegisterId(2)),
    ("t2", RegisterId(3)),
    ("t3", RegisterId(4)),
    ("t4", RegisterId(5)),
    ("t5", RegisterId(6)),
    ("t6", RegisterId(7)),
    ("t7", RegisterId(8)),
    ("s0", RegisterId(9)),
    ("s1", RegisterId(10)),
    ("s2", RegisterId(11)),
    ("s3", RegisterId(12)),
    ("s4", RegisterId(13)),
    ("s5", RegisterId(14)),
    ("fp", RegisterId(15)),
    ("a0", RegisterId(16)),
    ("a1", RegisterId(17)),
    ("a2", RegisterId(18)),
    ("a3", RegisterId(19)),
    ("a4", RegisterId(20)),
    ("a5", RegisterId(21)),
    ("t8", RegisterId(22)),
    ("t9", RegisterId(23)),
    ("t10", RegisterId(24)),
    ("t11", RegisterId(25)),
    ("ra", RegisterId(26)),
    ("t12", RegisterId(27)),
    ("at", RegisterId(28)),
    ("gp", RegisterId(29)),
    ("sp", RegisterId(30)),
];

const OTHER_NAMES: &[(&str, &str)] = &[
    ("r0", "v0"),
    ("r1", "t0"),
    ("r2", "t1"),
    ("r3", "t2"),
    ("r4", "t3"),
    ("r5", "t4"),
    ("r6", "t5"),
    ("r7", "t6"),
    ("r8", "t7"),
    ("r9", "s0"),
    ("r10", "s1"),
    ("r11", "s2"),
    ("r12", "s3"),
    ("r13", "s4"),
    ("r14", "s5"),
    ("r15", "fp"),
    ("r16", "a0"),
    ("r17", "a1"),
    ("r18", "a2"),
    ("r19", "a3"),
    ("r20", "a4"),
    ("r21", "a5"),
    ("r22", "t8"),
    ("r23", "t9"),
    ("r24", "t10"),
    ("r25", "t11"),
    ("r26", "ra"),
    ("r27", "t12"),
    ("r28", "at"),
    ("r29", "gp"),
    ("r30", "sp"),
];

/// Whether a call ends at `at`: `bsr` and `jsr` that link in `ra`.
fn follows_call(at: Addr, space: &dyn AddressSpace) -> bool {
    word_at(at, -4, space).is_some_and(|word| {
        let is_call = word >> 26 == 0x34 || (word >> 26 == 0x1a && (word >> 14) & 3 == 1);
        is_call && (word >> 21) & 31 == 26
    })
}

/// How functions begin: `lda sp, -n(sp)`, `stq` to the stack, `mov sp, fp`.
fn decode(code: &[u8], _is_big: bool) -> Option<(Effect, usize)> {
    let word = u32::from_le_bytes(*code.first_chunk()?);
    let immediate = i64::from((word << 16).cast_signed() >> 16);
    let effect = match word {
        _ if word >> 16 == 0x23de => Effect::Move(immediate),
        _ if word >> 26 == 0x2d && (word >> 16) & 31 == 30 => {
            Effect::Store(((word >> 21) & 31) as u16, immediate)
        }
        0x47fe_040f => Effect::SetFrame(15, 0),
        _ => Effect::None,
    };
    Some((effect, 4))
}
