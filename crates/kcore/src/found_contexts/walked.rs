//! The stacks of contexts: which are believed.

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::{End, Frame, Trust};
use rustc_hash::FxHashSet;

use super::{ContextShape, shape::Shaped};
use crate::Stack;

/// Bytes below a context that may be left of calls which returned.
pub const LEFT_OVER: u64 = 16 << 10;
/// What minicoro has the first function of a stack return to (`_mco_makectx`, `minicoro.h`).
pub const NOWHERE: u64 = 0xdead_dead_dead_dead;

/// What is kept of the frames of a stack: there may be very many stacks.
#[derive(Clone, Copy, Default)]
pub struct Frames {
    pub count: usize,
    pub outermost: Option<Frame>,
    /// The one that the outermost one called.
    pub inner: Option<Frame>,
}

impl Frames {
    fn of(frames: &[Frame]) -> Self {
        let mut outwards = frames.iter().rev().copied();
        Self { count: frames.len(), outermost: outwards.next(), inner: outwards.next() }
    }
}

/// A context whose stack is good.
pub struct Walked {
    pub shaped: Shaped,
    /// None of one that has not run.
    pub frames: Frames,
    /// Whether the last of them is known to be the outermost one.
    pub is_whole: bool,
    /// Whether a walk ends there by itself.
    pub ends_itself: bool,
}

impl Walked {
    /// One that has not run.
    pub fn made(shaped: Shaped) -> Self {
        Self { shaped, frames: Frames::default(), is_whole: true, ends_itself: true }
    }

    /// Where the stack begins.
    pub fn bottom(&self) -> Option<Addr> {
        match self.frames.outermost {
            Some(outermost) => outermost.cfa,
            None => self.stack_pointer().map(Addr::new),
        }
    }

    /// Where it was left.
    pub fn stack_pointer(&self) -> Option<u64> {
        self.shaped.regs.get(self.shaped.stack_pointer)
    }

    /// Whether it lies on its own stack.
    pub fn lies_on_stack(&self) -> bool {
        match self.shaped.shape {
            ContextShape::Fcontext => true,
            ContextShape::Ucontext => false,
            ContextShape::Beside => self.is_on_stack(self.shaped.at),
        }
    }

    /// Whether an address is on the stack, or where calls from it were.
    pub fn is_on_stack(&self, at: Addr) -> bool {
        let lowest = self.stack_pointer().unwrap_or(0).saturating_sub(LEFT_OVER);
        self.bottom().is_some_and(|bottom| at.get() >= lowest && at < bottom)
    }
}

/// What the code at an address tells of whether something returns there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    /// A call stands before it.
    Yes,
    /// None does.
    No,
    /// There is no code to look at.
    Unknown,
}

/// What is asked of memory about a stack.
pub trait Code {
    /// Whether something returns to an address.
    fn returns(&self, at: Addr) -> Returns;

    /// Whether the maker of a stack put what its first function returns to before an address.
    fn begins_at(&self, cfa: Addr) -> bool;
}

/// The context of a stack that is good down to its beginning, or to where code is missing: nothing of it was
/// guessed.
pub fn believe(shaped: Shaped, stack: Stack, code: &dyn Code) -> Option<Walked> {
    let is_proved = shaped.shape == ContextShape::Beside;
    let Stack { mut frames, end, .. } = stack;
    let is_sure = |frame: &Frame| matches!(frame.trust, Trust::Cfi | Trust::Runtime);
    // All but the innermost one are returned to, and what signals interrupted is not sure.
    let is_returned_to =
        |(index, frame): &(usize, &Frame)| is_sure(frame) && (*index > 0 || frame.pc.is_return());
    let first = |wanted| {
        let mut returned_to = frames.iter().enumerate().filter(is_returned_to);
        returned_to
            .find(|(_, frame)| code.returns(frame.pc.addr()) == wanted)
            .map(|(index, _)| index)
    };
    // What the maker of a stack has its first function return to is no frame.
    let (made, missing) = (first(Returns::No), first(Returns::Unknown));
    let is_whole = match (made, end) {
        (Some(made), _) if is_proved => {
            frames.truncate(made);
            true
        }
        (_, End::NotCode(at) | End::WildPc(at)) => is_proved && at.get() == NOWHERE,
        (_, end) => end == End::Outermost,
    };
    if let Some(missing) = missing.filter(|_| is_proved && !is_whole) {
        frames.truncate(missing.saturating_add(1));
    }
    // What lies behind the first function may be zeros, or left of others where nobody cleared it.
    let ends = missing.is_some() || matches!(end, End::NotCode(_) | End::WildPc(_) | End::Zeros(_));
    // One frame alone says little, unless it is seen to be the first.
    let begins = || frames.last()?.cfa.filter(|cfa| code.begins_at(*cfa));
    let least = usize::from(!(is_whole && (is_proved || begins().is_some())));
    let is_long = frames.len() > least;
    let is_good = (is_whole || (is_proved && ends)) && is_long && frames.iter().all(is_sure);
    let ends_itself = made.is_none() && end == End::Outermost;
    is_good.then(|| Walked { shaped, frames: Frames::of(&frames), is_whole, ends_itself })
}

/// Where what lies behind the last frame of a stack does not tell, others of the same program do: a function that
/// stacks begin with. `function` gives the function of an address.
pub fn complete(walked: &mut [Walked], function: &dyn Fn(Addr) -> Option<Addr>) {
    let outermost = |it: &Walked| function(it.frames.outermost?.pc.lookup());
    let whole = walked.iter().filter(|it| it.is_whole);
    let beginnings: FxHashSet<Addr> = whole.filter_map(outermost).collect();
    for it in walked.iter_mut().filter(|it| !it.is_whole) {
        it.is_whole = outermost(it).is_some_and(|at| beginnings.contains(&at));
    }
}

/// Of several contexts of one stack that which was left last. Those that a mark tells count before those that code
/// tells, which may be the same.
pub fn one_of_each_stack(walked: Vec<Walked>) -> Vec<Walked> {
    let is_marked = |it: &Walked| it.shaped.shape != ContextShape::Beside;
    let (mut left, mut others): (Vec<_>, Vec<_>) = walked.into_iter().partition(is_marked);
    // What is left of registers on the stack itself may be taken for a structure beside it.
    others.sort_by_key(|it| (!it.is_whole, it.stack_pointer(), it.is_on_stack(it.shaped.at)));
    let stacks = in_use(&left, &others);
    // A function and a stack pointer that lie on a stack are of calls, and no coroutine.
    others.retain(|it| it.shaped.begins_with.is_none() || !holds(&stacks, it.shaped.at));
    let mut bottoms: FxHashSet<Addr> = left.iter().filter_map(Walked::bottom).collect();
    let mut tops: FxHashSet<u64> = left.iter().filter_map(Walked::stack_pointer).collect();
    for it in others {
        let is_first = it.stack_pointer().is_none_or(|top| tops.insert(top))
            && it.bottom().is_none_or(|bottom| bottoms.insert(bottom));
        left.extend(is_first.then_some(it));
    }
    left
}

/// The parts of the stacks of contexts that are in use or may be left of calls, in order of their beginnings.
fn in_use(left: &[Walked], others: &[Walked]) -> Vec<AddrRange> {
    let walked = left.iter().chain(others).filter(|it| it.frames.count > 0);
    let range = |it: &Walked| {
        let lowest = Addr::new(it.stack_pointer()?.saturating_sub(LEFT_OVER));
        it.bottom().filter(|bottom| lowest <= *bottom).map(|bottom| AddrRange::new(lowest, bottom))
    };
    let mut ranges: Vec<AddrRange> = walked.filter_map(range).collect();
    ranges.sort_unstable();
    ranges
}

/// Whether the last of some ranges that begins at or below an address holds it.
fn holds(ranges: &[AddrRange], at: Addr) -> bool {
    let after = ranges.partition_point(|range| range.start <= at);
    after.checked_sub(1).and_then(|last| ranges.get(last)).is_some_and(|range| range.contains(at))
}
