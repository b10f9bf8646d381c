//! Where greenlets keep their fields, as the objects of a process tell it.
//!
//! To 1.1 all lies in the object, since 2.0 in one of C++ that it points to. What lies before the fields that are wanted
//! differs with CPython's version, and what lies behind them with greenlet's too.

use kcore_mem::Addr;

use super::super::heap::Heap;

/// `pimpl` of a `PyGreenlet`, since 2.0, which has this size.
const IMPLEMENTATION: u64 = 32;
const SMALL_OBJECT: u64 = 40;
/// Of the fields of `StackState` behind the first: `stack_stop`, `stack_copy`, `_stack_saved`; and behind all of them
/// `PythonState::_top_frame` and `cframe`.
pub const STOP: u64 = 8;
pub const COPY: u64 = 16;
pub const SAVED: u64 = 24;
const TOP_FRAME: u64 = 48;
/// `_self`, since 3.1, and to 3.0 behind all of `PythonState`.
const SELF: u64 = 8;
const OLD_SELF: [u64; 3] = [128, 144, 160];
/// To 1.1: the first field of the stack, `parent`, `run_info` and `top_frame`.
const OLD_START: u64 = 16;
const OLD_PARENT: u64 = 56;
const OLD_RUN: u64 = 64;
const OLD_TOP_FRAME: u64 = 72;
/// Of the words behind `_top_frame` those among which `_main_greenlet` and `_parent` are.
const TAIL: u64 = 160;
/// Objects that are looked at in order to learn how they are laid out.
const LOOKED_AT: usize = 64;

/// Where fields lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GreenletLayout {
    /// Whether the fields are those of the object that `pimpl` points to.
    pub is_apart: bool,
    /// `_stack_start`.
    pub start: u64,
    /// `_top_frame`.
    pub top_frame: u64,
    /// `cframe`, from CPython 3.10 to 3.12.
    pub cframe: Option<u64>,
    /// `_run_callable`, to 1.1 `run_info`: what one that did not begin was made for.
    pub run: Option<u64>,
    /// `_parent`.
    pub parent: Option<u64>,
    /// `_main_greenlet`, since 2.0: that of the thread in which one began, and nothing before it did.
    pub main: Option<u64>,
}

/// What is known of the thread that a greenlet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnThread {
    /// It runs, and has this `ThreadState`.
    Runs(Addr),
    /// It ended: greenlet took its state away.
    Ended,
    /// The greenlet did not begin, or its version does not say.
    Unknown,
}

impl GreenletLayout {
    /// The one that fits some greenlets, whose class has objects of `size` bytes; an error says why there is none.
    pub fn of(heap: &Heap<'_>, size: u64, objects: &[Addr]) -> Result<Self, &'static str> {
        let objects = objects.get(..LOOKED_AT).unwrap_or(objects);
        match size {
            SMALL_OBJECT => Self::apart(heap, objects),
            size if size > SMALL_OBJECT => Ok(Self::old(heap.layout.minor)),
            _ => Err("objects of its class are smaller than those of any version"),
        }
    }

    /// That of 0.4 to 1.1. Behind `top_frame` come `recursion_depth`, the weak references, `exc_info` and `exc_state`,
    /// which CPython 3.11 has two fields less of, `dict` and `context`; in 3.11 there are four more words before them.
    const fn old(minor: u8) -> Self {
        let cframe = match minor {
            10 => Some(152),
            11 => Some(168),
            _ => None,
        };
        Self {
            is_apart: false,
            start: OLD_START,
            top_frame: OLD_TOP_FRAME,
            cframe,
            run: Some(OLD_RUN),
            parent: Some(OLD_PARENT),
            main: None,
        }
    }

    fn apart(heap: &Heap<'_>, objects: &[Addr]) -> Result<Self, &'static str> {
        let is_self = |offset: u64| {
            objects.iter().all(|at| {
                let apart = heap.pointer(*at, IMPLEMENTATION);
                apart.and_then(|apart| heap.pointer(apart, offset)) == Some(*at)
            })
        };
        // Exceptions that are handled take two words less since CPython 3.11.
        let minor = heap.layout.minor;
        let old_start: u64 = if minor >= 11 { 48 } else { 64 };
        let start = match (is_self(SELF), OLD_SELF.into_iter().any(is_self)) {
            (true, _) => old_start.saturating_add(8),
            (_, true) => old_start,
            _ => return Err("its layout is none of those of 0.4 to 3.5"),
        };
        let top_frame = start.saturating_add(TOP_FRAME);
        let cframe = (10..=12).contains(&minor).then(|| top_frame.saturating_add(8));
        let layout =
            Self { is_apart: true, start, top_frame, cframe, run: None, parent: None, main: None };
        Ok(layout.with_tail(heap, objects))
    }

    /// With the places of what comes behind the state of CPython: `_main_greenlet`, `_run_callable`, `_parent`. Main ones
    /// have `_self` and `_thread_state` there, and to 3.0 all others `_self` first, too.
    fn with_tail(self, heap: &Heap<'_>, objects: &[Addr]) -> Self {
        let own = objects.iter().find_map(|at| self.own_place(heap, *at));
        let has_self = objects.first().is_some_and(|at| {
            let fields = self.fields(heap, *at);
            fields.and_then(|fields| heap.pointer(fields, SELF)) == Some(*at)
        });
        let main = own.and_then(|own| own.checked_add(if has_self { 0 } else { 8 }));
        let behind = |count: u64| main.and_then(|main| main.checked_add(count));
        Self { main, run: behind(8), parent: behind(16), ..self }
    }

    /// Where a main greenlet has `_self` behind the state of CPython; `None` of others.
    fn own_place(&self, heap: &Heap<'_>, at: Addr) -> Option<u64> {
        let fields = self.fields(heap, at).filter(|_| self.is_apart)?;
        let is_main = heap.word(fields, self.stop())? == u64::MAX;
        let first = self.top_frame.saturating_add(16);
        let mut offsets = (first..first.saturating_add(TAIL)).step_by(8);
        offsets.find(|offset| is_main && heap.pointer(fields, *offset) == Some(at))
    }

    /// The thread of a greenlet, by `_thread_state` of the main one.
    pub fn thread(&self, heap: &Heap<'_>, at: Addr) -> OwnThread {
        let state = || {
            let fields = self.fields(heap, at)?;
            let is_main = heap.word(fields, self.stop())? == u64::MAX;
            let main = if is_main { at } else { heap.pointer(fields, self.main?)? };
            let place = self.own_place(heap, main)?.checked_add(8)?;
            heap.word(self.fields(heap, main)?, place)
        };
        match state() {
            Some(0) => OwnThread::Ended,
            Some(state) => OwnThread::Runs(Addr::new(state)),
            None => OwnThread::Unknown,
        }
    }

    /// Where the fields of a greenlet begin.
    pub fn fields(&self, heap: &Heap<'_>, at: Addr) -> Option<Addr> {
        if self.is_apart { heap.pointer(at, IMPLEMENTATION) } else { Some(at) }
    }

    /// `stack_stop`.
    pub const fn stop(&self) -> u64 {
        self.start.saturating_add(STOP)
    }
}
