//! What a handler left that has returned: it raised a signal that was blocked meanwhile, and that ended the process
//! when the handler returned.
//!
//! The thread stands again where the first signal interrupted it, and the frame that the kernel pushed for the handler
//! lies where it was: below the stack pointer, or on an alternate stack, to which nothing leads any more. Its context
//! is known by the stack pointer and the pc that it saved, which stand side by side and are those of the thread.

use kcore_mem::{Access, Addr, AddrRange};

use super::{HandledSignal, SIGSEGV};
use crate::{
    AccessKind, Core, Thread,
    mapping::Mapping,
    search::{UnitSize, ValuePattern},
};

/// Stack below a thread's stack pointer in which the frame may lie.
const BELOW: u64 = 16 << 10;
/// Memory that is searched for an alternate stack, at most. Stacks lie in small mappings of their own, in the data of a
/// program or in its heap, mostly near the start.
const MAX_SEARCHED: u64 = 256 << 20;
/// What may be a context and is looked at, at most, near the thread's stack pointer and elsewhere.
const MAX_CONTEXTS: usize = 256;

/// What a handler left that has returned to where its thread died.
pub(super) enum Left {
    /// The frame of a fault.
    Fault(Box<HandledSignal>),
    /// Frames of other signals only.
    Other,
    /// No frame.
    Nothing,
}

impl Core {
    /// The frame that a handler left on whose return a thread died.
    pub(super) fn left_by_handler(&self, crashed: &Thread) -> Left {
        let mut left = Left::Nothing;
        for context in self.contexts_left(crashed) {
            left = Left::Other;
            let caller = self.stacks().of_thread(crashed.tid, 2).frames.get(1).copied();
            let signal = self.signal_of_context(crashed.tid, context, caller, crashed.signal);
            if let Some(signal) = signal.filter(HandledSignal::is_fault) {
                return Left::Fault(Box::new(signal));
            }
        }
        left
    }

    /// Contexts that saved the stack pointer and the pc of a thread: those below its stack pointer, the nearest first,
    /// then those elsewhere.
    fn contexts_left(&self, crashed: &Thread) -> impl Iterator<Item = Addr> {
        let sp = self.registers().stack_pointer(crashed.tid).filter(|sp| sp.get() != 0);
        let place = self.registers().of_thread(crashed.tid).zip(sp);
        place.into_iter().flat_map(move |(regs, sp)| {
            let below = AddrRange::new(Addr::new(sp.get().saturating_sub(BELOW)), sp);
            let mut near: Vec<Addr> = self.contexts_in(vec![below], regs.pc(), sp).collect();
            near.reverse();
            // A thread that raised the signal and died at once stands behind that system call.
            let has_returned = !self.is_behind_system_call(crashed.tid);
            let ranges = if has_returned { self.where_stacks_may_lie() } else { Vec::new() };
            near.into_iter().chain(self.contexts_in(ranges, regs.pc(), sp))
        })
    }

    fn contexts_in(
        &self,
        ranges: Vec<AddrRange>,
        pc: Addr,
        sp: Addr,
    ) -> impl Iterator<Item = Addr> {
        let found = self.search_ranges(ValuePattern::exactly(sp.get()), UnitSize::Eight, ranges);
        let slots = found.flat_map(|batch| batch.matches).map(|found| found.addr);
        let has_pc = move |slot: &Addr| {
            let behind = slot.checked_add(8);
            behind.is_some_and(|behind| self.space().read_addr(behind) == Ok(pc))
        };
        slots.filter(has_pc).take(MAX_CONTEXTS).filter_map(|slot| {
            let machine = self.machine()?;
            let context = machine.context_of_saved_stack_pointer(slot)?;
            let saved = machine.saved_context(context, self.space()).ok()?;
            (saved.link.get() == 0).then_some(context)
        })
    }

    /// Memory that the process could write, the smallest mappings first, up to [`MAX_SEARCHED`].
    fn where_stacks_may_lie(&self) -> Vec<AddrRange> {
        let is_writable = |mapping: &&Mapping| mapping.permits(AccessKind::Write) == Some(true);
        let mappings = self.mappings().iter().filter(is_writable);
        let dumped = mappings.map(|it| AddrRange::with_len(it.range.start, it.dumped));
        let mut ranges: Vec<AddrRange> = dumped.collect();
        ranges.sort_by_key(AddrRange::len);
        let mut left = MAX_SEARCHED;
        for range in &mut ranges {
            *range = AddrRange::with_len(range.start, range.len().min(left));
            left = left.saturating_sub(range.len());
        }
        ranges.retain(|range| !range.is_empty());
        ranges
    }

    /// The access to memory that is not mapped by which the instruction would fail at which a thread stands that took
    /// a fault's signal from the process itself. That a handler returned to it and had been told of this fault is
    /// likely, but another signal may have interrupted it, and the memory may have been unmapped since.
    pub(super) fn access_that_fails(&self, crashed: &Thread) -> Option<Access> {
        let is_likely = crashed.signal == SIGSEGV
            && !self.has_lost_mappings()
            && !self.is_behind_system_call(crashed.tid);
        let pc = self.registers().of_thread(crashed.tid).filter(|_| is_likely)?.pc();
        let accesses = self.accesses_of_instruction(pc, &self.registers().user(crashed.tid));
        accesses.into_iter().find(|access| {
            access.kind != AccessKind::Execute && self.mapping_at(access.addr).is_none()
        })
    }
}
