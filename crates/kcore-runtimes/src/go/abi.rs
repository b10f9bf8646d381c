//! How Go calls functions on each machine: which registers it uses, and where a return address lies (`runtime/traceback.go`,
//! `internal/goarch`, `runtime/signal_arm64.go`, `runtime/cgo/abi_{amd64,arm64}.h`, `runtime/race_{amd64,arm64}.s`, Go 1.19 to
//! 1.27).

use kcore_mem::{Addr, AddressSpace, Arch};
use kcore_unwind::{RegisterId, Regs};

use super::{goroutine::SavedRegisters, layout::CallLayout};

/// Bytes of a word.
const WORD: u64 = 8;

/// The calling convention of Go on one machine.
#[derive(Debug, PartialEq, Eq)]
pub struct Abi {
    sp: RegisterId,
    fp: RegisterId,
    /// The link register; `None` on a machine whose calls push the return address.
    link: Option<Link>,
    /// Bytes between the end of a frame and the arguments of its function.
    pub before_arguments: u64,
    /// The lowest address that an arena of the heap has.
    pub arenas_start: u64,
    /// The registers that hold Go's stack pointer and, where it is not on the stack, the return address while the race
    /// detector runs. C preserves both.
    pub race: (RegisterId, Option<RegisterId>),
    /// How `crosscall2` saves the registers that C expects to be preserved.
    pub from_c: FromC,
    /// How `runtime.racecallbackthunk` saves them.
    pub from_race: FromC,
    /// The offset in the frame of `runtime.cgocallback` on the thread's stack at which it saves the stack pointer of the
    /// previous call.
    pub call_before: u64,
}

/// The link register of a machine.
#[derive(Debug, PartialEq, Eq)]
struct Link {
    register: RegisterId,
    /// Bytes that a signal handler pushes to save the register, before it makes the interrupted function call another
    /// one.
    injected: u64,
}

/// The registers that an entry point from C saves.
#[derive(Debug, PartialEq, Eq)]
pub struct FromC {
    /// The registers, in the order in which they lie in memory, lowest address first.
    pub registers: &'static [u16],
    /// Where the first one lies.
    pub first: KeptBlock,
    /// Offsets of the frame pointer and of the return address from the stack pointer; `None` where they lie as in functions
    /// of Go.
    pub frame_record: Option<(u64, u64)>,
}

/// The position of a block of saved registers in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptBlock {
    /// Bytes above the stack pointer.
    BehindSp(u64),
    /// Bytes below the end of the frame.
    BelowCfa(u64),
}

/// `PUSH_REGS_HOST_TO_ABI0` saves rbx, r12 to r15 and rbp right below the return address.
const X86_64_FROM_C: FromC = FromC {
    registers: &[3, 12, 13, 14, 15, 6],
    first: KeptBlock::BelowCfa(7 * WORD),
    frame_record: None,
};

static X86_64: Abi = Abi {
    sp: RegisterId(7),
    fp: RegisterId(6),
    link: None,
    before_arguments: 0,
    arenas_start: 0xffff_8000_0000_0000,
    race: (RegisterId(12), None),
    from_c: X86_64_FROM_C,
    from_race: X86_64_FROM_C,
    call_before: 0,
};

/// The registers that functions of C preserve, x19 to x28.
const AARCH64_KEPT: &[u16] = &[19, 20, 21, 22, 23, 24, 25, 26, 27, 28];

static AARCH64: Abi = Abi {
    sp: RegisterId(31),
    fp: RegisterId(29),
    link: Some(Link { register: RegisterId(30), injected: 16 }),
    before_arguments: WORD,
    arenas_start: 0,
    race: (RegisterId(19), Some(RegisterId(20))),
    from_c: FromC {
        registers: AARCH64_KEPT,
        first: KeptBlock::BehindSp(4 * WORD),
        frame_record: Some((22 * WORD, 23 * WORD)),
    },
    from_race: FromC {
        registers: AARCH64_KEPT,
        first: KeptBlock::BehindSp(3 * WORD),
        frame_record: Some((21 * WORD, 0)),
    },
    call_before: 2 * WORD,
};

impl Abi {
    /// That of a machine; `None` of one on which the stacks of Go are not known.
    pub const fn of(arch: Arch) -> Option<&'static Self> {
        match arch {
            Arch::X86_64 => Some(&X86_64),
            Arch::Aarch64 => Some(&AARCH64),
            _ => None,
        }
    }

    /// Registers as they are set for a stack that begins with them.
    pub fn registers(&self, saved: SavedRegisters) -> Regs {
        let mut regs = Regs::new(saved.pc);
        regs.set(self.sp, saved.sp.map(Addr::get));
        regs.set(self.fp, saved.fp.map(Addr::get));
        if let Some(link) = &self.link {
            regs.set(link.register, saved.link.map(Addr::get));
        }
        regs
    }

    /// The stack pointer.
    pub fn sp(&self, regs: &Regs) -> Option<Addr> {
        regs.get(self.sp).map(Addr::new)
    }

    /// The frame pointer.
    pub fn fp(&self, regs: &Regs) -> Option<Addr> {
        regs.get(self.fp).map(Addr::new)
    }

    /// The return address of a function whose frame takes `delta` bytes above `sp`, and the end of that frame. On a machine
    /// with a link register, a function without a frame still has its return address there.
    pub fn return_of(
        &self,
        space: &dyn AddressSpace,
        sp: Addr,
        delta: u64,
        regs: Option<&Regs>,
    ) -> Option<(Addr, Addr)> {
        let end = sp.checked_add(delta)?;
        match &self.link {
            None => Some((space.read_addr(end).ok()?, end.checked_add(WORD)?)),
            Some(link) if delta == 0 => Some((Addr::new(regs?.get(link.register)?), end)),
            Some(_) => Some((space.read_addr(sp).ok()?, end)),
        }
    }

    /// The frame pointer that a compiled function with a frame keeps: below the return address, or below its stack
    /// pointer.
    pub fn kept_fp(&self, space: &dyn AddressSpace, sp: Addr, delta: u64) -> Option<Addr> {
        let end = if self.link.is_some() { sp } else { sp.checked_add(delta)? };
        space.read_addr(Addr::new(end.get().checked_sub(WORD)?)).ok()
    }

    /// The link register and the stack pointer of interrupted code that a signal handler made call a function. `cfa` is the
    /// end of the frame of that function; the handler saved the link register right above it.
    pub fn before_injection(
        &self,
        space: &dyn AddressSpace,
        cfa: Addr,
    ) -> Option<(Option<Addr>, Addr)> {
        match &self.link {
            None => Some((None, cfa)),
            Some(link) => Some((space.read_addr(cfa).ok(), cfa.checked_add(link.injected)?)),
        }
    }

    /// Whether a call leaves the return address in a link register.
    pub const fn has_link(&self) -> bool {
        self.link.is_some()
    }

    /// Where `runtime.asmcgocall` saves what it needs to return to Go. `of_version` is the layout of this version on
    /// x86-64.
    pub const fn call(&self, of_version: CallLayout) -> CallLayout {
        match self.link {
            None => of_version,
            Some(_) => CallLayout { goroutine: 0, depth: WORD, room: 2 * WORD },
        }
    }

    /// The target of the instruction that `bytes` begin with and that lies at an address, if it is a direct call.
    pub fn called(&self, bytes: &[u8], at: Addr) -> Option<Addr> {
        const CALL: u8 = 0xe8;
        const CALL_LEN: u64 = 5;
        /// `bl`: the distance in words is its lowest 26 bits.
        const BL: u32 = 0b10_0101;
        let (from, distance) = if self.has_link() {
            (at.get() & 3 == 0).then_some(())?;
            let word = u32::from_le_bytes(*bytes.first_chunk()?);
            (word >> 26 == BL).then_some(())?;
            (at, i64::from((word << 6).cast_signed() >> 4))
        } else {
            (bytes.first() == Some(&CALL)).then_some(())?;
            let distance = i32::from_le_bytes(*bytes.get(1..)?.first_chunk()?);
            (at.checked_add(CALL_LEN)?, i64::from(distance))
        };
        from.get().checked_add_signed(distance).map(Addr::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_lead_forwards_and_backwards() {
        let called = |abi: &Abi, bytes: &[u8]| abi.called(bytes, Addr::new(0x1000)).map(Addr::get);
        assert_eq!(called(&X86_64, &[0xe8, 0xfb, 0xff, 0xff, 0xff]), Some(0x1000));
        assert_eq!(called(&X86_64, &[0xe9, 0, 0, 0, 0]), None);
        assert_eq!(called(&AARCH64, &0x9400_0002_u32.to_le_bytes()), Some(0x1008));
        assert_eq!(called(&AARCH64, &0x97ff_ffff_u32.to_le_bytes()), Some(0xffc));
        assert_eq!(called(&AARCH64, &0x1400_0002_u32.to_le_bytes()), None, "no call");
    }
}
