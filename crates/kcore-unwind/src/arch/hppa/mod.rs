//! PA-RISC of 32 bits: Linux (`arch/parisc/include/asm/elf.h`, `ELF_CORE_COPY_REGS`). Its stacks grow upwards, which no
//! walk follows: the innermost frame alone is shown.

use kcore_mem::{Addr, AddressSpace};

use super::described::{Calls, Chain, Description, Layout, SystemCalls, UNNUMBERED_PC, word_at};
use crate::RegisterId;

/// What is to be known of the machine.
pub const MACHINE: Description = Description {
    pr_reg: 320,
    layout: Layout(&[(4, GENERAL), (4, SPECIAL)]),
    fp_layout: None,
    names: NAMES,
    other_names: &[("sp", "r30"), ("rp", "r2")],
    of_thread: &["cr27"],
    thread_pointer: None,
    pc: "pc",
    program_counter: UNNUMBERED_PC,
    stack_pointer: RegisterId(30),
    frame_pointer: RegisterId(3),
    link: Some(RegisterId(2)),
    after_call: 0,
    preserved: &[3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18],
    // The lowest bits are the privilege level.
    code_bits: 0xffff_fffc,
    stack_pointer_is_cfa: true,
    signal_frames: &[],
    ucontext: None,
    calls: Calls { follows: follows_call, target: |_, _| None, has_called: None },
    system_calls: SystemCalls {
        instructions: &[],
        number: &["r20"],
        number_in_code: false,
        lowest: 0,
    },
    chain: Chain::None,
    exception_table: None,
    prologue: None,
};

const GENERAL: &[&str] = &[
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27",
    "r28", "r29", "r30", "r31",
];

/// What follows the general registers.
const SPECIAL: &[&str] = &[
    "sr0", "sr1", "sr2", "sr3", "sr4", "sr5", "sr6", "sr7", "pc", "iaoq1", "iasq0", "iasq1", "sar",
    "iir", "isr", "ior", "cr22", "cr0", "cr24", "cr25", "cr26", "cr27", "cr28", "cr29", "cr30",
    "cr31", "cr8", "cr9", "cr10", "cr11", "cr12", "cr13",
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
];

/// Whether a call and its delay slot end at `at`: `b,l` and `be,l`.
fn follows_call(at: Addr, space: &dyn AddressSpace) -> bool {
    word_at(at, -8, space).is_some_and(|word| matches!(word >> 26, 0x3a | 0x39))
}
