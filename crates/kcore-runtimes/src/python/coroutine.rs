//! Coroutines and generators, and what a suspended one awaits: `Include/cpython/genobject.h`,
//! `Include/internal/pycore_frame.h`.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Python,
    frame::PyFrame,
    heap::{Heap, Object},
    value::Value,
};
use crate::Host;

/// Coroutines that await each other, at most.
const MAX_CHAIN: usize = 4096;
/// `f_executing` in 3.8 and 3.9, `f_state` in 3.10, `f_valuestack`: `PyFrameObject`.
const F_EXECUTING: u64 = 116;
const F_STATE: u64 = 108;
const F_VALUE_STACK: u64 = 64;
/// Types that have a frame of their own.
const TYPES: [&str; 3] = ["coroutine", "generator", "async_generator"];

/// What is awaited in the place of what it is of, which it refers to right behind its header: `PyAsyncGenASend`,
/// `PyAsyncGenAThrow`, `PyCoroWrapper` of `Objects/genobject.c`, `anextawaitableobject` of `Objects/iterobject.c`.
const STAND_INS: [&str; 4] =
    ["async_generator_asend", "async_generator_athrow", "coroutine_wrapper", "anext_awaitable"];
const STANDS_FOR: u64 = 16;

/// What a coroutine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoroutineState {
    /// It did not begin.
    Created,
    /// It awaits something, or yielded.
    Suspended,
    /// A thread runs it.
    Running,
    /// It ended.
    Finished,
}

impl CoroutineState {
    /// The word for it, as `inspect.getcoroutinestate` has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Suspended => "suspended",
            Self::Running => "running",
            Self::Finished => "closed",
        }
    }
}

/// A coroutine with those that it awaits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaiting {
    /// What the outermost one does.
    pub state: CoroutineState,
    /// Their frames, the innermost first.
    pub frames: Vec<PyFrame>,
    /// What the innermost one awaits, if that is no coroutine.
    pub waits_on: Option<Addr>,
}

/// What a coroutine or generator does, and where.
pub struct OwnFrame {
    state: CoroutineState,
    frame: Option<PyFrame>,
}

impl OwnFrame {
    /// What is told of it before its variables: function, state and place.
    pub fn told(&self) -> Vec<(Arc<str>, Value)> {
        let text = |name: &str, text: &str| (Arc::from(name), Value::made(text));
        let mut told = vec![text("state", self.state.as_str())];
        if let Some(PyFrame { code, line, .. }) = &self.frame {
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            told.insert(0, text("function", &code.name));
            told.push(text("place", &format!("{}{line}", code.file)));
        }
        told
    }
}

impl Python {
    /// The coroutine or generator at an address, and those that it awaits; `None` of what is none.
    pub fn awaiting(&self, host: &dyn Host, at: Addr) -> Option<Awaiting> {
        let heap = self.heap(host);
        let state = self.coroutine_state(host, &heap, heap.object(at)?)?;
        let mut found = Awaiting { state, frames: Vec::new(), waits_on: None };
        let mut next = Some(at);
        while let Some(at) = next.filter(|_| found.frames.len() < MAX_CHAIN) {
            let at = self.stands_for(host, &heap, at);
            let inner = heap
                .object(at)
                .and_then(|object| Some((object, self.coroutine_state(host, &heap, object)?)));
            let Some((object, state)) = inner else {
                found.waits_on = Some(at);
                break;
            };
            let Some(frame) = self.coroutine_frame(&heap, object) else { break };
            next = match state {
                CoroutineState::Suspended => self.stack_top(&heap, frame.at),
                _ => None,
            };
            found.frames.push(frame);
        }
        found.frames.reverse();
        Some(found)
    }

    /// The coroutine or generator that an awaitable is of; itself, if it is of none.
    fn stands_for(&self, host: &dyn Host, heap: &Heap<'_>, at: Addr) -> Addr {
        let mut at = at;
        // One of `anext` is of another stand-in.
        for _ in 0..STAND_INS.len() {
            let class = heap.object(at).and_then(|object| self.class_name(host, object.class));
            let is_one = class.is_some_and(|class| STAND_INS.contains(&&*class));
            match heap.field(at, STANDS_FOR).filter(|_| is_one) {
                Some(object) => at = object.at,
                None => break,
            }
        }
        at
    }

    /// What a suspended coroutine or generator awaits.
    pub(super) fn awaited_by(&self, host: &dyn Host, at: Addr) -> Option<Addr> {
        let heap = self.heap(host);
        let object = heap.object(at)?;
        let is_so = self.coroutine_state(host, &heap, object)? == CoroutineState::Suspended;
        is_so.then(|| self.stack_top(&heap, frame_place(&heap, object)?))?
    }

    /// Whether an object is a coroutine or a generator.
    pub(super) fn is_coroutine(&self, host: &dyn Host, object: Object) -> bool {
        let name = self.class_name(host, object.class);
        name.is_some_and(|name| TYPES.contains(&&*name))
    }

    fn coroutine_state(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        object: Object,
    ) -> Option<CoroutineState> {
        self.is_coroutine(host, object).then_some(())?;
        match heap.layout.objects.generator_state {
            None => self.old_state(heap, object),
            Some(offset) => {
                let state = u8::try_from(heap.uint(object.at, offset, 1)?).ok()?.cast_signed();
                Some(state_of(heap.layout.minor, state))
            }
        }
    }

    /// To 3.10 the frame has the state.
    fn old_state(&self, heap: &Heap<'_>, object: Object) -> Option<CoroutineState> {
        let frame = heap.word(object.at, heap.layout.objects.generator_frame)?;
        if frame == 0 {
            return Some(CoroutineState::Finished);
        }
        let frame = Addr::new(frame);
        let is_running = match heap.layout.minor {
            ..=9 => heap.uint(frame, F_EXECUTING, 1)? != 0,
            _ => heap.uint(frame, F_STATE, 1)? == 0,
        };
        let has_begun = heap.int(frame, heap.layout.frame.instruction)? >= 0;
        Some(match (is_running, has_begun) {
            (true, _) => CoroutineState::Running,
            (false, true) => CoroutineState::Suspended,
            (false, false) => CoroutineState::Created,
        })
    }

    /// The frame of a coroutine or generator, and what that does.
    pub(super) fn own_frame(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        object: Object,
    ) -> Option<OwnFrame> {
        let state = self.coroutine_state(host, heap, object)?;
        let frame = (state != CoroutineState::Finished).then(|| self.coroutine_frame(heap, object));
        Some(OwnFrame { state, frame: frame.flatten() })
    }

    /// Where the frame of a coroutine or generator lies that did not end.
    pub(super) fn frame_of(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        object: Object,
    ) -> Option<Addr> {
        let state = self.coroutine_state(host, heap, object)?;
        (state != CoroutineState::Finished).then(|| frame_place(heap, object))?
    }

    fn coroutine_frame(&self, heap: &Heap<'_>, object: Object) -> Option<PyFrame> {
        self.frame(heap, frame_place(heap, object)?).ok()
    }

    /// What lies on top of the value stack of a suspended frame: what it awaits.
    fn stack_top(&self, heap: &Heap<'_>, frame: Addr) -> Option<Addr> {
        let offset = heap.layout.frame.stack;
        let below = |at: Addr, words: u64| {
            let at = at.get().checked_sub(words.checked_mul(8)?)?;
            heap.space.read_word(Addr::new(at)).ok()
        };
        let index = || u64::try_from(heap.int(frame, offset)?).ok()?.checked_mul(8);
        let word = match heap.layout.minor {
            ..=9 => below(heap.pointer(frame, offset)?, 1)?,
            10 => below(heap.pointer(frame, F_VALUE_STACK)?.checked_add(index()?)?, 1)?,
            11..=13 => {
                below(frame.checked_add(heap.layout.frame.slots)?.checked_add(index()?)?, 1)?
            }
            14 => below(heap.pointer(frame, offset)?, 1)?,
            // Another word lies on top.
            _ => below(heap.pointer(frame, offset)?, 2)?,
        };
        self.referred(word)
    }
}

fn frame_place(heap: &Heap<'_>, coroutine: Object) -> Option<Addr> {
    let offset = heap.layout.objects.generator_frame;
    match heap.layout.minor {
        ..=10 => heap.pointer(coroutine.at, offset),
        _ => coroutine.at.checked_add(offset),
    }
}

/// `PyFrameState`: 3.13 told two ways of suspension apart, 3.15 counts from 0.
const fn state_of(minor: u8, state: i8) -> CoroutineState {
    match (minor, state) {
        (..=12, -2) | (13 | 14, -3) | (15.., 0) => CoroutineState::Created,
        (..=12, -1) | (13 | 14, -2 | -1) | (15.., 1..=3) => CoroutineState::Suspended,
        (..=14, 0) | (15.., 4) => CoroutineState::Running,
        _ => CoroutineState::Finished,
    }
}
