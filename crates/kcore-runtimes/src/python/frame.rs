//! Frames of Python: `Include/internal/pycore_frame.h` (`pycore_interpframe_structs.h` since 3.14), and to
//! 3.10 `Include/cpython/frameobject.h`.

use std::sync::Arc;

use kcore_mem::{Addr, Origin};

use super::{Code, Python, heap::Heap, interpreter::ThreadState, layout::Frames};

/// Frames of one thread, at most.
const MAX_FRAMES: usize = 1 << 20;
/// Evaluations of one thread, at most.
const MAX_ANCHORS: usize = 1 << 20;
/// `FRAME_OWNED_BY_GENERATOR`.
const OF_GENERATOR: u64 = 1;
/// The reason that is shown where the last frame has no caller, not even the frame with which an evaluation begins.
pub const UNLINKED: &str =
    "it was just about to return, and what led to the frames outside is not there any more";

/// A frame of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PyFrame {
    /// Where it lies: `PyFrameObject` to 3.10, `_PyInterpreterFrame` since.
    pub at: Addr,
    /// Its code.
    pub code: Arc<Code>,
    /// The line where it is.
    pub line: Option<u32>,
    /// Whether it, or what leads to it, was read when its thread may have run on.
    pub is_late: bool,
}

impl PyFrame {
    /// How many bytes into its instructions it is; `None` before the first one.
    pub(super) fn offset(&self, heap: &Heap<'_>) -> Option<u64> {
        let offset = instruction(heap, self.at, &self.code)?;
        u64::try_from(offset).ok().filter(|_| self.code.has(offset))
    }
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

/// Where a chain begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// With the frame at this address; there may be none.
    Frame(Option<Addr>),
    /// With those of the evaluation whose `_PyCFrame` lies here, from 3.10 to 3.12: on the stack of C, but for the one
    /// of no evaluation.
    Evaluation(Addr),
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
        if heap.is_late(thread.at) {
            let broken = Some("its thread may have run on before they were read");
            return Chain { groups: Vec::new(), broken };
        }
        let head = heap.head(thread);
        self.chain_from(heap, thread, head)
    }

    /// The frames of a thread state from one of them on, or from those of an evaluation on.
    pub(super) fn chain_from(&self, heap: &Heap<'_>, thread: &ThreadState, head: Head) -> Chain {
        let cframe = heap.layout.thread.cframe.and_then(|cframe| heap.pointer(thread.at, cframe));
        Walk::new(self, heap, thread).from(head, cframe)
    }

    /// The frames that a greenlet of a thread left, from the innermost one on, and the innermost `_PyCFrame` in 3.10. The
    /// module made those that it told of to be a chain without the frames which lie on the stack of C.
    pub(super) fn left_chain(
        &self,
        heap: &Heap<'_>,
        thread: &ThreadState,
        head: Head,
        cframe: Option<Addr>,
        limit: Option<Addr>,
    ) -> Chain {
        let walk = |is_exposed| {
            let walk = Walk { is_exposed, limit, ..Walk::new(self, heap, thread) };
            walk.from(head, cframe)
        };
        let chain = walk(false);
        if chain.broken == Some(UNLINKED) { walk(true) } else { chain }
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
        Ok(PyFrame { at, code, line, is_late: heap.is_late(at) })
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
    /// Whether what lies at an address is read from a process that runs on.
    pub(super) fn is_late(&self, at: Addr) -> bool {
        self.space.origin(at) == Ok(Origin::Live)
    }

    /// Whether a frame is one of no function's, with which an evaluation began.
    pub(super) fn is_shim(&self, frame: Addr) -> bool {
        let owner = self.layout.frame.owner.and_then(|owner| self.uint(frame, owner, 1));
        self.layout.frames == Frames::Shims && owner.is_some_and(|owner| owner >= 3)
    }

    /// Whether the function of a frame has not begun, `_PyFrame_IsIncomplete`: that of a generator always has.
    pub(super) fn is_unbegun(&self, frame: &PyFrame) -> bool {
        let owner = self.layout.frame.owner.and_then(|owner| self.uint(frame.at, owner, 1));
        let is_before = |offset| frame.code.is_prelude(offset);
        owner != Some(OF_GENERATOR)
            && instruction(self, frame.at, &frame.code).is_some_and(is_before)
    }
}

impl Heap<'_> {
    /// Where the chain of a thread state begins.
    pub(super) fn head(&self, thread: &ThreadState) -> Head {
        let offsets = &self.layout.thread;
        match (offsets.frame, offsets.cframe) {
            (None, Some(cframe)) => match self.pointer(thread.at, cframe) {
                Some(cframe) => Head::Evaluation(cframe),
                None => Head::Frame(None),
            },
            (frame, _) => Head::Frame(frame.and_then(|frame| self.pointer(thread.at, frame))),
        }
    }

    /// What follows a frame whose greenlet was asked for its frames: `Greenlet::expose_frames` of greenlet's
    /// `TGreenlet.cpp`, 3.0 to 3.5, keeps it in the frame's object and links the next frame of a function instead.
    pub(super) fn exposed(&self, frame: Addr) -> Option<Addr> {
        // `frame_obj` goes before the instruction, and `_f_frame_data` is behind all else of the object.
        let object = self.pointer(frame, self.layout.frame.instruction.checked_sub(8)?)?;
        let data = match self.layout.minor {
            12 => 48,
            13 => 64,
            14.. => 72,
            _ => return None,
        };
        self.pointer(object, data)
    }

    /// Where a `_PyCFrame` has the innermost frame of its evaluation, since 3.11.
    pub(super) const fn cframe_frame(&self) -> u64 {
        if self.layout.minor == 11 { 8 } else { 0 }
    }

    /// Where a `_PyCFrame` has the one of the evaluation outside of its own.
    pub(super) const fn cframe_previous(&self) -> u64 {
        match self.layout.minor {
            11 => 16,
            _ => 8,
        }
    }

    /// The `_PyCFrame` of the evaluation outside of one: further up the stack, or that of none.
    pub(super) fn outer_cframe(&self, thread: &ThreadState, cframe: Addr) -> Option<Addr> {
        let outer = self.pointer(cframe, self.cframe_previous())?;
        (outer > cframe || Some(outer) == self.root_cframe(thread)).then_some(outer)
    }

    /// The `_PyCFrame` that is a part of a thread state and stands for no evaluation.
    pub(super) fn root_cframe(&self, thread: &ThreadState) -> Option<Addr> {
        thread.at.checked_add(self.layout.thread.root_cframe?)
    }
}

/// A walk from the innermost frame outwards.
struct Walk<'a> {
    python: &'a Python,
    heap: &'a Heap<'a>,
    thread: &'a ThreadState,
    chain: Chain,
    open: Group,
    /// Frames that were passed.
    count: usize,
    /// Whether one of them was read late.
    is_late: bool,
    /// Whether frames have their next ones in their objects: see [`Heap::exposed`].
    is_exposed: bool,
    /// The end of the stack of C, where that of others goes on behind it.
    limit: Option<Addr>,
}

impl<'a> Walk<'a> {
    fn new(python: &'a Python, heap: &'a Heap<'a>, thread: &'a ThreadState) -> Self {
        let (chain, open) = (Chain::default(), Group::default());
        let (count, is_late, is_exposed, limit) = (0, false, false, None);
        Self { python, heap, thread, chain, open, count, is_late, is_exposed, limit }
    }

    fn from(mut self, head: Head, cframe: Option<Addr>) -> Chain {
        let ended = match (self.heap.layout.frames, head) {
            (Frames::Entries, Head::Evaluation(cframe)) => self.evaluations(cframe),
            _ => self
                .innermost(head)
                .and_then(|head| self.run(head, None))
                .and_then(|_| self.check_end()),
        };
        self.chain.broken = ended.err();
        self.end();
        if self.heap.layout.frames == Frames::Objects {
            let anchors = self.cframes(cframe);
            for (group, anchor) in self.chain.groups.iter_mut().zip(anchors) {
                group.anchor = Some(anchor);
            }
        }
        self.chain
    }

    /// Follows frames to the end of the chain, or to `until`, which is not passed; says whether it was met.
    fn run(&mut self, head: Option<Addr>, until: Option<Addr>) -> Result<bool, &'static str> {
        // A frame that is passed again, once it was marked, is in a circle.
        let (mut next, mut mark) = (head, None);
        while let Some(at) = next {
            if Some(at) == until {
                return Ok(true);
            }
            if self.count == MAX_FRAMES || mark == Some(at) {
                return Err("its frames go in a circle");
            }
            self.count = self.count.saturating_add(1);
            if self.count.is_power_of_two() {
                mark = Some(at);
            }
            let previous = self.heap.pointer(at, self.heap.layout.frame.previous);
            next = match self.link(at)? {
                Link::Frame(frame) => {
                    self.add(frame);
                    self.hidden(at).or(previous)
                }
                Link::Unbegun(at) => {
                    self.pass(at);
                    previous
                }
                Link::Shim(at) => {
                    self.close(Some(at));
                    previous
                }
            };
        }
        Ok(until.is_none())
    }

    /// What follows the frame of a function and is not on the chain any more.
    fn hidden(&self, at: Addr) -> Option<Addr> {
        self.heap.exposed(at).filter(|_| self.is_exposed)
    }

    /// Refuses a chain that ends with the frame of a function: since 3.12 each evaluation begins with a frame of no
    /// function's. A generator that yields loses its caller a moment before its evaluation does (`YIELD_VALUE`,
    /// `Python/bytecodes.c`).
    fn check_end(&self) -> Result<(), &'static str> {
        let is_cut = self.heap.layout.frames == Frames::Shims && !self.open.frames.is_empty();
        if is_cut { Err(UNLINKED) } else { Ok(()) }
    }

    /// The frames of 3.11, whose evaluations each know their innermost one: where the first of an evaluation is marked as
    /// such is not looked at, since that of one which begins may not be yet.
    fn evaluations(&mut self, cframe: Addr) -> Result<(), &'static str> {
        let root = self.heap.root_cframe(self.thread);
        let mut next = Some(cframe);
        while let Some(at) = next.filter(|at| Some(*at) != root) {
            let outer = self.outer_cframe(at);
            let until = outer.and_then(|outer| self.heap.pointer(outer, self.heap.cframe_frame()));
            let Some(head) = self.innermost(Head::Evaluation(at))? else { break };
            let is_met = self.run(Some(head), until);
            self.close(Some(at));
            if !is_met? {
                return Err("its frames do not lead to those of the evaluation that called");
            }
            next = outer;
        }
        Ok(())
    }

    /// The `_PyCFrame` of the evaluation outside of one: that of the first evaluation of a greenlet leads to another's.
    fn outer_cframe(&self, at: Addr) -> Option<Addr> {
        let outer = self.heap.outer_cframe(self.thread, at)?;
        self.limit.is_none_or(|limit| outer < limit).then_some(outer)
    }

    /// Where the innermost frame lies, if there is one. What leads to it from 3.11 to 3.12 lies on the
    /// stack of C.
    fn innermost(&self, head: Head) -> Result<Option<Addr>, &'static str> {
        let cframe = match head {
            Head::Frame(frame) => return Ok(frame),
            Head::Evaluation(cframe) => cframe,
        };
        let offset = self.heap.cframe_frame();
        match self.heap.word(cframe, offset) {
            None => Err("what leads to its frames was not dumped"),
            // A greenlet begins with a `_PyCFrame` that has no frame, and leads on.
            Some(0) if self.heap.pointer(cframe, self.heap.cframe_previous()).is_some() => Ok(None),
            Some(0) if self.heap.root_cframe(self.thread) != Some(cframe) => {
                Err("what leads to its frames reads as zeros: its memory is missing")
            }
            Some(_) => Ok(self.heap.pointer(cframe, offset)),
        }
    }

    /// What lies at `at`; an error says why nothing follows.
    fn link(&self, at: Addr) -> Result<Link, &'static str> {
        if self.is_base(at) || self.heap.is_shim(at) {
            return Ok(Link::Shim(at));
        }
        let frame = self.python.frame(self.heap, at)?;
        Ok(if self.heap.is_unbegun(&frame) { Link::Unbegun(at) } else { Link::Frame(frame) })
    }

    /// Whether it is the frame that is a part of the thread state.
    fn is_base(&self, at: Addr) -> bool {
        let base = self.heap.layout.thread.base_frame;
        base.is_some_and(|base| self.thread.at.checked_add(base) == Some(at))
    }

    fn add(&mut self, frame: PyFrame) {
        let at = frame.at;
        self.is_late |= frame.is_late;
        self.open.frames.push(PyFrame { is_late: self.is_late, ..frame });
        self.pass(at);
    }

    /// Ends the group with the frame at `at` where each evaluation runs one.
    fn pass(&mut self, at: Addr) {
        if self.heap.layout.frames == Frames::Objects && !self.is_passed(at) {
            self.close(None);
        }
    }

    /// Whether a frame is that of a generator which waits for another one, into which an exception is thrown: to 3.10
    /// `_gen_throw` puts it on the chain and evaluates it not (`Objects/genobject.c`). It belongs to the evaluation
    /// that threw.
    fn is_passed(&self, at: Addr) -> bool {
        let offsets = &self.heap.layout.frame;
        // `f_gen` goes before `f_lasti`.
        let generator = offsets.instruction.checked_sub(8);
        let is_generators = generator.and_then(|offset| self.heap.pointer(at, offset)).is_some();
        // While a frame is evaluated its stack is the evaluation's affair.
        let waits = || match self.heap.layout.minor {
            ..=9 => self.heap.pointer(at, offsets.stack).is_some(),
            _ => self.heap.int(at, offsets.stack).is_some_and(|depth| depth >= 0),
        };
        is_generators && waits()
    }

    fn close(&mut self, anchor: Option<Addr>) {
        let frames = std::mem::take(&mut self.open.frames);
        if !frames.is_empty() {
            self.chain.groups.push(Group { anchor, frames });
        }
    }

    /// Ends the last group. In 3.9 the chain ends with frames into which is thrown: which evaluation threw is not known,
    /// and they are told with the frame that they wait for.
    fn end(&mut self) {
        let is_thrown = self.heap.layout.frames == Frames::Objects;
        match self.chain.groups.last_mut().filter(|_| is_thrown) {
            Some(last) => last.frames.append(&mut self.open.frames),
            None => self.close(None),
        }
    }

    /// The addresses of all `_PyCFrame`s from one on, innermost first. In 3.10 each evaluation has one in its own stack
    /// frame.
    fn cframes(&self, innermost: Option<Addr>) -> Vec<Addr> {
        let root = self.heap.root_cframe(self.thread);
        let mut next = innermost;
        let mut found = Vec::new();
        while let Some(at) = next.filter(|at| Some(*at) != root && found.len() < MAX_ANCHORS) {
            found.push(at);
            next = self.outer_cframe(at);
        }
        found
    }
}
