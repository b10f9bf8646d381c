//! What a thread tells of itself.

use kcore_live::{LivePages, Process, Registers, SnapThread};
use kcore_mem::{Addr, CodeAddr};
use kcore_unwind::{End, Frame, Machine, Phase, Regs, RuleFrame, RuleStep, StepRule, Trust};

use super::space::OwnSpace;
use crate::{Core, Stack, Tid};

/// A thread that walked its own stack.
#[derive(Clone, Debug)]
pub struct OwnThread {
    /// Its id.
    pub tid: Tid,
    /// Its registers when it was interrupted.
    pub regs: Regs,
    /// Its thread pointer, where that is no general register.
    pub thread_pointer: Option<Addr>,
    /// Its frames, innermost first.
    pub frames: Vec<Frame>,
    /// Why there are no more.
    pub end: End,
}

/// A stack that its thread walked.
#[derive(Clone, Debug)]
pub struct WalkedStack {
    frames: Vec<Frame>,
    end: End,
}

impl WalkedStack {
    /// The stack of a thread, once its frames were asked about.
    pub fn asked(mut self, core: &Core, tid: Tid) -> Stack {
        self.ask_rule(core, tid);
        Stack::of_frames(tid, self.frames, self.end)
    }

    /// Asks the rule of runtimes about each frame as any walk asks it: where it leads to the next one as well, that
    /// frame counts as found by it. Decoders go by that.
    fn ask_rule(&mut self, core: &Core, tid: Tid) {
        let (Some(rule), Some(machine)) = (core.step_rule(), core.machine()) else { return };
        for index in 1..self.frames.len() {
            let inner = index.checked_sub(1).and_then(|inner| self.frames.get(inner)).copied();
            let (Some(inner), Some(outer)) = (inner, self.frames.get_mut(index)) else { return };
            // What has unwind information of its own is not asked about behind it.
            let is_without_cfi = matches!(outer.trust, Trust::Code | Trust::UncheckedFramePointer);
            let phases: &[Phase] = match is_without_cfi {
                true => &[Phase::BeforeCfi, Phase::AfterCfi, Phase::AfterCode],
                false => &[Phase::BeforeCfi],
            };
            if leads(rule, machine, (tid, &inner), phases) == Some(outer.pc.addr()) {
                outer.trust = Trust::Runtime;
            }
        }
        let mut is_guess = false;
        for frame in &mut self.frames {
            is_guess |= frame.trust.is_guess();
            frame.guess = is_guess;
        }
    }
}

/// Where a rule leads from a frame of a thread in one of these phases, by the registers that are known of it.
fn leads(
    rule: &dyn StepRule,
    machine: &dyn Machine,
    (tid, frame): (Tid, &Frame),
    phases: &[Phase],
) -> Option<Addr> {
    let mut regs = Regs::new(frame.pc.addr());
    regs.set(machine.stack_pointer(), frame.sp.map(Addr::get));
    regs.set(machine.frame_pointer(), frame.frame_pointer.map(Addr::get));
    let asked = RuleFrame { thread: Some(tid), pc: frame.pc, regs: &regs };
    let mut caller = regs;
    let step = phases.iter().find_map(|phase| rule.step(*phase, &asked, &mut caller));
    matches!(step, Some(RuleStep::Caller { .. } | RuleStep::Elsewhere { .. })).then(|| caller.pc())
}

impl OwnThread {
    /// The thread as a snapshot has it, and its stack. Where the signal broke into a system call, the thread
    /// waited behind its instruction, whatever the kernel made of that since.
    pub fn as_told(
        self,
        process: &Process,
        machine: Option<&dyn Machine>,
        pages: &LivePages,
    ) -> (SnapThread, WalkedStack) {
        let Self { tid, mut regs, thread_pointer, mut frames, end } = self;
        let space = OwnSpace { pages, target: process.target() };
        let call = machine.and_then(|machine| machine.interrupted_system_call(&regs, &space));
        if let Some((_, behind)) = call {
            regs.set_pc(behind);
            if let Some(frame) = frames.first_mut() {
                frame.pc = CodeAddr::Pc(behind);
            }
        }
        let general = machine
            .map(|machine| machine.pr_reg(&regs, call.map(|(number, _)| number), thread_pointer));
        let registers = general.map(|general| Registers { general, ..Registers::default() });
        let id = i32::try_from(tid.get()).unwrap_or_default();
        let thread = SnapThread {
            tid: id,
            inner_tid: tid.get(),
            stat: process.task_stat(id),
            registers,
            stopped: std::time::Duration::ZERO,
        };
        (thread, WalkedStack { frames, end })
    }
}
