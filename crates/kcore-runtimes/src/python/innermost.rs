//! Chains of a thread whose innermost evaluation begins: its frame is not on the chain yet, or only in part; or ends, and
//! its frame leads to its callers no more.
//!
//! `_PyEval_EvalFrameDefault` makes a `_PyCFrame` (3.11, 3.12) or a frame of no function's (since 3.12) on the stack of C,
//! and tells the thread state, in an order that is the compiler's (`Python/ceval.c`). Where a thread is stopped in the
//! midst of that, what is not written yet is what another evaluation left there, and looks as good. So nothing of
//! the innermost evaluation is believed there but what the registers name as well; its callers are known by what they
//! have on the stack themselves.

use kcore_mem::{Addr, AddrRange, CodeAddr};
use kcore_unwind::{Frame, RegisterId, Tid};

use super::{
    Chain, Group, Python, ThreadState,
    frame::{Head, UNLINKED},
    heap::{DICT, Heap},
};
use crate::Host;

/// Bytes of the loop's code from its beginning in which an evaluation is put on the chain, at most.
const PROLOGUE: u64 = 0x200;
/// Registers of a machine, at most.
const MAX_REGISTERS: u16 = 64;
/// The reason that is shown where the frames of the callers cannot be found.
const BROKEN: &str =
    "it was just about to call, and what leads to the frames outside is not written yet";

impl Python {
    /// The frames of a native thread, those of each interpreter apart, as its native frames have them.
    pub(super) fn chains_on(&self, host: &dyn Host, tid: Tid, frames: &[Frame]) -> Vec<Chain> {
        let heap = self.heap(host);
        let innermost = Innermost::of(self, host, tid, frames);
        let threads: Vec<&ThreadState> = self.thread_states(host, tid).collect();
        let is_sole = threads.len() == 1;
        let chain = |thread: &ThreadState| {
            let own = innermost.as_ref().filter(|it| is_sole || it.names(thread.at));
            own.and_then(|it| it.chain(thread)).unwrap_or_else(|| self.chain(&heap, thread))
        };
        threads.into_iter().map(chain).collect()
    }
}

/// The evaluation in whose own code a thread is.
struct Innermost<'a> {
    python: &'a Python,
    heap: Heap<'a>,
    /// Whether it begins.
    begins: bool,
    /// What the registers hold.
    words: Vec<u64>,
    /// The stack frame of its activation of the loop.
    own: AddrRange,
    /// Those of the activations outside of it, innermost first.
    outer: Vec<AddrRange>,
}

impl<'a> Innermost<'a> {
    fn of(python: &'a Python, host: &'a dyn Host, tid: Tid, frames: &[Frame]) -> Option<Self> {
        let innermost = frames.first()?;
        (python.layout.minor >= 11 && python.is_loop(host, innermost)).then_some(())?;
        let begins = is_in_prologue(host, innermost.pc);
        let registers = host.registers(tid)?;
        let words = (0..MAX_REGISTERS).filter_map(|number| registers.get(RegisterId(number)));
        let own = extent(innermost)?;
        let outer = frames.iter().skip(1).filter(|frame| is_outer(python, host, frame, own));
        let outer = outer.filter_map(extent).collect();
        let heap = python.heap(host);
        Some(Self { python, heap, begins, words: words.collect(), own, outer })
    }

    /// Whether a register holds an address.
    fn names(&self, at: Addr) -> bool {
        self.words.contains(&at.get())
    }

    /// The chain of its thread; `None`: what is on the chain of the thread is right.
    fn chain(&self, thread: &ThreadState) -> Option<Chain> {
        if !self.begins {
            return Some(self.relinked(self.python.chain(&self.heap, thread), thread));
        }
        match self.heap.layout.thread.cframe {
            Some(cframe) => self.by_cframes(thread, self.heap.pointer(thread.at, cframe)?),
            None => self.by_frames(thread, self.heap.layout.thread.frame?),
        }
    }

    /// A chain whose frame leads to its callers no more, with those of the frame with which its evaluation began: the
    /// next one for the loop, which has it in a register.
    fn relinked(&self, chain: Chain, thread: &ThreadState) -> Chain {
        let is_cut = chain.broken == Some(UNLINKED);
        let is_entry = |at: &Addr| self.own.contains(*at) && self.heap.is_shim(*at);
        let mut entries = self.words.iter().map(|word| Addr::new(*word)).filter(is_entry);
        let (Some(entry), [group]) = (entries.next().filter(|_| is_cut), chain.groups.as_slice())
        else {
            return chain;
        };
        let outer = self.heap.pointer(entry, self.heap.layout.frame.previous);
        let mut whole = self.python.chain_from(&self.heap, thread, Head::Frame(outer));
        if !self.is_callers(&whole) {
            return chain;
        }
        let group = Group { anchor: Some(entry), ..group.clone() };
        whole.groups.insert(0, group);
        whole
    }

    /// By what each evaluation has on the stack of C: that of the caller lies in its stack frame where that of the
    /// evaluation lies in its own.
    fn by_cframes(&self, thread: &ThreadState, innermost: Addr) -> Option<Chain> {
        if !self.own.contains(innermost) {
            return Some(self.after(thread, Head::Evaluation(innermost), self.own.start));
        }
        let Some(outer) = self.outer_cframe(thread, innermost) else {
            return Some(Chain { groups: Vec::new(), broken: Some(BROKEN) });
        };
        let head = self.heap.pointer(innermost, self.heap.cframe_frame());
        let is_linked = self.heap.outer_cframe(thread, innermost) == Some(outer)
            && head.is_some_and(|head| self.names(head));
        let linked = is_linked.then(|| self.python.chain(&self.heap, thread));
        let rest = || self.after(thread, Head::Evaluation(outer), innermost);
        Some(linked.filter(|chain| self.is_whole(chain)).unwrap_or_else(rest))
    }

    fn outer_cframe(&self, thread: &ThreadState, innermost: Addr) -> Option<Addr> {
        let Some(caller) = self.outer.first() else { return self.heap.root_cframe(thread) };
        let outer = caller.end.get().checked_sub(self.own.end.offset_from(innermost)?)?;
        let outer = Addr::new(outer);
        let next = self.heap.outer_cframe(thread, outer)?;
        let is_outside = self.outer.iter().skip(1).any(|extent| extent.contains(next));
        (is_outside || Some(next) == self.heap.root_cframe(thread)).then_some(outer)
    }

    /// By the frames of no function's that lie on the stack of C.
    fn by_frames(&self, thread: &ThreadState, innermost: u64) -> Option<Chain> {
        let chain = self.python.chain(&self.heap, thread);
        if self.is_whole(&chain) {
            return None;
        }
        let innermost = self.heap.pointer(thread.at, innermost);
        if self.is_callers(&chain) && !innermost.is_some_and(|at| self.is_unbegun(at)) {
            return Some(self.after(thread, Head::Frame(innermost), self.own.start));
        }
        let entry = innermost.and_then(|at| self.heap.pointer(at, self.heap.layout.frame.previous));
        let entry = entry.filter(|entry| self.own.contains(*entry));
        let outer = entry.and_then(|at| self.heap.pointer(at, self.heap.layout.frame.previous));
        let rest = self.after(thread, Head::Frame(outer), self.own.start);
        let rest = Some(rest).filter(|rest| entry.is_some() && self.is_callers(rest));
        rest.or(Some(Chain { groups: Vec::new(), broken: Some(BROKEN) }))
    }

    fn is_unbegun(&self, at: Addr) -> bool {
        self.python.frame(&self.heap, at).is_ok_and(|frame| self.heap.is_unbegun(&frame))
    }

    /// Whether a chain leads from this evaluation to the one that called.
    fn is_whole(&self, chain: &Chain) -> bool {
        let mut groups = chain.groups.iter();
        let is_own = groups.next().and_then(|group| group.anchor);
        is_own.is_some_and(|anchor| self.own.contains(anchor)) && self.are_callers(groups.next())
    }

    /// Whether a chain, but for the evaluation itself, begins with the one that called.
    fn is_callers(&self, chain: &Chain) -> bool {
        let is_own = |group: &&Group| group.anchor.is_some_and(|anchor| self.own.contains(anchor));
        self.are_callers(chain.groups.iter().find(|group| !is_own(group)))
    }

    fn are_callers(&self, group: Option<&Group>) -> bool {
        match (group.map(|group| group.anchor), self.outer.first()) {
            (Some(Some(anchor)), outer) => {
                anchor >= self.own.end && outer.is_none_or(|outer| anchor < outer.end)
            }
            (None, None) => true,
            _ => false,
        }
    }

    /// The chain of the callers, with the frame before it that this evaluation is to run, where registers name it and it
    /// has begun.
    fn after(&self, thread: &ThreadState, callers: Head, anchor: Addr) -> Chain {
        let mut chain = self.python.chain_from(&self.heap, thread, callers);
        let known = chain.groups.iter().flat_map(|group| &group.frames);
        let known: Vec<Addr> = known.map(|frame| frame.at).collect();
        let mut named: Vec<Addr> = self.words.iter().map(|word| Addr::new(*word)).collect();
        named.sort_unstable();
        named.dedup();
        named.retain(|at| !known.contains(at) && self.is_frame(*at));
        if let [at] = named.as_slice()
            && let Ok(frame) = self.python.frame(&self.heap, *at)
            && !self.heap.is_unbegun(&frame)
        {
            let group = Group { anchor: Some(anchor), frames: vec![frame] };
            chain.groups.insert(0, group);
        }
        chain
    }

    /// Whether a frame of a function lies at an address.
    fn is_frame(&self, at: Addr) -> bool {
        let is_on_stack =
            || std::iter::once(&self.own).chain(&self.outer).any(|it| it.contains(at));
        at.get().is_multiple_of(8)
            && !is_on_stack()
            && self.heap.field_of(at, self.heap.layout.frame.globals, DICT).is_some()
            && self.python.frame(&self.heap, at).is_ok()
    }
}

/// Whether a frame is an activation of the loop: by its name, or, where a compiler put a part of the loop apart and that
/// has no name, by the size that the frames of all activations have.
fn is_outer(python: &Python, host: &dyn Host, frame: &Frame, own: AddrRange) -> bool {
    let is_nameless =
        || python.module.contains(frame.pc.lookup()) && host.function_at(frame.pc).is_none();
    let size = |range: AddrRange| range.end.offset_from(range.start);
    python.is_loop(host, frame)
        || is_nameless() && extent(frame).is_some_and(|extent| size(extent) == size(own))
}

/// The part of the stack that is a frame's own.
fn extent(frame: &Frame) -> Option<AddrRange> {
    let (sp, cfa) = frame.sp.zip(frame.cfa)?;
    (sp < cfa).then(|| AddrRange::new(sp, cfa))
}

/// Whether a thread stands in the first instructions of the loop.
fn is_in_prologue(host: &dyn Host, pc: CodeAddr) -> bool {
    let CodeAddr::Pc(at) = pc else { return false };
    let beginning = || {
        let module = host.module_at(at)?;
        let name = host.function_at(pc)?;
        let found = || module.symbols().table().lookup(&name).map(|symbol| symbol.value());
        module.addr(module.exported(&name).map(|(svma, _)| svma).or_else(found)?)
    };
    beginning().and_then(|first| at.offset_from(first)).is_some_and(|offset| offset < PROLOGUE)
}
