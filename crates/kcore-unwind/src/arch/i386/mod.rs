//! i386: System V ABI, Linux (`arch/x86/include/asm/elf.h`, `ELF_CORE_COPY_REGS`; `struct user_regs_struct32`).

use super::{
    described::{
        Calls, Chain, Description, Layout, SavedRegisters, SignalFrame, SystemCalls, Ucontext,
    },
    x86_64::decode,
};
use crate::RegisterId;

/// What is to be known of the machine.
pub const MACHINE: Description = Description {
    pr_reg: 68,
    layout: Layout(&[(4, ORDER)]),
    fp_layout: None,
    names: NAMES,
    other_names: &[("pc", "eip"), ("sp", "esp"), ("fp", "ebp")],
    of_thread: &["gsbase"],
    thread_pointer: None,
    pc: "eip",
    program_counter: RegisterId(8),
    stack_pointer: RegisterId(4),
    frame_pointer: RegisterId(5),
    link: None,
    after_call: 0,
    // ebx, ebp, esi, edi.
    preserved: &[3, 5, 6, 7],
    code_bits: u32::MAX as u64,
    stack_pointer_is_cfa: true,
    signal_frames: SIGNAL_FRAMES,
    ucontext: Some(UCONTEXT),
    calls: Calls { follows: decode::follows_call, target: decode::called_before, has_called: None },
    system_calls: SystemCalls {
        // `int $0x80`, `sysenter`, and `syscall`, behind which the kernel's page has an `int $0x80`.
        instructions: &[
            &[Some(0xcd), Some(0x80)],
            &[Some(0x0f), Some(0x34)],
            &[Some(0x0f), Some(0x05)],
        ],
        number: &["orig_eax"],
        number_in_code: false,
        lowest: 0,
    },
    chain: Chain::Record { saved: 0, return_address: 4, cfa: 8 },
    exception_table: None,
    prologue: None,
};

/// `pr_reg`.
const ORDER: &[&str] = &[
    "ebx", "ecx", "edx", "esi", "edi", "ebp", "eax", "ds", "es", "fs", "gs", "orig_eax", "eip",
    "cs", "eflags", "esp", "ss",
];

/// By DWARF number (System V ABI, i386, 2.14).
const NAMES: &[(&str, RegisterId)] = &[
    ("eax", RegisterId(0)),
    ("ecx", RegisterId(1)),
    ("edx", RegisterId(2)),
    ("ebx", RegisterId(3)),
    ("esp", RegisterId(4)),
    ("ebp", RegisterId(5)),
    ("esi", RegisterId(6)),
    ("edi", RegisterId(7)),
];

/// `struct sigcontext_32` (Linux `arch/x86/include/uapi/asm/sigcontext.h`).
const SIGCONTEXT: SavedRegisters = SavedRegisters {
    width: 4,
    order: &["", "", "", "", "edi", "esi", "ebp", "esp", "ebx", "edx", "ecx", "eax", "", "", "eip"],
    beside: &[],
};

/// Offset of `uc_mcontext` in `ucontext_t`.
const REGISTERS: u64 = 20;

const SIGNAL_FRAMES: &[SignalFrame] = &[
    // `mov $173,%eax; int $0x80`: the handler's arguments lie at the stack pointer, the third is the context.
    SignalFrame {
        code: &[0xb8, 0xad, 0, 0, 0, 0xcd, 0x80],
        registers: |sp, space| space.read_addr(sp.checked_add(8)?).ok()?.checked_add(REGISTERS),
        saved: SIGCONTEXT,
        has_context: true,
        keeps_others: false,
    },
    // `pop %eax; mov $119,%eax; int $0x80`: behind the handler's argument.
    SignalFrame {
        code: &[0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80],
        registers: |sp, _| sp.checked_add(4),
        saved: SIGCONTEXT,
        has_context: false,
        keeps_others: false,
    },
];

/// In `struct rt_sigframe_ia32`, three arguments and the `siginfo_t` lie before it (Linux
/// `arch/x86/include/asm/sigframe.h`).
const UCONTEXT: Ucontext = Ucontext {
    signal_info: Some(-128),
    registers: REGISTERS,
    saved: SIGCONTEXT,
    mask: 108,
    fault_address: Some(REGISTERS + 84),
};
