//! One round of questions and answers.

use std::{
    collections::{BTreeSet, VecDeque},
    num::NonZero,
    sync::atomic::Ordering,
    thread::available_parallelism,
    time::{Duration, Instant},
};

use kcore::{Addr, OwnThread, Tid, in_place::Tables};

use super::{Collection, Missing, tasks};
use crate::{
    slots::{ANSWERS, Slots, Ticket, WAITS},
    sys,
};

/// Times that threads are listed, at most: those that were made meanwhile are asked as well.
const MAX_LISTS: usize = 4;
/// How long is waited before it is looked why nobody answers.
const LOOK: Duration = Duration::from_millis(10);
/// How long a thread that blocks the signal may keep a slot that others wait for.
const PATIENCE: Duration = Duration::from_millis(30);

/// Nanoseconds after which a thread that has not answered is no reason to ask nobody else.
const STALLED: u64 = 2_000_000;
/// How long processors are left to threads that were asked, before the collector sleeps and has to be woken:
/// that costs more than an answer.
const YIELD: Duration = Duration::from_micros(100);

/// What a round is done with.
pub struct Plan<'a> {
    pub signal: i32,
    pub timeout: Duration,
    pub slots: &'static Slots,
    pub tables: &'a Tables,
    /// The threads that are asked; `None` is all of them.
    pub only: Option<&'a BTreeSet<i32>>,
}

/// A thread that was asked.
struct AskedThread {
    tid: i32,
    ticket: Ticket,
    /// When, in nanoseconds of the clock that never goes back.
    at: u64,
}

struct Round<'a> {
    plan: &'a Plan<'a>,
    owing: &'a mut BTreeSet<i32>,
    free: Vec<usize>,
    /// Threads that are asked at a time, but for those that are stalled: as many as there are processors. More
    /// would only wait for one another.
    at_a_time: usize,
    queue: VecDeque<i32>,
    known: BTreeSet<i32>,
    /// The one that was asked first, first.
    asked: Vec<AskedThread>,
    /// When a thread was asked or has answered for the last time.
    moved: Instant,
    done: Collection,
}

/// Asks every thread, and takes the answers. `owing` are threads that still owe an answer of before.
pub fn run(plan: &Plan<'_>, owing: &mut BTreeSet<i32>) -> Collection {
    let begun = Instant::now();
    let mut round = Round {
        plan,
        owing,
        free: plan.slots.free(),
        at_a_time: available_parallelism().map_or(1, NonZero::get),
        queue: VecDeque::new(),
        known: BTreeSet::new(),
        asked: Vec::new(),
        moved: begun,
        done: Collection::default(),
    };
    let mut lists: usize = 0;
    while lists < MAX_LISTS && round.list() {
        lists = lists.saturating_add(1);
        round.serve();
    }
    round.done.took = begun.elapsed();
    round.done
}

impl Round<'_> {
    /// Looks for threads that are not known yet; says whether there are any.
    fn list(&mut self) -> bool {
        let mut now = tasks::others().unwrap_or_default();
        now.retain(|tid| self.plan.only.is_none_or(|only| only.contains(tid)));
        self.queue = now.difference(&self.known).copied().collect();
        self.known.extend(&self.queue);
        !self.queue.is_empty()
    }

    /// Asks all that wait to be asked, and waits until nobody owes an answer.
    fn serve(&mut self) {
        while !(self.queue.is_empty() && self.asked.is_empty()) {
            let seen = ANSWERS.load(Ordering::Acquire);
            let moved = self.ask_some() | self.take_answers();
            if moved {
                self.moved = Instant::now();
                continue;
            }
            self.wait(seen);
            if ANSWERS.load(Ordering::Acquire) == seen && self.moved.elapsed() >= LOOK {
                self.look();
            }
        }
    }

    /// Waits until there are more answers than were seen, or it is time to do something about it.
    fn wait(&self, seen: u32) {
        let begun = Instant::now();
        while begun.elapsed() < YIELD {
            sys::leave_processor();
            if ANSWERS.load(Ordering::Acquire) != seen {
                return;
            }
        }
        let could_ask = !self.queue.is_empty() && !self.free.is_empty();
        let most = if could_ask { Duration::from_nanos(STALLED) } else { LOOK };
        WAITS.store(1, Ordering::Release);
        sys::wait(&ANSWERS, seen, Some(most));
        WAITS.store(0, Ordering::Release);
    }

    /// Whether another thread may be asked.
    fn may_ask(&self) -> bool {
        let now = sys::monotonic_ns();
        let is_fresh = |asked: &&AskedThread| now.saturating_sub(asked.at) < STALLED;
        self.asked.iter().rev().take_while(is_fresh).count() < self.at_a_time
    }

    /// Asks as many threads as may be asked, and have a slot.
    fn ask_some(&mut self) -> bool {
        let mut asked = false;
        while let (Some(tid), Some(index), true) =
            (self.queue.front().copied(), self.free.last().copied(), self.may_ask())
        {
            match self.ask(tid, index) {
                Ok(()) => {}
                Err(libc::EAGAIN) if !self.asked.is_empty() => break,
                Err(libc::EAGAIN) => self.done.missing.push((tid, Missing::Full)),
                Err(libc::ESRCH) => self.done.ended = self.done.ended.saturating_add(1),
                Err(number) => self.done.missing.push((tid, Missing::Refused(number))),
            }
            self.queue.pop_front();
            asked = true;
        }
        asked
    }

    fn ask(&mut self, tid: i32, index: usize) -> Result<(), i32> {
        if let Some(why) = self.owes(tid) {
            self.done.missing.push((tid, why));
            return Ok(());
        }
        let Some(slot) = self.plan.slots.at(index) else { return Err(libc::EAGAIN) };
        let Some(ticket) = slot.ask(index, self.plan.tables) else { return Err(libc::EAGAIN) };
        let at = sys::monotonic_ns();
        if let Err(error) = sys::ask_thread(self.plan.signal, tid, ticket.get()) {
            slot.revoke(ticket);
            return Err(error);
        }
        self.free.pop();
        self.asked.push(AskedThread { tid, ticket, at });
        Ok(())
    }

    /// Why the signal of an earlier round still waits for a thread, if it does: another one would be too much.
    fn owes(&mut self, tid: i32) -> Option<Missing> {
        if !self.owing.contains(&tid) {
            return None;
        }
        let told = tasks::SignalMasks::of(tid).filter(|told| told.waits(self.plan.signal));
        if told.is_none() {
            self.owing.remove(&tid);
        }
        told.map(|told| told.why(self.plan.signal))
    }

    fn take_answers(&mut self) -> bool {
        let before = self.asked.len();
        let asked = std::mem::take(&mut self.asked);
        for one in asked {
            if !self.take(&one) {
                self.asked.push(one);
            }
        }
        self.asked.len() < before
    }

    fn take(&mut self, asked: &AskedThread) -> bool {
        let Some(slot) = self.plan.slots.at(asked.ticket.index()) else { return true };
        let taken = slot.take(|answer, frames| {
            let (begun, ended) = answer.time;
            let took = |from: u64| Duration::from_nanos(ended.saturating_sub(from));
            let thread = OwnThread {
                tid: Tid::new(asked.tid.unsigned_abs()),
                regs: answer.regs,
                thread_pointer: Some(Addr::new(answer.thread_pointer)),
                frames: frames.to_vec(),
                end: answer.end,
            };
            (thread, (took(asked.at), took(begun)))
        });
        let Some((thread, times)) = taken else { return false };
        self.done.threads.push(thread);
        self.done.times.push(times);
        self.free.push(asked.ticket.index());
        true
    }

    /// Looks why nobody answers: those that have ended never will, and nobody is waited for without end.
    fn look(&mut self) {
        let waited = self.moved.elapsed();
        let is_over = waited >= self.plan.timeout;
        let is_scarce = self.free.is_empty() && waited >= PATIENCE;
        for asked in std::mem::take(&mut self.asked) {
            let told =
                if sys::has_thread(asked.tid) { tasks::SignalMasks::of(asked.tid) } else { None };
            let why = told.map(|told| told.why(self.plan.signal));
            let is_given_up = match why {
                None => true,
                Some(Missing::Blocks) => is_over || is_scarce,
                Some(_) => is_over,
            };
            if !is_given_up || !self.give_up(&asked, why) {
                self.asked.push(asked);
            }
        }
        if is_over {
            self.leave_running();
        }
    }

    /// Leaves handlers alone that have begun and do not end: their slots stay theirs.
    fn leave_running(&mut self) {
        for asked in std::mem::take(&mut self.asked) {
            if !self.take(&asked) {
                self.done.missing.push((asked.tid, Missing::Late('R')));
            }
        }
    }

    /// Takes the slot back; says whether the thread had not answered after all.
    fn give_up(&mut self, asked: &AskedThread, why: Option<Missing>) -> bool {
        let slot = self.plan.slots.at(asked.ticket.index());
        if !slot.is_some_and(|slot| slot.revoke(asked.ticket)) {
            return false;
        }
        self.free.push(asked.ticket.index());
        self.moved = Instant::now();
        match why {
            Some(why) => {
                self.owing.insert(asked.tid);
                self.done.missing.push((asked.tid, why));
            }
            None => self.done.ended = self.done.ended.saturating_add(1),
        }
        true
    }
}
