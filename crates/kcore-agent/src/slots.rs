//! Slots: where handlers leave the stacks of their threads.
//!
//! A slot belongs to one side at a time, and its state says to which: the collector hands it out with a
//! number that is in the signal, the handler takes it, walks, and gives it back. A slot that nobody took in
//! time is revoked; a signal that comes late finds that its number has passed, and does nothing.

#![allow(unsafe_code)]

use std::{
    cell::UnsafeCell,
    ptr,
    sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering},
};

use kcore::{
    Addr, End, Frame, Regs, Target,
    in_place::{Room, Tables},
};

use crate::{sys, window::Window};

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
const PHASES: u64 = 3;
const NUMBER: u64 = 4;

/// Rises with each answer.
pub static ANSWERS: AtomicU32 = AtomicU32::new(0);
/// Whether somebody waits for answers.
pub static WAITS: AtomicU32 = AtomicU32::new(0);

static SLOTS: AtomicPtr<Slots> = AtomicPtr::new(ptr::null_mut());

/// All slots. They are made by the first request, and never freed: a handler may come at any time.
pub struct Slots(Vec<Slot>);

/// One slot.
pub struct Slot {
    state: AtomicU64,
    work: UnsafeCell<Work>,
}

/// What a handler works with, and what it leaves.
struct Work {
    tables: *const Tables,
    room: Room,
    window: Window,
    answer: Answer,
}

/// What a handler leaves besides frames.
#[derive(Clone, Copy)]
pub struct Answer {
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

    /// Whether no handler works, or may begin to.
    pub fn are_quiet(&self) -> bool {
        self.0.iter().all(|slot| slot.phase() == FREE)
    }
}

impl Slot {
    fn new(target: Target) -> Self {
        let answer = Answer {
            regs: Regs::new(Addr::new(0)),
            thread_pointer: 0,
            end: End::NoRegisters,
            time: (0, 0),
        };
        let (room, window) = (Room::new(FRAMES), Window::new(target));
        let work = Work { tables: ptr::null(), room, window, answer };
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
        unsafe { (*self.work.get()).walk(context) };
        self.state.store(ticket.number() | DONE, Ordering::Release);
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

impl Work {
    fn walk(&mut self, context: Addr) {
        let begun = sys::monotonic_ns();
        self.window.clear();
        // SAFETY: whoever asked has set it, and keeps the tables until the slot is free.
        let Some(tables) = (unsafe { self.tables.as_ref() }) else { return };
        let (regs, end) = self.room.walk_context(tables, &self.window, context);
        self.answer = Answer {
            regs,
            thread_pointer: sys::thread_pointer() as u64,
            end,
            time: (begun, sys::monotonic_ns()),
        };
    }
}
