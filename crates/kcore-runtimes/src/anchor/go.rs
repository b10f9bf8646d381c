//! Where Go's runtime goes to the stack of the system, on x86-64: `runtime.asmcgocall`, by which C is called, and
//! `runtime.systemstack` (`runtime/asm_amd64.s`, Go 1.17 to 1.25).
//!
//! Their unwind information is wrong: it places the caller on the same stack. What they do after their own call, to switch
//! back, is the same code in all these versions, and tells them apart where a stripped file has no names.

use kcore_mem::{Addr, AddrRange, AddressSpace, Arch};
use kcore_unwind::{Phase, RegisterId, Regs, RuleFrame, RuleStep};

use super::Anchor;
use crate::{Host, HostModule};

const RBP: RegisterId = RegisterId(6);
const RSP: RegisterId = RegisterId(7);
/// Sections that Go's linker makes; the second one in files that may lie anywhere, where the system's linker keeps it.
const TABLES: [&str; 3] = [".gopclntab", ".data.rel.ro.gopclntab", ".go.buildinfo"];

/// Go's runtime alone has more code.
const MIN_CODE: u64 = 256 << 10;

/// `mov 0x30(%rsp),%rdi; mov 0x8(%rdi),%rsi; sub 0x28(%rsp),%rsi`: the stack pointer was saved by its distance from the
/// end of the stack of a goroutine, which may be moved meanwhile.
const BACK_TO_GOROUTINE: [u8; 14] =
    [0x48, 0x8b, 0x7c, 0x24, 0x30, 0x48, 0x8b, 0x77, 0x08, 0x48, 0x2b, 0x74, 0x24, 0x28];
/// `mov 0x28(%rsp),%rsi; mov %rsi,%rsp`: it was on the stack of the system before, and aligned that.
const BACK_TO_UNALIGNED: [u8; 8] = [0x48, 0x8b, 0x74, 0x24, 0x28, 0x48, 0x89, 0xf4];
/// Bytes that it took for arguments, and at most to align.
const MAX_ALIGNED: u64 = 0x40 + 0x10;

/// `mov %fs:OFFSET,%rax`; the same by a register, which was loaded with a number or from memory.
const LOAD_G: [u8; 5] = [0x64, 0x48, 0x8b, 0x04, 0x25];
const LOAD_G_BY_RCX: [u8; 4] = [0x64, 0x48, 0x8b, 0x01];
const NUMBER_TO_RCX: [u8; 3] = [0x48, 0xc7, 0xc1];
const LOAD_RCX: [u8; 3] = [0x48, 0x8b, 0x0d];
/// `mov 0x30(%rax),%rbx; mov OFFSET(%rbx),%rax`: `g.m`, and `m.curg`.
const LOAD_CURRENT: [u8; 7] = [0x48, 0x8b, 0x58, 0x30, 0x48, 0x8b, 0x83];
/// Bytes of code that are looked at.
const CODE: usize = 48;

/// Fields of `runtime.g`: `stack.lo` and `stack.hi`, `m`, and of `sched` what the goroutine goes on with.
const STACK_LOW: i64 = 0;
const STACK_HIGH: i64 = 8;
const M: i64 = 0x30;
const SCHED_SP: i64 = 0x38;
const SCHED_PC: i64 = 0x40;
const SCHED_BP: i64 = 0x68;

/// The modules that Go's linker made.
struct Go(Vec<AddrRange>);

/// The anchor of Go's runtime, if a process has one.
pub fn find(host: &dyn Host) -> Option<Box<dyn Anchor>> {
    (host.space().target().arch == Arch::X86_64).then_some(())?;
    let is_go = |module: &&dyn HostModule| {
        let image = (module.code_size() >= MIN_CODE).then(|| module.image()).flatten();
        image.is_some_and(|image| TABLES.iter().any(|table| image.section(table).is_some()))
    };
    let modules: Vec<_> = host.modules().into_iter().filter(is_go).map(HostModule::span).collect();
    (!modules.is_empty()).then(|| Box::new(Go(modules)) as Box<dyn Anchor>)
}

impl Anchor for Go {
    fn step(
        &self,
        host: &dyn Host,
        phase: Phase,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        let pc = frame.pc.addr();
        (phase == Phase::BeforeCfi && frame.pc.is_return() && self.is_ours(pc)).then_some(())?;
        let memory = Memory(host.space());
        let code = memory.0.slice(pc).ok()?;
        let code = code.get(..CODE).unwrap_or(code);
        let sp = Addr::new(frame.regs.get(RSP)?);
        let left = if code.starts_with(&BACK_TO_GOROUTINE) {
            memory.by_distance(sp, frame.regs.get(RBP))
        } else if code.starts_with(&BACK_TO_UNALIGNED) {
            memory.unaligned(sp, frame.regs.get(RBP))
        } else {
            let to_current = offset_of_current(code, pc, memory)?;
            let pointer = host.thread_pointer(frame.thread?)?;
            self.scheduled(to_current, pointer, memory)
        }?;
        self.returned(left, memory, caller)
    }
}

/// The registers with which some code was left that will return.
struct Left {
    sp: Addr,
    fp: Option<u64>,
}

impl Go {
    fn is_ours(&self, pc: Addr) -> bool {
        self.0.iter().any(|module| module.contains(pc))
    }

    /// What a function returns to whose return address is on top of the stack.
    fn returned(&self, left: Left, memory: Memory<'_>, caller: &mut Regs) -> Option<RuleStep> {
        let pc = Addr::new(memory.word(left.sp, 0)?);
        let cfa = left.sp.checked_add(8)?;
        self.is_ours(pc).then_some(())?;
        *caller = Regs::new(pc);
        caller.set(RSP, Some(cfa.get()));
        caller.set(RBP, left.fp);
        Some(RuleStep::Caller { cfa, interrupted: false })
    }

    /// What the goroutine was left with that a thread runs. Its pc is that of a function which stands for
    /// `runtime.systemstack`.
    fn scheduled(&self, to: ToCurrent, pointer: Addr, memory: Memory<'_>) -> Option<Left> {
        let g = Addr::new(memory.word(pointer, to.g)?);
        let m = Addr::new(memory.word(g, M)?);
        let current = Goroutine::read(Addr::new(memory.word(m, to.current)?), memory)?;
        let sp = Addr::new(memory.word(current.at, SCHED_SP)?);
        let pc = Addr::new(memory.word(current.at, SCHED_PC)?);
        let fp = memory.word(current.at, SCHED_BP);
        let fp = fp.filter(|fp| current.stack.contains(Addr::new(*fp)));
        (current.stack.contains(sp) && self.is_ours(pc)).then_some(Left { sp, fp })
    }
}

struct Goroutine {
    at: Addr,
    stack: AddrRange,
}

impl Goroutine {
    fn read(at: Addr, memory: Memory<'_>) -> Option<Self> {
        let [low, high] = [memory.word(at, STACK_LOW)?, memory.word(at, STACK_HIGH)?];
        (low < high).then_some(())?;
        Some(Self { at, stack: AddrRange::new(Addr::new(low), Addr::new(high)) })
    }
}

/// Offsets that lead from a thread to the goroutine that it runs.
struct ToCurrent {
    /// Where the thread's `g` lies from its thread pointer.
    g: i64,
    /// Where `curg` lies in `m`.
    current: i64,
}

fn offset_of_current(code: &[u8], pc: Addr, memory: Memory<'_>) -> Option<ToCurrent> {
    let (g, rest) = offset_of_g(code, pc, memory)?;
    let current = number(rest.strip_prefix(&LOAD_CURRENT)?)?;
    Some(ToCurrent { g, current })
}

/// Where code finds the thread's `g`, and what stands behind.
fn offset_of_g<'a>(code: &'a [u8], pc: Addr, memory: Memory<'_>) -> Option<(i64, &'a [u8])> {
    if let Some(rest) = code.strip_prefix(&LOAD_G) {
        return Some((number(rest)?, rest.get(4..)?));
    }
    let by_number = code.strip_prefix(&NUMBER_TO_RCX);
    let rest = by_number.or_else(|| code.strip_prefix(&LOAD_RCX))?;
    let offset = match by_number {
        Some(_) => number(rest)?,
        None => {
            let behind = pc.checked_add(7)?;
            memory.word(behind, number(rest)?)?.cast_signed()
        }
    };
    Some((offset, rest.get(4..)?.strip_prefix(&LOAD_G_BY_RCX)?))
}

/// The number of 32 bits with which an instruction ends.
fn number(bytes: &[u8]) -> Option<i64> {
    bytes.first_chunk().map(|bytes| i32::from_le_bytes(*bytes).into())
}

#[derive(Clone, Copy)]
struct Memory<'a>(&'a dyn AddressSpace);

impl Memory<'_> {
    fn word(self, at: Addr, offset: i64) -> Option<u64> {
        self.0.read_word(at.wrapping_offset(offset)).ok()
    }

    fn by_distance(self, sp: Addr, fp: Option<u64>) -> Option<Left> {
        let goroutine = Goroutine::read(Addr::new(self.word(sp, 0x30)?), self)?;
        let distance = self.word(sp, 0x28)?.cast_signed().checked_neg()?;
        let sp = goroutine.stack.end.wrapping_offset(distance);
        goroutine.stack.contains(sp).then_some(Left { sp, fp })
    }

    fn unaligned(self, sp: Addr, fp: Option<u64>) -> Option<Left> {
        let saved = Addr::new(self.word(sp, 0x28)?);
        let taken = saved.offset_from(sp)?;
        (taken <= MAX_ALIGNED).then_some(Left { sp: saved, fp })
    }
}

#[cfg(test)]
mod tests {
    use kcore_mem::CodeAddr;

    use super::*;
    use crate::anchor::made_host::{MODULE, MadeHost, THREAD_POINTER, told};

    const SYSTEM: u64 = 0x6000_0000;
    /// A goroutine's stack, its `g`, and the thread's `m`.
    const STACK: u64 = 0xc000_0000;
    const G: u64 = 0xd000_0000;
    const MACHINE: u64 = G + 0x1000;
    const PC: u64 = 0x40_0100;
    const CALLER: u64 = 0x40_0800;
    const FP: u64 = STACK + 0x1800;

    fn process(code: &[u8]) -> MadeHost {
        let below_thread = THREAD_POINTER - 0x1000;
        let mut process = MadeHost::new(&[MODULE.start.get(), SYSTEM, STACK, G, below_thread]);
        process.put(PC, code);
        // The stack of the goroutine, on which the function was called.
        process.words(G, &[STACK, STACK + 0x2000]);
        process.words(STACK + 0x1000, &[CALLER]);
        process
    }

    fn step(process: &MadeHost) -> Option<(u64, u64, Option<u64>)> {
        let go = Go(vec![MODULE]);
        let pc = CodeAddr::Return(Addr::new(PC));
        let registers = [(7, SYSTEM), (6, FP)];
        told(process.step(&go, Phase::BeforeCfi, pc, &registers), 6)
    }

    #[test]
    fn c_was_called_on_the_stack_of_a_goroutine() {
        let mut process = process(&BACK_TO_GOROUTINE);
        process.words(SYSTEM + 0x28, &[0x1000, G]);
        assert_eq!(step(&process), Some((CALLER, STACK + 0x1008, Some(FP))));
        process.words(SYSTEM + 0x28, &[0x3000, G]);
        assert_eq!(step(&process), None, "it lies in no stack");
        process.words(SYSTEM + 0x28, &[0x1000, SYSTEM]);
        assert_eq!(step(&process), None, "no goroutine");
    }

    #[test]
    fn c_was_called_on_the_stack_of_the_system() {
        let mut process = process(&BACK_TO_UNALIGNED);
        process.words(SYSTEM + 0x28, &[SYSTEM + 0x48]);
        process.words(SYSTEM + 0x48, &[CALLER]);
        assert_eq!(step(&process), Some((CALLER, SYSTEM + 0x50, Some(FP))));
        process.words(SYSTEM + 0x48, &[0x1234]);
        assert_eq!(step(&process), None, "it returns to nothing of Go's");
        process.words(SYSTEM + 0x28, &[SYSTEM + 0x60]);
        assert_eq!(step(&process), None, "too far to be there for alignment");
    }

    /// The thread's `g`, eight bytes below its thread pointer, that of its machine and what that runs.
    fn scheduled(load_g: &[u8]) -> MadeHost {
        let current = [&LOAD_CURRENT[..], &0xc0_u32.to_le_bytes()].concat();
        let mut process = process(&[load_g, &current].concat());
        process.words(THREAD_POINTER - 8, &[G + 0x800]);
        process.words(G + 0x830, &[MACHINE]);
        process.words(MACHINE + 0xc0, &[G]);
        process.words(G + 0x38, &[STACK + 0x1000, CALLER]);
        process.words(G + 0x68, &[FP]);
        process
    }

    #[test]
    fn the_goroutine_of_a_thread_called_the_runtime() {
        let offset = (-8_i32).to_le_bytes();
        let by_number = [&NUMBER_TO_RCX[..], &offset, &LOAD_G_BY_RCX].concat();
        let by_memory = [&LOAD_RCX[..], &0x100_u32.to_le_bytes(), &LOAD_G_BY_RCX].concat();
        for load in [[&LOAD_G[..], &offset].concat(), by_number, by_memory] {
            let mut process = scheduled(&load);
            process.words(PC + 0x107, &[(-8_i64).cast_unsigned()]);
            assert_eq!(step(&process), Some((CALLER, STACK + 0x1008, Some(FP))));
            process.words(G + 0x68, &[SYSTEM]);
            assert_eq!(step(&process), Some((CALLER, STACK + 0x1008, None)));
            process.words(G + 0x38, &[STACK + 0x1000, 0x1234]);
            assert_eq!(step(&process), None, "it goes on in nothing of Go's");
            process.words(G + 0x38, &[SYSTEM, CALLER]);
            assert_eq!(step(&process), None, "not on its stack");
        }
    }

    #[test]
    fn other_code_is_left_alone() {
        assert_eq!(step(&process(&[0x90; 16])), None);
        assert_eq!(step(&process(&LOAD_G)), None);
        assert!(find(&MadeHost::new(&[])).is_none());
    }
}
