//! Slots: where handlers leave the stacks of their threads.
//!
//! A slot belongs to one side at a time, and its state says to which: the collector hands it out with a
//! number that is in the signal, the handler takes it, walks, and gives it back. A slot that nobody took in
//! time is revoked; a signal that comes late finds that its number has passed, and does nothing.

#![allow(unsafe_code)]

use std::{
    cell::UnsafeCell,
    ffi::c_void,
    ptr,
    sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering},
};

use kcore::{
    Addr, End, Frame, Regs, Target,
    in_place::{Room, Tables},
};

use crate::{
    sys::{self, Stack},
    window::Window,
};

/// Slots. More handlers than that do not run at the same time on most machines, and the others wait for their
/// turn.
pub const COUNT: usize = 64;
/// Frames of one stack, at most.
pub const FRAMES: usize = 512;

/// Whom a slot belongs to: the low bits of its state. Above them stands its number.
const FREE: u64 = 0;
const ASKED: u64 = 1;
const TAKEN: u64 = 2;
const DONE: u64 = 3;
/// Any handler may take it, for a sample.
const OPEN: u64 = 4;
const PHASES: u64 = 7;
const NUMBER: u64 = 8;

/// Rises with each answer.
pub static ANSWERS: AtomicU32 = AtomicU32::new(0);
/// Whether somebody waits for answers.
pub static WAITS: AtomicU32 = AtomicU32::new(0);

/// Samples for which no slot was open.
static DROPPED: AtomicU64 = AtomicU64::new(0);

static SLOTS: AtomicPtr<Slots> = AtomicPtr::new(ptr::null_mut());

/// How many samples found no slot open since this was asked last.
pub fn take_dropped() -> u64 {
    DROPPED.swap(0, Ordering::AcqRel)
}

/// All slots. They are made by the first request, and never freed: a handler may come at any time.
pub struct Slots(Vec<Slot>);

/// One slot.
pub struct Slot {
    state: AtomicU64,
    work: UnsafeCell<Work>,
}

/// Bytes of the stack that a walk runs on: it was seen to use 20 KiB without optimization.
const STACK: usize = 128 << 10;

/// What a handler works with, and what it leaves.
struct Work {
    stack: Stack,
    /// Of the signal that is served.
    context: Addr,
    tables: *const Tables,
    room: Room,
    window: Window,
    answer: Answer,
}

/// What a handler leaves besides frames.
#[derive(Clone, Copy)]
pub struct Answer {
    /// The thread.
    pub tid: i32,
    /// Samples that it stands for.
    pub count: u64,
    /// Its registers when it was interrupted.
    pub regs: Regs,
    /// Its thread pointer.
    pub thread_pointer: u64,
    /// Why there are no more frames.
    pub end: End,
    /// When the handler began and ended, in nanoseconds of the clock that never goes back.
    pub time: (u64, u64),
}

/// What a signal carries: which slot, and its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(u64);

impl Ticket {
    /// From a payload.
    pub const fn new(payload: u64) -> Self {
        Self(payload)
    }

    /// The payload.
    pub const fn get(self) -> u64 {
        self.0
    }

    const fn of(index: usize, state: u64) -> Self {
        Self((state & !PHASES) << 8 | index as u64)
    }

    /// Which slot.
    pub const fn index(self) -> usize {
        (self.0 & 0xff) as usize
    }

    const fn number(self) -> u64 {
        self.0 >> 8
    }
}

// SAFETY: the work of a slot is used by the side alone that the state names; see `Slot`.
unsafe impl Sync for Slot {}
// SAFETY: the tables that it points to are only read, and outlive its use: see `Slot::ask`.
unsafe impl Send for Slot {}

impl Slots {
    /// All slots, made if there are none yet. Not for a handler.
    pub fn get(target: Target) -> &'static Self {
        if let Some(slots) = Self::known() {
            return slots;
        }
        let made = Box::new(Self((0..COUNT).map(|_| Slot::new(target)).collect()));
        SLOTS.store(Box::into_raw(made), Ordering::Release);
        Self::known().unwrap_or(const { &Self(Vec::new()) })
    }

    /// The slots, once there are some.
    pub fn known() -> Option<&'static Self> {
        // SAFETY: they are leaked boxes, published whole.
        unsafe { SLOTS.load(Ordering::Acquire).as_ref() }
    }

    /// Forgets those that other threads may have been working on, in a process that was forked off.
    pub fn forget() {
        SLOTS.store(ptr::null_mut(), Ordering::Release);
    }

    /// One by its place.
    pub fn at(&self, index: usize) -> Option<&Slot> {
        self.0.get(index)
    }

    /// The places of all that belong to the collector. What nobody waited for is thrown away.
    pub fn free(&self) -> Vec<usize> {
        self.0.iter().for_each(|slot| slot.take(|_, _| ()).unwrap_or_default());
        let free = self.0.iter().enumerate().filter(|(_, slot)| slot.phase() == FREE);
        free.map(|(index, _)| index).collect()
    }

    /// Opens half of the free slots to samples; the others are left for threads that are asked. The tables
    /// must stay until they are closed and [`Slots::are_quiet`].
    pub fn open(&self, tables: &Tables) {
        for slot in self.0.iter().filter(|slot| slot.phase() == FREE).take(COUNT / 2) {
            slot.open(tables);
        }
    }

    /// Closes those that are open.
    pub fn close(&self) {
        self.0.iter().for_each(Slot::close);
    }

    /// Leaves a sample in a slot that is open, for a handler; it stands for `count`.
    pub fn sample(&self, context: Addr, count: u64) {
        if !self.0.iter().any(|slot| slot.sample(context, count)) {
            DROPPED.fetch_add(count, Ordering::AcqRel);
        }
    }

    /// Gives `take` the samples that came, and opens their slots again where `tables` are given.
    pub fn take_samples(&self, tables: Option<&Tables>, take: &mut dyn FnMut(&Answer, &[Frame])) {
        for slot in &self.0 {
            if slot.take(&mut *take).is_some()
                && let Some(tables) = tables
            {
                slot.open(tables);
            }
        }
    }

    /// Whether no handler works, or may begin to.
    pub fn are_quiet(&self) -> bool {
        self.0.iter().all(|slot| slot.phase() == FREE)
    }
}

impl Slot {
    fn new(target: Target) -> Self {
        let answer = Answer {
            tid: 0,
            count: 0,
            regs: Regs::new(Addr::new(0)),
            thread_pointer: 0,
            end: End::NoRegisters,
            time: (0, 0),
        };
        let (room, window) = (Room::new(FRAMES), Window::new(target));
        let (stack, context) = (Stack::new(STACK), Addr::new(0));
        let work = Work { stack, context, tables: ptr::null(), room, window, answer };
        Self { state: AtomicU64::new(FREE), work: UnsafeCell::new(work) }
    }

    fn phase(&self) -> u64 {
        self.state.load(Ordering::Acquire) & PHASES
    }

    /// Hands out a free slot, whose place is `index`. The tables must stay until it is free again.
    pub fn ask(&self, index: usize, tables: &Tables) -> Option<Ticket> {
        let state = self.state.load(Ordering::Acquire);
        if state & PHASES != FREE {
            return None;
        }
        // SAFETY: a free slot is the collector's, which is one thread.
        unsafe { (*self.work.get()).tables = tables };
        self.state.store(state | ASKED, Ordering::Release);
        Some(Ticket::of(index, state))
    }

    /// Takes the slot for the handler that has the ticket, and walks the stack that was interrupted where
    /// `context` says.
    pub fn answer(&self, ticket: Ticket, context: Addr) {
        let (asked, taken) = (ticket.number() | ASKED, ticket.number() | TAKEN);
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        if self.state.compare_exchange(asked, taken, order.0, order.1).is_err() {
            return;
        }
        // SAFETY: who takes a slot has its work alone, until the state says that it is done.
        unsafe { (*self.work.get()).begin(context, 1) };
        self.state.store(ticket.number() | DONE, Ordering::Release);
    }

    /// Opens a free slot.
    fn open(&self, tables: &Tables) {
        let state = self.state.load(Ordering::Acquire);
        if state & PHASES == FREE {
            // SAFETY: a free slot is the collector's, which is one thread.
            unsafe { (*self.work.get()).tables = tables };
            self.state.store(state | OPEN, Ordering::Release);
        }
    }

    fn close(&self) {
        let state = self.state.load(Ordering::Acquire);
        if state & PHASES == OPEN {
            let order = (Ordering::AcqRel, Ordering::Relaxed);
            let _ = self.state.compare_exchange(state, next_number(state), order.0, order.1);
        }
    }

    /// Takes an open slot for the handler of a sample, and walks; says whether it was open.
    fn sample(&self, context: Addr, count: u64) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        let taken = (state & !PHASES) | TAKEN;
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        if state & PHASES != OPEN
            || self.state.compare_exchange(state, taken, order.0, order.1).is_err()
        {
            return false;
        }
        // SAFETY: who takes a slot has its work alone, until the state says that it is done.
        unsafe { (*self.work.get()).begin(context, count) };
        self.state.store((state & !PHASES) | DONE, Ordering::Release);
        true
    }

    /// What was left, if it is done; the slot is free then.
    pub fn take<R>(&self, use_it: impl FnOnce(&Answer, &[Frame]) -> R) -> Option<R> {
        let state = self.state.load(Ordering::Acquire);
        if state & PHASES != DONE {
            return None;
        }
        // SAFETY: what is done is the collector's.
        let work = unsafe { &*self.work.get() };
        let used = use_it(&work.answer, work.room.frames());
        self.state.store(next_number(state), Ordering::Release);
        Some(used)
    }

    /// Takes a slot back that nobody has taken; says whether that was in time.
    pub fn revoke(&self, ticket: Ticket) -> bool {
        let (asked, free) = (ticket.number() | ASKED, next_number(ticket.number()));
        self.state.compare_exchange(asked, free, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

/// The state of a free slot with the number after this one's.
const fn next_number(state: u64) -> u64 {
    // Tickets have room for 56 bits of the state.
    ((state & !PHASES).wrapping_add(NUMBER)) & (u64::MAX >> 8)
}

/// Walks, on the stack of the work.
extern "C" fn walk(work: *mut c_void) {
    // SAFETY: `Work::begin` gives itself, and touches nothing until this returns.
    unsafe { (*work.cast::<Work>()).walk() }
}

impl Work {
    /// Walks the stack that was interrupted where `context` says, for so many samples.
    fn begin(&mut self, context: Addr, count: u64) {
        (self.context, self.answer.count) = (context, count);
        let own = ptr::from_mut(self).cast();
        let mut stack = std::mem::take(&mut self.stack);
        stack.call(walk, own);
        self.stack = stack;
    }

    fn walk(&mut self) {
        let begun = sys::monotonic_ns();
        self.window.clear();
        // SAFETY: whoever asked has set it, and keeps the tables until the slot is free.
        let Some(tables) = (unsafe { self.tables.as_ref() }) else { return };
        let (regs, end) = self.room.walk_context(tables, &self.window, self.context);
        self.answer = Answer {
            tid: sys::thread_id(),
            count: self.answer.count,
            regs,
            thread_pointer: sys::thread_pointer() as u64,
            end,
            time: (begun, sys::monotonic_ns()),
        };
    }
}
