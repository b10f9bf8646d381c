//! Frames of Python: `Include/internal/pycore_frame.h` (`pycore_interpframe_structs.h` since 3.14), and to
//! 3.10 `Include/cpython/frameobject.h`.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{Code, Python, heap::Heap, interpreter::ThreadState, layout::Frames};

/// Frames of one thread, at most.
const MAX_FRAMES: usize = 1 << 20;
/// Evaluations of one thread, at most.
const MAX_ANCHORS: usize = 1 << 20;
/// `FRAME_OWNED_BY_GENERATOR`.
const OF_GENERATOR: u64 = 1;

/// A frame of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PyFrame {
    /// Where it lies: `PyFrameObject` to 3.10, `_PyInterpreterFrame` since.
    pub at: Addr,
    /// Its code.
    pub code: Arc<Code>,
    /// The line where it is.
    pub line: Option<u32>,
}

/// Frames that one native activation of the evaluation loop runs, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// An address in the stack frame of that activation, where something tells one.
    pub anchor: Option<Addr>,
    /// The frames.
    pub frames: Vec<PyFrame>,
}

/// The frames of a thread state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// Them, innermost first.
    pub groups: Vec<Group>,
    /// Why there are no more, if there should be.
    pub broken: Option<&'static str>,
}

/// What follows a frame.
enum Link {
    Frame(PyFrame),
    /// One of a function that has not begun, or of none: it has no line.
    Unbegun(Addr),
    /// One of no function's, with which an evaluation began, at this address.
    Shim(Addr),
}

impl Python {
    /// The frames of a thread state.
    pub(super) fn chain(&self, heap: &Heap<'_>, thread: &ThreadState) -> Chain {
        let (chain, open) = (Chain::default(), Group::default());
        let mut walk = Walk { python: self, heap, thread, chain, open, has_evaluated: false };
        walk.run();
        walk.finish()
    }

    /// The frame of a function that lies at `at`; an error says why there is none.
    pub(super) fn frame(&self, heap: &Heap<'_>, at: Addr) -> Result<PyFrame, &'static str> {
        let code = match heap.word(at, heap.layout.frame.code) {
            None => return Err("the frame of its caller was not dumped"),
            Some(0) => return Err("the frame of its caller reads as zeros: its memory is missing"),
            Some(word) => Addr::new(word & !3),
        };
        let code = self.code(heap, code).ok_or_else(|| match Code::lacks_memory(heap, code) {
            true => "the code of its caller was not dumped",
            false => "the frame of its caller is damaged",
        })?;
        let offset = instruction(heap, at, &code).filter(|offset| code.has(*offset));
        let line = offset.and_then(|offset| code.line(heap.layout.minor, offset));
        Ok(PyFrame { at, code, line })
    }
}

/// How many bytes into its instructions a frame is; negative before the first one.
fn instruction(heap: &Heap<'_>, at: Addr, code: &Code) -> Option<i64> {
    let offset = heap.layout.frame.instruction;
    match heap.layout.minor {
        ..=9 => heap.int(at, offset).map(i64::from),
        10 => i64::from(heap.int(at, offset)?).checked_mul(2),
        _ => {
            let first = code.at.checked_add(heap.layout.code.instructions)?;
            let word = heap.word(at, offset)?;
            Some(word.wrapping_sub(first.get()).cast_signed())
        }
    }
}

impl Heap<'_> {
    /// Whether a frame is one of no function's, with which an evaluation began.
    pub(super) fn is_shim(&self, frame: Addr) -> bool {
        let owner = self.layout.frame.owner.and_then(|owner| self.uint(frame, owner, 1));
        self.layout.frames == Frames::Shims && owner.is_some_and(|owner| owner >= 3)
    }
}

/// A walk from the innermost frame outwards.
struct Walk<'a> {
    python: &'a Python,
    heap: &'a Heap<'a>,
    thread: &'a ThreadState,
    chain: Chain,
    open: Group,
    /// Whether the open group has a frame that is evaluated.
    has_evaluated: bool,
}

impl Walk<'_> {
    fn run(&mut self) {
        let offsets = &self.heap.layout.frame;
        let mut next = match self.innermost() {
            Ok(innermost) => innermost,
            Err(why) => {
                self.chain.broken = Some(why);
                return;
            }
        };
        // A frame that is passed again, once it was marked, is in a circle.
        let (mut count, mut mark) = (0_usize, None);
        while let Some(at) = next {
            if count == MAX_FRAMES || mark == Some(at) {
                self.chain.broken = Some("its frames go in a circle");
                return;
            }
            count = count.saturating_add(1);
            if count.is_power_of_two() {
                mark = Some(at);
            }
            match self.link(at) {
                Ok(Link::Frame(frame)) => self.add(frame),
                Ok(Link::Unbegun(at)) => self.pass(at),
                Ok(Link::Shim(at)) => self.close(Some(at)),
                Err(why) => {
                    self.chain.broken = Some(why);
                    return;
                }
            }
            next = self.heap.pointer(at, offsets.previous);
        }
    }

    /// Where the innermost frame lies, if there is one. What leads to it from 3.11 to 3.12 lies on the
    /// stack of C.
    fn innermost(&self) -> Result<Option<Addr>, &'static str> {
        let offsets = &self.heap.layout.thread;
        if let Some(frame) = offsets.frame {
            return Ok(self.heap.pointer(self.thread.at, frame));
        }
        let cframe = offsets.cframe.and_then(|cframe| self.heap.pointer(self.thread.at, cframe));
        let Some(cframe) = cframe else { return Ok(None) };
        let root = offsets.root_cframe.and_then(|root| self.thread.at.checked_add(root));
        match self.heap.word(cframe, self.cframe_frame()) {
            None => Err("what leads to its frames was not dumped"),
            Some(0) if root != Some(cframe) => {
                Err("what leads to its frames reads as zeros: its memory is missing")
            }
            Some(_) => Ok(self.heap.pointer(cframe, self.cframe_frame())),
        }
    }

    /// Where a `_PyCFrame` has its innermost frame.
    const fn cframe_frame(&self) -> u64 {
        if self.heap.layout.minor == 11 { 8 } else { 0 }
    }

    /// What lies at `at`; an error says why nothing follows.
    fn link(&self, at: Addr) -> Result<Link, &'static str> {
        if self.is_base(at) || self.heap.is_shim(at) {
            return Ok(Link::Shim(at));
        }
        let frame = self.python.frame(self.heap, at)?;
        Ok(if self.is_unbegun(&frame) { Link::Unbegun(at) } else { Link::Frame(frame) })
    }

    /// Whether its function has not begun, `_PyFrame_IsIncomplete`: that of a generator always has.
    fn is_unbegun(&self, frame: &PyFrame) -> bool {
        let owner = self.heap.layout.frame.owner;
        let owner = owner.and_then(|owner| self.heap.uint(frame.at, owner, 1));
        let is_before = |offset| frame.code.is_prelude(offset);
        owner != Some(OF_GENERATOR)
            && instruction(self.heap, frame.at, &frame.code).is_some_and(is_before)
    }

    /// Whether it is the frame that is a part of the thread state.
    fn is_base(&self, at: Addr) -> bool {
        let base = self.heap.layout.thread.base_frame;
        base.is_some_and(|base| self.thread.at.checked_add(base) == Some(at))
    }

    fn add(&mut self, frame: PyFrame) {
        let at = frame.at;
        self.open.frames.push(frame);
        self.pass(at);
    }

    /// Ends the group if the frame at `at` is the first of an evaluation.
    fn pass(&mut self, at: Addr) {
        if !self.has_evaluated && self.is_passed(at) {
            return;
        }
        self.has_evaluated = true;
        let ends = match self.heap.layout.frames {
            Frames::Objects => true,
            Frames::Shims => false,
            Frames::Entries => {
                let entry = self.heap.layout.frame.is_entry;
                entry.and_then(|entry| self.heap.uint(at, entry, 1)).is_some_and(|entry| entry != 0)
            }
        };
        if ends {
            self.close(None);
        }
    }

    /// Whether a frame is that of a generator which waits for another one, into which an exception is thrown: to 3.11
    /// `_gen_throw` puts it on the chain and evaluates it not (`Objects/genobject.c`). It belongs to the evaluation
    /// that threw.
    fn is_passed(&self, at: Addr) -> bool {
        let Heap { layout, .. } = self.heap;
        let offsets = &layout.frame;
        let is_generators = match offsets.owner {
            Some(owner) => self.heap.uint(at, owner, 1) == Some(OF_GENERATOR),
            // `f_gen` goes before `f_lasti`.
            None => offsets
                .instruction
                .checked_sub(8)
                .and_then(|offset| self.heap.pointer(at, offset))
                .is_some(),
        };
        // While a frame is evaluated its stack is the evaluation's affair.
        let waits = || match layout.minor {
            ..=9 => self.heap.pointer(at, offsets.stack).is_some(),
            10 | 11 => self.heap.int(at, offsets.stack).is_some_and(|depth| depth >= 0),
            _ => false,
        };
        is_generators && waits()
    }

    fn close(&mut self, anchor: Option<Addr>) {
        self.has_evaluated = false;
        let frames = std::mem::take(&mut self.open.frames);
        // Each entry has an anchor, in the same order.
        if !frames.is_empty() || self.heap.layout.frames == Frames::Entries {
            self.chain.groups.push(Group { anchor, frames });
        }
    }

    fn finish(mut self) -> Chain {
        self.end();
        if self.heap.layout.frames != Frames::Shims {
            let anchors = self.cframes();
            for (group, anchor) in self.chain.groups.iter_mut().zip(anchors) {
                group.anchor = Some(anchor);
            }
        }
        self.chain
    }

    /// Ends the last group. In 3.9 the chain ends with frames into which is thrown: which evaluation threw is not known,
    /// and they are told with the frame that they wait for.
    fn end(&mut self) {
        match self.chain.groups.last_mut().filter(|_| !self.has_evaluated) {
            Some(last) => last.frames.append(&mut self.open.frames),
            None if self.open.frames.is_empty() => {}
            None => self.close(None),
        }
    }

    /// The `_PyCFrame`s of the evaluations, innermost first: each lies in the stack frame of one.
    fn cframes(&self) -> Vec<Addr> {
        let offsets = &self.heap.layout.thread;
        let root = offsets.root_cframe.and_then(|root| self.thread.at.checked_add(root));
        let previous = if self.heap.layout.minor == 10 { 8 } else { 16 };
        let mut next = offsets.cframe.and_then(|cframe| self.heap.pointer(self.thread.at, cframe));
        let mut found = Vec::new();
        while let Some(at) = next.filter(|at| Some(*at) != root && found.len() < MAX_ANCHORS) {
            found.push(at);
            next = self.heap.pointer(at, previous).filter(|next| *next > at || Some(*next) == root);
        }
        found
    }
}
