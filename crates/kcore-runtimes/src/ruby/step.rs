//! The way out of code that YJIT made: `yjit/src/codegen.rs` keeps no frame pointer, and tells no unwinder anything.
//!
//! Machine code is called by `rb_vm_exec`, which has a tag on its stack, and in that its own stack pointer. The return
//! address lies just below.

use kcore_mem::{Addr, CodeAddr};
use kcore_unwind::{Phase, RegisterId, Regs, RuleFrame, RuleStep};

use super::{Ruby, tags::Tag};
use crate::Host;

const RBP: RegisterId = RegisterId(6);
const RSP: RegisterId = RegisterId(7);
/// Registers that a function preserves, of which the machine code says nothing.
const PRESERVED: [RegisterId; 5] =
    [RegisterId(3), RegisterId(12), RegisterId(13), RegisterId(14), RegisterId(15)];
/// Words of the stack between machine code and its caller that are searched for the return address, at most.
const MAX_SEARCHED: u64 = 512;

impl Ruby {
    pub(super) fn step_out(
        &self,
        host: &dyn Host,
        phase: Phase,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        (phase == Phase::AfterCfi && host.module_at(frame.pc.lookup()).is_none()).then_some(())?;
        self.is_machine_code(host, frame.pc).then_some(())?;
        let sp = Addr::new(frame.regs.get(RSP)?);
        let heap = self.heap(host);
        let context = match frame.thread {
            Some(tid) => self.threads(host).of(tid)?.context,
            None => self.fibers(host).on_stack(sp)?.context,
        };
        let context = heap.context(context)?;
        let tags = self.activations(host, &heap, &context);
        let tag = tags.into_iter().find(|tag| tag.sp > sp)?;
        let (at, pc) = self.return_address(host, sp, &tag)?;
        let cfa = at.checked_add(8)?;
        *caller = *frame.regs;
        caller.set_pc(pc);
        caller.set(RSP, Some(cfa.get()));
        caller.set(RBP, Some(tag.fp));
        PRESERVED.into_iter().for_each(|register| caller.set(register, None));
        Some(RuleStep::Caller { cfa, interrupted: false })
    }

    /// Code that was made at run time, and is no file's.
    pub(super) fn is_machine_code(&self, host: &dyn Host, pc: CodeAddr) -> bool {
        host.range_at(pc.lookup()).is_some_and(|range| range.executable && !range.is_file)
    }

    /// Where the return address of machine code lies, and what it is.
    fn return_address(&self, host: &dyn Host, sp: Addr, tag: &Tag) -> Option<(Addr, Addr)> {
        let returns = |at: Addr| {
            let pc = host.space().read_addr(at).ok().filter(|pc| self.module.contains(*pc))?;
            self.follows_call(host, pc).then_some((at, pc))
        };
        let just_below = tag.sp.get().checked_sub(8).map(Addr::new).filter(|at| *at >= sp);
        just_below.and_then(returns).or_else(|| {
            let words = (2..=MAX_SEARCHED).map_while(|back: u64| {
                let at = Addr::new(tag.sp.get().checked_sub(back.checked_mul(8)?)?);
                (at >= sp).then_some(at)
            });
            { words }.find_map(returns)
        })
    }

    /// Whether an indirect call lies before an address: `call *%reg`, or of memory.
    fn follows_call(&self, host: &dyn Host, pc: Addr) -> bool {
        let before = |count: u64| {
            let at = Addr::new(pc.get().checked_sub(count)?);
            Some([
                host.space().read_uint(at, 1).ok()?,
                host.space().read_uint(at.checked_add(1)?, 1).ok()?,
            ])
        };
        // `ff /2`, with no displacement, with a byte of it, and with four.
        [2_u64, 3, 4, 6, 7]
            .into_iter()
            .filter_map(before)
            .any(|[first, second]| first == 0xff && second >> 3 & 7 == 2)
    }
}
