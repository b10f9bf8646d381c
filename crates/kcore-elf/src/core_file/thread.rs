//! Notes about one thread: `NT_PRSTATUS`, `NT_SIGINFO`, and the register sets as raw bytes.
//!
//! Layouts of `struct elf_prstatus` (Linux `include/linux/elfcore.h`) and `siginfo_t`
//! (`include/uapi/asm-generic/siginfo.h`). The registers themselves are decoded by the
//! architecture, in kcore-unwind.

use std::ops::Range;

use kcore_mem::{Addr, Arch, Cursor, Target};

use super::{LiveThread, arch::shared_number};

/// What a core knows of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreThread {
    /// LWP id, in the pid namespace of the dumper.
    pub tid: u32,
    /// `pr_cursig`, by the number that most architectures share: the signal that the kernel was delivering. Kernel cores set it for every
    /// thread.
    pub signal: u16,
    /// Where the general registers (`pr_reg`) lie in the file, half-open.
    pub registers: Range<u64>,
    /// Where its floating-point registers (`NT_FPREGSET`) lie in the file.
    pub fp_registers: Option<Range<u64>>,
    /// Where all registers that the architecture added since lie in the file (`NT_X86_XSTATE`).
    pub extended_registers: Option<Range<u64>>,
    /// This thread's `NT_SIGINFO`, if the core has one.
    pub siginfo: Option<SignalInfo>,
    /// `NT_ARM_TLS` of aarch64: the register `tpidr_el0`.
    pub thread_pointer: Option<Addr>,
    /// What the live process said of it, if kcore wrote this.
    pub live: Option<LiveThread>,
}

/// Offset of `pr_reg` in the descriptor, and of the thread's id, for a word size.
struct StatusLayout {
    pid: usize,
    registers: usize,
    /// Bytes after the registers: `pr_fpvalid` and padding.
    tail: usize,
}

impl StatusLayout {
    const fn of(target: Target) -> Self {
        match (target.arch, target.word) {
            (_, 8) => Self { pid: 32, registers: 112, tail: 8 },
            // Words are aligned to two bytes.
            (Arch::M68k, _) => Self { pid: 22, registers: 70, tail: 4 },
            // Registers of 64 bits align the note to eight bytes.
            (Arch::S390 | Arch::X86_64 | Arch::Mips64, _) => {
                Self { pid: 24, registers: 72, tail: 8 }
            }
            _ => Self { pid: 24, registers: 72, tail: 4 },
        }
    }
}

/// The target, by the length of `NT_PRSTATUS`, which alone tells n32 from o32 in a core (Linux
/// `arch/mips/kernel/binfmt_elfn32.c`).
pub fn target_of_status(len: usize, target: Target) -> Target {
    const N32: usize = 440;
    match (target.arch, len) {
        (Arch::Mips, N32) => Target { arch: Arch::Mips64, ..target },
        _ => target,
    }
}

impl CoreThread {
    /// Reads `NT_PRSTATUS`, whose descriptor begins at `desc_start` in the file; `None` when it is
    /// too short to hold registers.
    pub fn parse(desc: &[u8], desc_start: u64, target: Target) -> Option<Self> {
        let layout = StatusLayout::of(target);
        let mut cursor = Cursor::new(desc, target);
        cursor.skip(12).ok()?;
        let signal = shared_number(target.arch, cursor.u16().ok()?);
        cursor.skip(layout.pid.checked_sub(cursor.position())?).ok()?;
        let tid = cursor.u32().ok()?;
        let end = desc.len().checked_sub(layout.tail)?;
        let len = end.checked_sub(layout.registers).filter(|len| *len > 0)?;
        let start = desc_start.checked_add(layout.registers as u64)?;
        let registers = start..start.checked_add(len as u64)?;
        Some(Self {
            tid,
            signal,
            registers,
            fp_registers: None,
            extended_registers: None,
            siginfo: None,
            thread_pointer: None,
            live: None,
        })
    }
}

/// `NT_SIGINFO`: why a signal was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalInfo {
    /// `si_signo`, by the number that most architectures share.
    pub number: i32,
    /// `si_errno`.
    pub errno: i32,
    /// `si_code`.
    pub code: i32,
    /// What belongs to that signal and code.
    pub detail: SignalDetail,
}

/// The part of `siginfo_t` that depends on signal and code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalDetail {
    /// A fault of the machine, with `si_addr`.
    Fault {
        /// The address.
        address: Addr,
    },
    /// Sent by a process.
    Sender {
        /// `si_pid`.
        pid: u32,
        /// `si_uid`.
        uid: u32,
    },
    /// A system call that a filter refused (`SIGSYS`).
    SystemCall {
        /// `si_call_addr`.
        address: Addr,
        /// `si_syscall`.
        number: u32,
    },
    /// Sent by the kernel, with nothing more to say.
    None,
}

const SIGILL: i32 = 4;
const SIGTRAP: i32 = 5;
const SIGBUS: i32 = 7;
const SIGFPE: i32 = 8;
const SIGSEGV: i32 = 11;
const SIGSYS: i32 = 31;
/// `si_code` of a fault for which the kernel has no address, such as one at a non-canonical
/// address.
const SI_KERNEL: i32 = 0x80;

impl SignalInfo {
    /// `si_code` where the dumper did not tell it, and the address alone.
    pub const NO_CODE: i32 = i32::MAX;

    /// Reads the descriptor; `None` when it is too short.
    pub fn parse(desc: &[u8], target: Target) -> Option<Self> {
        let mut cursor = Cursor::new(desc, target);
        let number = cursor.u32().ok()?;
        let number = match u16::try_from(number) {
            Ok(own) => i32::from(shared_number(target.arch, own)),
            Err(_) => number.cast_signed(),
        };
        let errno = cursor.u32().ok()?.cast_signed();
        let code = cursor.u32().ok()?.cast_signed();
        // MIPS alone has them the other way round (Linux `arch/mips/include/uapi/asm/siginfo.h`).
        let is_swapped = matches!(target.arch, Arch::Mips | Arch::Mips64);
        let (errno, code) = if is_swapped { (code, errno) } else { (errno, code) };
        cursor.align(target.word_size());
        let detail = SignalDetail::parse(number, code, &mut cursor)?;
        Some(Self { number, errno, code, detail })
    }
}

impl SignalDetail {
    fn parse(number: i32, code: i32, cursor: &mut Cursor<'_>) -> Option<Self> {
        Some(match number {
            // A code of zero or below means that a process sent it.
            _ if code <= 0 => Self::Sender { pid: cursor.u32().ok()?, uid: cursor.u32().ok()? },
            _ if code == SI_KERNEL => Self::None,
            SIGILL | SIGTRAP | SIGBUS | SIGFPE | SIGSEGV => {
                Self::Fault { address: Addr::new(cursor.word().ok()?) }
            }
            SIGSYS => Self::SystemCall {
                address: Addr::new(cursor.word().ok()?),
                number: cursor.u32().ok()?,
            },
            _ => Self::None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prstatus_of_x86_64_has_216_bytes_of_registers_at_112() {
        let mut desc = vec![0; 336];
        desc[12] = 11;
        desc[32..36].copy_from_slice(&4711_u32.to_le_bytes());
        let thread = CoreThread::parse(&desc, 0x1000, Target::X86_64).unwrap();
        assert_eq!((thread.tid, thread.signal), (4711, 11));
        assert_eq!(thread.registers, 0x1070..0x1070 + 216);
        assert_eq!(CoreThread::parse(&desc[..112], 0, Target::X86_64), None);
    }

    fn siginfo(number: i32, code: i32, words: [u32; 4]) -> SignalInfo {
        let mut desc = Vec::new();
        for part in [number, 0, code, 0] {
            desc.extend_from_slice(&part.to_le_bytes());
        }
        desc.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        SignalInfo::parse(&desc, Target::X86_64).unwrap()
    }

    #[test]
    fn a_code_of_zero_or_below_names_a_sender_and_no_address() {
        let sent = siginfo(SIGSEGV, -6, [4711, 1000, 0, 0]);
        assert_eq!(sent.detail, SignalDetail::Sender { pid: 4711, uid: 1000 });
        let fault = siginfo(SIGSEGV, 1, [8, 0, 0, 0]);
        assert_eq!(fault.detail, SignalDetail::Fault { address: Addr::new(8) });
    }

    #[test]
    fn notes_of_other_machines_have_their_own_layouts() {
        let i386 = Target { arch: Arch::I386, word: 4, ..Target::X86_64 };
        let big = kcore_mem::Endian::Big;
        let m68k = Target { arch: Arch::M68k, word: 4, endian: big };
        let s390x = Target { arch: Arch::S390x, word: 8, endian: big };
        let found = |target: Target, size: usize, pid: usize| {
            let mut desc = vec![0; size];
            let id = 4711_u32;
            let id = if target.endian == big { id.to_be_bytes() } else { id.to_le_bytes() };
            desc[pid..pid + 4].copy_from_slice(&id);
            let thread = CoreThread::parse(&desc, 0, target).unwrap();
            (thread.tid, thread.registers)
        };
        assert_eq!(found(i386, 144, 24), (4711, 72..140));
        assert_eq!(found(m68k, 154, 22), (4711, 70..150));
        assert_eq!(found(s390x, 336, 32), (4711, 112..328));
        let x32 = Target { word: 4, ..Target::X86_64 };
        assert_eq!(found(x32, 296, 24), (4711, 72..288));
        let o32 = Target { arch: Arch::Mips, word: 4, endian: big };
        let n32 = target_of_status(440, o32);
        assert_eq!((n32.arch, n32.word), (Arch::Mips64, 4));
        assert_eq!(target_of_status(256, o32), o32);
        assert_eq!(found(n32, 440, 24), (4711, 72..432));
        let mips = Target { arch: Arch::Mips, word: 4, endian: big };
        let desc = [11_u32, 1, 0, 0x1234].map(u32::to_be_bytes).concat();
        let info = SignalInfo::parse(&desc, mips).unwrap();
        assert_eq!(
            (info.code, info.detail),
            (1, SignalDetail::Fault { address: Addr::new(0x1234) })
        );
    }

    #[test]
    fn the_address_of_a_non_canonical_fault_is_no_address() {
        assert_eq!(siginfo(SIGSEGV, SI_KERNEL, [0; 4]).detail, SignalDetail::None);
    }

    #[test]
    fn a_refused_system_call_has_its_number() {
        let refused = siginfo(SIGSYS, 1, [0x1000, 0, 59, 0]);
        let detail = SignalDetail::SystemCall { address: Addr::new(0x1000), number: 59 };
        assert_eq!(refused.detail, detail);
    }
}
