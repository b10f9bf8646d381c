//! The stack of a thread.

use std::sync::{Arc, OnceLock};

use kcore_mem::{Addr, CodeAddr, Cut, Resource};
use kcore_runtimes::Span;
use kcore_unwind::{End, Flow, Frame, Regs, Trust, Walker};

use crate::{
    Core, Mapping, RegisterView, Task, Tid, own_stack::OwnStack, stack_owners::StackOwners,
};

/// Frames of one stack, at most, when nobody says otherwise: a stack of 8 MiB holds half a million
/// of the smallest frames.
pub const MAX_FRAMES: usize = 4 << 20;

/// Frames that each stack may have even when the budget is exhausted.
const FIRST_FRAMES: u64 = 1024;

/// A stack: physical frames, innermost first, and why there are no more.
#[derive(Clone, Debug)]
pub struct Stack {
    /// The thread that runs on it; `None` of a task that does not run.
    pub tid: Option<Tid>,
    /// The task that it belongs to, if it is not a thread's own.
    pub task: Option<Arc<Task>>,
    /// The frames. [`Stack::keep`] leaves some of them out.
    pub frames: Vec<Frame>,
    /// Why there are no more.
    pub end: End,
    /// Where the walk began that found them, for whoever needs the registers of frames.
    start: Option<Box<StackOrigin>>,
    /// The answer of the runtimes to this stack; empty until it is first needed.
    pub(crate) decoded: OnceLock<Arc<[Span]>>,
}

/// Where the walk of a stack began: perhaps at a frame before the first one that is kept.
#[derive(Clone, Debug)]
pub(crate) struct StackOrigin {
    pub(crate) regs: Regs,
    pub(crate) pc: CodeAddr,
    pub(crate) trust: Trust,
    /// Whether these are the registers with which the kernel stopped the thread.
    pub(crate) is_thread: bool,
}

impl StackOrigin {
    pub(crate) const fn stopped_at(regs: Regs, is_thread: bool) -> Self {
        Self { regs, pc: CodeAddr::Pc(regs.pc()), trust: Trust::Context, is_thread }
    }
}

impl Stack {
    pub(crate) fn empty(tid: Option<Tid>, end: End) -> Self {
        Self { tid, task: None, frames: Vec::new(), end, start: None, decoded: OnceLock::new() }
    }

    /// A stack of which there are frames alone.
    pub(crate) const fn of_frames(tid: Tid, frames: Vec<Frame>, end: End) -> Self {
        Self { tid: Some(tid), task: None, frames, end, start: None, decoded: OnceLock::new() }
    }

    /// The first `limit` of the frames, which are those of thread `tid`.
    fn first(&self, tid: Tid, limit: usize) -> Self {
        let frames: Vec<Frame> = self.frames.iter().take(limit).copied().collect();
        let end = if self.frames.len() > limit { End::Limit(limit) } else { self.end };
        Self::of_frames(tid, frames, end)
    }

    /// Collects the frames of a walk.
    pub(crate) fn walk(
        tid: Option<Tid>,
        walker: &mut Walker<'_>,
        start: StackOrigin,
        limit: usize,
    ) -> Self {
        Self::walk_until(tid, walker, start, limit, &mut |_| None)
    }

    /// As [`Stack::walk`], until `end_at` says of the frames so far why there are no more.
    pub(crate) fn walk_until(
        tid: Option<Tid>,
        walker: &mut Walker<'_>,
        start: StackOrigin,
        limit: usize,
        end_at: &mut dyn FnMut(&[Frame]) -> Option<End>,
    ) -> Self {
        let (mut frames, mut ends) = (Vec::new(), None);
        walker.set_thread(tid);
        let end = walker.walk_from(&start.regs, start.pc, start.trust, limit, &mut |frame, _| {
            frames.push(*frame);
            ends = end_at(&frames);
            if ends.is_some() { Flow::Stop } else { Flow::Continue }
        });
        let end = ends.unwrap_or(end);
        Self { frames, start: Some(Box::new(start)), ..Self::empty(tid, end) }
    }

    /// Leaves the frames of a range alone, by their indices.
    pub fn keep(&mut self, range: std::ops::Range<usize>) {
        self.frames.truncate(range.end);
        self.frames.drain(..range.start.min(self.frames.len()));
        self.decoded = OnceLock::new();
    }

    /// Keeps whoever needs the registers of frames from walking again.
    pub(crate) fn forget_origin(&mut self) {
        self.start = None;
    }

    /// Where the walk began.
    pub(crate) fn origin(&self) -> Option<&StackOrigin> {
        self.start.as_deref()
    }

    /// Whether the last frame is the outermost one, so that nothing is missing.
    pub fn is_complete(&self) -> bool {
        self.end == End::Outermost
    }
}

/// Questions about stacks of threads and tasks: see [`StackView::of_threads`].
#[derive(Clone, Copy)]
pub struct StackView<'c> {
    pub(crate) core: &'c Core,
}

impl Core {
    /// The stacks of its threads and tasks.
    pub const fn stacks(&self) -> StackView<'_> {
        StackView { core: self }
    }
}

impl<'c> StackView<'c> {
    /// A walker for this process; it is best used for many threads.
    pub fn walker(self) -> Option<Walker<'c>> {
        Some(self.core.native_walker()?.with_rule(self.core.step_rule()))
    }

    /// The stack of a thread, at most `limit` frames. A damaged stack is as long as it is good.
    pub fn of_thread(self, tid: Tid, limit: usize) -> Stack {
        match self.walker() {
            Some(mut walker) => self.of_thread_with(&mut walker, tid, limit),
            None => Stack::empty(Some(tid), End::Unsupported),
        }
    }

    /// As [`StackView::of_thread`], by a walker that may have walked others.
    pub fn of_thread_with(self, walker: &mut Walker<'_>, tid: Tid, limit: usize) -> Stack {
        self.core.stack_among(walker, tid, limit, &self.core.stack_owners)
    }

    /// The stack that begins with the caller of the frame at `frame_pointer`, for an address that
    /// is no known frame. Only frame pointers tell where it goes first.
    pub fn above(self, tid: Tid, frame_pointer: Addr, limit: usize) -> Stack {
        let (Some(mut walker), Some(machine)) = (self.walker(), self.core.machine()) else {
            return Stack::empty(Some(tid), End::Unsupported);
        };
        let mut regs = Regs::new(Addr::new(0));
        regs.set(machine.frame_pointer(), Some(frame_pointer.get()));
        regs.set(machine.stack_pointer(), Some(frame_pointer.get()));
        let Some((caller, _)) = machine.caller_by_frame_pointer(&regs, self.core.space()) else {
            let fault = self.core.space_fault(frame_pointer);
            return Stack::empty(Some(tid), fault.map_or(End::NoRule(frame_pointer), End::Fault));
        };
        let caller = caller.with_pc(machine.strip_code(caller.pc()));
        if !self.core.mapping_at(caller.pc()).is_some_and(Mapping::may_hold_code) {
            return Stack::empty(Some(tid), End::NotCode(caller.pc()));
        }
        // Outside of stacks any two words may look like a frame.
        let is_apart = self.thread_at(frame_pointer).is_none();
        if is_apart && !machine.follows_call(caller.pc(), self.core.space()) {
            return Stack::empty(Some(tid), End::NoRule(frame_pointer));
        }
        let pc = CodeAddr::Return(caller.pc());
        // Whoever asked says that it is a frame pointer.
        let trust = Trust::FramePointer;
        let start = StackOrigin { regs: caller, pc, trust, is_thread: false };
        Stack::walk(Some(tid), &mut walker, start, limit)
    }

    /// The stack that begins with the registers which the `ucontext_t` at `context` holds.
    pub fn of_context(self, tid: Tid, context: Addr, limit: usize) -> Stack {
        let (Some(mut walker), Some(machine)) = (self.walker(), self.core.machine()) else {
            return Stack::empty(Some(tid), End::Unsupported);
        };
        let Some(regs) = machine.context_regs(context, self.core.space()) else {
            let fault = self.core.space_fault(context);
            return Stack::empty(Some(tid), fault.map_or(End::NoRegisters, End::Fault));
        };
        Stack::walk(Some(tid), &mut walker, StackOrigin::stopped_at(regs, false), limit)
    }
}

impl RegisterView<'_> {
    /// The registers of physical frame `index` of a thread, as far as they could be recovered;
    /// `None` when there is no such frame.
    pub fn of_frame(self, tid: Tid, index: usize) -> Option<(Frame, Regs)> {
        let start = self.of_thread(tid)?;
        let mut found = None;
        let mut at = 0;
        let mut walker = self.core.stacks().walker()?;
        walker.set_thread(Some(tid));
        walker.walk(&start, index.saturating_add(1), &mut |frame, regs| {
            if at == index {
                found = Some((*frame, *regs));
            }
            at = at.saturating_add(1);
            Flow::Continue
        });
        found
    }
}

impl Core {
    /// A walker that asks no runtime.
    pub(crate) fn native_walker(&self) -> Option<Walker<'_>> {
        let machine = self.machine()?;
        Some(Walker::sharing(self.space(), self.code(), machine, &self.knowledge))
    }

    /// As [`StackView::of_thread_with`], among others whose places are known.
    pub(crate) fn stack_among(
        &self,
        walker: &mut Walker<'_>,
        tid: Tid,
        limit: usize,
        owners: &StackOwners,
    ) -> Stack {
        if let Some(walked) = self.walked.get(&tid) {
            return walked.first(tid, limit);
        }
        let Some(regs) = self.registers().of_thread(tid) else {
            return Stack::empty(Some(tid), End::NoRegisters);
        };
        let sp = self.machine().and_then(|machine| regs.get(machine.stack_pointer()));
        let mut own = OwnStack::of_thread(self, owners, tid, sp.map(Addr::new));
        let start = StackOrigin::stopped_at(regs, true);
        let stack = self.charged(limit, |limit| {
            Stack::walk_until(Some(tid), walker, start, limit, &mut |frames| own.end_at(frames))
        });
        own.end(stack.end);
        stack
    }

    /// Walks a stack within the frames that the budget has left, and charges them.
    pub(crate) fn charged(&self, limit: usize, walk: impl FnOnce(usize) -> Stack) -> Stack {
        let budget = self.budget();
        let left = budget.left(Resource::Frames).max(FIRST_FRAMES);
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(limit);
        let stack = walk(most);
        if most < limit && matches!(stack.end, End::Limit(_)) {
            let limit = budget.limit(Resource::Frames);
            budget.cut(Cut::Spent { resource: Resource::Frames, limit });
        }
        let taken = (stack.frames.len() as u64).min(budget.left(Resource::Frames));
        budget.spend(Resource::Frames, taken);
        stack
    }

    /// The frames beyond the last one of a stack that was cut, at most `most`.
    pub(crate) fn frames_beyond(&self, stack: &Stack, most: usize) -> Vec<Frame> {
        let mut beyond = Vec::new();
        let (End::Limit(_), Some(start), Some(last), Some(mut walker)) =
            (stack.end, stack.origin(), stack.frames.last(), self.stacks().walker())
        else {
            return beyond;
        };
        let mut is_beyond = false;
        walker.set_thread(stack.tid);
        walker.walk_from(&start.regs, start.pc, start.trust, MAX_FRAMES, &mut |frame, _| {
            if is_beyond {
                beyond.push(*frame);
            }
            is_beyond |= (frame.pc, frame.cfa) == (last.pc, last.cfa);
            if beyond.len() < most { Flow::Continue } else { Flow::Stop }
        });
        beyond
    }

    fn space_fault(&self, at: Addr) -> Option<kcore_mem::Fault> {
        self.space().read_word(at).err()
    }
}
