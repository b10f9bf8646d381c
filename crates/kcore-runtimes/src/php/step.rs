//! The way out of code that opcache's JIT made: it tells no unwinder anything, and runs on the stack frame of `execute_ex`,
//! which jumps to it (`ZEND_VM_KIND_HYBRID` of `zend_vm_opcodes.h`, `zend_jit.c`).
//!
//! So its caller is that of `execute_ex`, and what `execute_ex` put on the stack tells where its return address lies.

use kcore_mem::{Addr, AddressSpace, Arch};
use kcore_unwind::{Phase, RegisterId, Regs, RuleFrame, RuleStep};

use super::Php;
use crate::Host;

const RSP: RegisterId = RegisterId(7);
const RBP: RegisterId = RegisterId(6);
/// Registers that a function preserves, of which the machine code says nothing.
const PRESERVED: [RegisterId; 6] =
    [RegisterId(3), RBP, RegisterId(12), RegisterId(13), RegisterId(14), RegisterId(15)];
const MACHINE: &str = "execute_ex";
/// Bytes of code that are read of it.
const MAX_PROLOGUE: u64 = 40;
const ENDBR: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// What a function puts on the stack before it does anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prologue {
    /// Registers, in their order.
    pushed: Vec<RegisterId>,
    /// Bytes below them.
    below: u64,
}

impl Prologue {
    /// Reads `push`, `mov %rsp,%rbp` and the `sub` that ends them.
    fn parse(code: &[u8]) -> Option<Self> {
        let mut prologue = Self::default();
        let mut code = code.strip_prefix(&ENDBR).unwrap_or(code);
        loop {
            code = match code {
                [0x41, push @ 0x54..=0x57, rest @ ..] => {
                    prologue.pushed.push(RegisterId(u16::from(push.wrapping_sub(0x48))));
                    rest
                }
                [0x53, rest @ ..] => {
                    prologue.pushed.push(RegisterId(3));
                    rest
                }
                [0x55, rest @ ..] => {
                    prologue.pushed.push(RBP);
                    rest
                }
                [0x48, 0x89, 0xe5, rest @ ..] => rest,
                [0x48, 0x83, 0xec, below, ..] if *below < 0x80 => {
                    return Some(Self { below: u64::from(*below), ..prologue });
                }
                [0x48, 0x81, 0xec, a, b, c, d, ..] => {
                    let below = u32::from_le_bytes([*a, *b, *c, *d]);
                    return Some(Self { below: u64::from(below), ..prologue });
                }
                _ => return None,
            };
        }
    }

    /// The CFA of a frame with this stack pointer.
    fn cfa(&self, sp: Addr) -> Option<Addr> {
        let pushed = u64::try_from(self.pushed.len()).ok()?.checked_mul(8)?;
        sp.checked_add(self.below)?.checked_add(pushed)?.checked_add(8)
    }

    /// Takes what was put on the stack off it.
    fn restore(&self, space: &dyn AddressSpace, cfa: Addr, regs: &mut Regs) {
        let places = (2_u64..).map(|place| cfa.get().wrapping_sub(place.wrapping_mul(8)));
        for (register, at) in self.pushed.iter().zip(places) {
            regs.set(*register, space.read_word(Addr::new(at)).ok());
        }
    }
}

impl Php {
    pub(super) fn step_out(
        &self,
        host: &dyn Host,
        phase: Phase,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        (phase == Phase::AfterCfi && self.is_machine_code(host, frame.pc.lookup())).then_some(())?;
        let prologue = self.prologue.get_or_init(|| self.read_prologue(host)).as_ref()?;
        let cfa = prologue.cfa(Addr::new(frame.regs.get(RSP)?))?;
        let pc = host.space().read_addr(Addr::new(cfa.get().checked_sub(8)?)).ok()?;
        self.module.contains(pc).then_some(())?;
        *caller = *frame.regs;
        caller.set_pc(pc);
        PRESERVED.into_iter().for_each(|register| caller.set(register, None));
        prologue.restore(host.space(), cfa, caller);
        caller.set(RSP, Some(cfa.get()));
        Some(RuleStep::Caller { cfa, interrupted: false })
    }

    /// Code that the JIT made: opcache's shared memory is a file to the kernel, and no module. That of PCRE is not.
    pub(super) fn is_machine_code(&self, host: &dyn Host, at: Addr) -> bool {
        !self.module.contains(at)
            && host.module_at(at).is_none()
            && host.range_at(at).is_some_and(|range| range.executable && range.is_file)
    }

    fn read_prologue(&self, host: &dyn Host) -> Option<Prologue> {
        (host.space().target().arch == Arch::X86_64).then_some(())?;
        let module = host.module_at(self.module.start)?;
        let at = module.addr(module.exported(MACHINE)?.0)?;
        Prologue::parse(&host.space().read_held(at, MAX_PROLOGUE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prologues_of_debian_are_read() {
        // Of 8.2: push %r13, %r12, %rbp, %rbx; sub $0x78,%rsp.
        let old = Prologue::parse(&[0x41, 0x55, 0x41, 0x54, 0x55, 0x53, 0x48, 0x83, 0xec, 0x78]);
        let numbers = |it: &Prologue| it.pushed.iter().map(|it| it.0).collect::<Vec<_>>();
        let old = old.expect("a prologue");
        assert_eq!((numbers(&old), old.below), (vec![13, 12, 6, 3], 0x78));
        assert_eq!(old.cfa(Addr::new(0x1000)), Some(Addr::new(0x10a0)));
        // Of 8.4: endbr64; push %rbp; mov %rsp,%rbp; push %r13, %r12, %rbx; sub $0xa8,%rsp.
        let new = Prologue::parse(&[
            0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x41, 0x55, 0x41, 0x54, 0x53, 0x48,
            0x81, 0xec, 0xa8, 0, 0, 0,
        ]);
        let new = new.expect("a prologue");
        assert_eq!((numbers(&new), new.below), (vec![6, 13, 12, 3], 0xa8));
        assert_eq!((Prologue::parse(&[0x55]), Prologue::parse(&[])), (None, None));
        assert_eq!(Prologue::parse(&[0x48, 0x83, 0xec, 0x80]), None);
    }
}
