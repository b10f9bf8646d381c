//! 32-bit Arm: AAPCS, EABI, Linux (`arch/arm/include/uapi/asm/ptrace.h`), in both instruction sets.
//!
//! Code is little-endian on big-endian machines too (BE8).

mod exception_table;
mod prologue;

use kcore_mem::{Addr, AddressSpace, Endian};

use super::described::{
    Calls, Chain, Description, Layout, Prologue, SavedRegisters, SignalFrame, SystemCalls,
    Ucontext, word_at,
};
use crate::{RegisterId, Regs};

/// What is to be known of the machine.
pub const MACHINE: Description = Description {
    pr_reg: 72,
    layout: Layout(&[(4, ORDER), (4, &["cpsr", "orig_r0"])]),
    fp_layout: None,
    names: NAMES,
    other_names: &[("fp", "r11"), ("ip", "r12"), ("r13", "sp"), ("r14", "lr"), ("r15", "pc")],
    of_thread: &[],
    thread_pointer: None,
    pc: "pc",
    program_counter: RegisterId(15),
    stack_pointer: RegisterId(13),
    frame_pointer: RegisterId(11),
    link: Some(RegisterId(14)),
    after_call: 0,
    preserved: &[4, 5, 6, 7, 8, 9, 10, 11],
    // Bit 0 says that the code is Thumb.
    code_bits: 0xffff_fffe,
    stack_pointer_is_cfa: true,
    signal_frames: SIGNAL_FRAMES,
    ucontext: Some(Ucontext {
        signal_info: Some(-128),
        registers: REGISTERS,
        saved: SIGCONTEXT,
        mask: 104,
        fault_address: Some(100),
    }),
    calls: Calls { follows: follows_call, target: called_before, has_called: Some(has_called) },
    system_calls: SystemCalls {
        instructions: &[
            &[Some(0x00), Some(0x00), Some(0x00), Some(0xef)],
            &[Some(0x00), Some(0xdf)],
        ],
        number: &["r7"],
        number_in_code: false,
        lowest: 0,
    },
    // As gcc keeps it in Arm code: the return address at the frame pointer, that of the caller below.
    chain: Chain::Record { saved: -4, return_address: 0, cfa: 4 },
    exception_table: Some(exception_table::read),
    prologue: Some(Prologue {
        decoders: &[prologue::thumb, prologue::arm],
        frames: &[7, 11],
        room_above: 0,
    }),
};

/// Bytes of `siginfo_t`, which begins the signal frame of a handler that asks for it.
const SIGNAL_INFO: u64 = 128;
/// Offset of the registers in `ucontext_t`, behind the trap's number, the error code and the old mask.
const REGISTERS: u64 = 32;

/// `struct sigcontext` (Linux `arch/arm/include/uapi/asm/sigcontext.h`).
const SIGCONTEXT: SavedRegisters = SavedRegisters { width: 4, order: ORDER, beside: &[] };

/// With `siginfo_t` or without it, in Arm code, in short Thumb code, and in that which glibc has.
const SIGNAL_FRAMES: &[SignalFrame] = &[
    with_info(&[0xad, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef]),
    with_info(&[0xad, 0x27, 0x00, 0xdf]),
    with_info(&[0x4f, 0xf0, 0xad, 0x07, 0x00, 0xdf]),
    plain(&[0x77, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef]),
    plain(&[0x77, 0x27, 0x00, 0xdf]),
    plain(&[0x4f, 0xf0, 0x77, 0x07, 0x00, 0xdf]),
];

const fn with_info(code: &'static [u8]) -> SignalFrame {
    const fn registers(sp: Addr, _: &dyn AddressSpace) -> Option<Addr> {
        sp.checked_add(SIGNAL_INFO + REGISTERS)
    }
    SignalFrame { code, registers, saved: SIGCONTEXT, has_context: true, keeps_others: false }
}

const fn plain(code: &'static [u8]) -> SignalFrame {
    const fn registers(sp: Addr, _: &dyn AddressSpace) -> Option<Addr> {
        sp.checked_add(REGISTERS)
    }
    SignalFrame { code, registers, saved: SIGCONTEXT, has_context: false, keeps_others: false }
}

const ORDER: &[&str] = &[
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr",
    "pc",
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
    ("sp", RegisterId(13)),
    ("lr", RegisterId(14)),
];

/// An instruction of four bytes, or two of two.
fn code_word(at: Addr, by: i64, space: &dyn AddressSpace) -> Option<u32> {
    let word = word_at(at, by, space)?;
    Some(if space.target().endian == Endian::Big { word.swap_bytes() } else { word })
}

/// Whether a call ends at `at`: `bl`, `blx`, and their Thumb forms.
fn follows_call(at: Addr, space: &dyn AddressSpace) -> bool {
    let Some(word) = code_word(at, -4, space) else { return false };
    let (first, second) = (word & 0xffff, word >> 16);
    let is_arm = word & 0x0f00_0000 == 0x0b00_0000
        || word & 0xfe00_0000 == 0xfa00_0000
        || word & 0x0fff_fff0 == 0x012f_ff30;
    let is_thumb =
        (first & 0xf800 == 0xf000 && second & 0xc000 == 0xc000) || second & 0xff87 == 0x4780;
    is_thumb || (is_arm && at.get().is_multiple_of(4))
}

/// Whether the call that the link register tells of is `blx` by a register that holds the pc. A function may return by
/// `pop {pc}`, which leaves the link register as its last call left it.
fn has_called(regs: &Regs, space: &dyn AddressSpace) -> bool {
    let Some(link) = regs.get(RegisterId(14)) else { return false };
    let back = Addr::new(link & !1);
    let register = match link & 1 {
        0 => code_word(back, -4, space)
            .filter(|word| word & 0x0fff_fff0 == 0x012f_ff30)
            .map(|word| word & 0xf),
        _ => code_word(back, -4, space)
            .filter(|word| (word >> 16) & 0xff87 == 0x4780)
            .map(|word| (word >> 19) & 0xf),
    };
    let target = register.and_then(|register| regs.get(RegisterId(u16::try_from(register).ok()?)));
    target.is_some_and(|target| target & !1 == regs.pc().get())
}

/// Arm and Thumb code cannot be told apart here, so no call is said to lead anywhere.
const fn called_before(_at: Addr, _space: &dyn AddressSpace) -> Option<Addr> {
    None
}
