//! The caller of code that BEAM's JIT made (Erlang/OTP 25 and later, x86-64). Such code runs on the stack of an Erlang
//! process, and its caller lies on the stack of the thread.
//!
//! `process_main` jumps to code that keeps the registers of the virtual machine on the stack of its thread, has `rbx` point
//! to them all the time, and goes to the stack of a process from there (`erts/emulator/beam/jit/x86/process_main.cpp`,
//! `beam_asm.hpp`). So what called `process_main` is the first return address above them that is behind such a call.

use kcore_mem::{Addr, AddrRange, AddressSpace, Arch};
use kcore_unwind::{Phase, RegisterId, Regs, RuleFrame, RuleStep};

use super::Anchor;
use crate::Host;

const RBX: RegisterId = RegisterId(3);
const RSP: RegisterId = RegisterId(7);
/// Functions that every such virtual machine exports.
const MAIN: &str = "process_main";
const OTHERS: [&str; 2] = ["erts_schedule", "beamasm_init"];
/// The virtual machine has more code.
const MIN_CODE: u64 = 512 << 10;
/// Bytes that are looked at above `rbx`: 1024 registers of either kind, and what is aligned to a line of the cache.
const MAX_REGISTERS: u64 = 32 << 10;
/// `call` to an address relative to what follows it.
const CALL: u8 = 0xe8;
const CALL_LEN: i64 = 5;

struct Beam {
    module: AddrRange,
    main: Addr,
}

/// The anchor of the Erlang virtual machine that a process is, if it is one with a JIT.
pub fn find(host: &dyn Host) -> Option<Box<dyn Anchor>> {
    (host.space().target().arch == Arch::X86_64).then_some(())?;
    let modules = host.modules().into_iter().filter(|module| module.code_size() >= MIN_CODE);
    { modules }.find_map(|module| {
        let (main, _) = module.exported(MAIN)?;
        let is_beam = OTHERS.iter().all(|name| module.exported(name).is_some());
        let beam = Beam { module: module.span(), main: module.addr(main)? };
        is_beam.then(|| Box::new(beam) as Box<dyn Anchor>)
    })
}

impl Anchor for Beam {
    fn step(
        &self,
        host: &dyn Host,
        phase: Phase,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        (phase == Phase::AfterCode).then_some(())?;
        let at = frame.pc.lookup();
        let is_made =
            host.module_at(at).is_none() && host.range_at(at).is_some_and(|it| it.executable);
        is_made.then_some(())?;
        let registers = Addr::new(frame.regs.get(RBX)?);
        let (slot, pc) = self.return_address(registers, host.space())?;
        let cfa = slot.checked_add(8)?;
        *caller = Regs::new(pc);
        caller.set(RSP, Some(cfa.get()));
        Some(RuleStep::Caller { cfa, interrupted: false })
    }
}

impl Beam {
    /// The return address of `process_main` above the registers of the virtual machine, and where it lies.
    fn return_address(&self, registers: Addr, space: &dyn AddressSpace) -> Option<(Addr, Addr)> {
        registers.get().is_multiple_of(8).then_some(())?;
        let held = space.read_held(registers, MAX_REGISTERS);
        let mut words = held.as_chunks().0.iter().map(|word| Addr::new(u64::from_le_bytes(*word)));
        let index = words.position(|word| self.called_main(word, space))?;
        let slot = registers.checked_add((index as u64).checked_mul(8)?)?;
        Some((slot, space.read_addr(slot).ok()?))
    }

    /// Whether a call of `process_main` stands before an address.
    fn called_main(&self, pc: Addr, space: &dyn AddressSpace) -> bool {
        let called = || {
            let call = space.read_held(pc.wrapping_offset(-CALL_LEN), CALL_LEN.unsigned_abs());
            let (opcode, distance) = call.split_first()?;
            let distance = i32::from_le_bytes(*distance.first_chunk()?);
            (*opcode == CALL).then(|| pc.wrapping_offset(distance.into()))
        };
        self.module.contains(pc) && called() == Some(self.main)
    }
}

#[cfg(test)]
mod tests {
    use kcore_mem::CodeAddr;

    use super::*;
    use crate::anchor::made_host::{MODULE, MadeHost, told};

    const JIT: u64 = 0x10_0000;
    const STACK: u64 = 0x7000_0000;
    const MAIN_AT: u64 = 0x40_0100;
    /// Behind the call of `process_main`.
    const CALLED: u64 = 0x40_0805;

    fn beam() -> MadeHost {
        let mut process = MadeHost::new(&[JIT, MODULE.start.get(), STACK]);
        for (name, at) in [(MAIN, MAIN_AT), (OTHERS[0], 0x40_0200), (OTHERS[1], 0x40_0300)] {
            process.export(name, at);
        }
        let distance = (MAIN_AT as i64 - CALLED as i64) as i32;
        process.put(CALLED - 5, &[&[CALL][..], &distance.to_le_bytes()].concat());
        // Above the registers comes first what another call returns to.
        process.put(0x40_0900, &[CALL, 1, 0, 0, 0]);
        process.words(STACK + 0x100, &[0x40_0905, 17, CALLED]);
        process
    }

    fn step(process: &MadeHost, phase: Phase, pc: u64, rbx: u64) -> Option<(u64, u64)> {
        let beam = find(process)?;
        let step = process.step(&*beam, phase, CodeAddr::Pc(Addr::new(pc)), &[(3, rbx)]);
        told(step, 7).map(|(pc, cfa, _)| (pc, cfa))
    }

    #[test]
    fn the_caller_of_process_main_lies_above_the_registers() {
        let process = beam();
        let found = Some((CALLED, STACK + 0x118));
        assert_eq!(step(&process, Phase::AfterCode, JIT, STACK), found);
        assert_eq!(step(&process, Phase::AfterCode, JIT, STACK + 0x110), found);
    }

    #[test]
    fn nothing_is_said_where_no_such_call_is() {
        let process = beam();
        let after = |pc, rbx| step(&process, Phase::AfterCode, pc, rbx);
        assert_eq!(after(JIT, STACK + 0x118), None, "it lies below");
        assert_eq!(after(JIT, STACK + 4), None, "not aligned");
        assert_eq!(after(JIT, 0x1000), None, "no memory");
        assert_eq!(after(MAIN_AT, STACK), None, "code of a module");
        assert_eq!(step(&process, Phase::AfterCfi, JIT, STACK), None, "the code comes first");
        assert!(find(&MadeHost::new(&[JIT])).is_none(), "no Erlang");
    }
}
