//! The loop that waits for an event while all threads run.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{
    Caught, Event, Happening, Moment,
    calls::{self, failed},
    signals::{is_fatal, waits_for_trap},
    traps::Traps,
};
use crate::{
    Deadline, LiveError, Process,
    freeze::{GENERAL_SIZE, machine},
    sys::{
        ptrace,
        stops::{self, Stop, Why},
        trap,
    },
};

/// Times that is looked for a stop without a nap: who makes many system calls makes the next one at once.
const EAGER_LOOKS: u32 = 200;
/// How long it naps then, and once nothing has happened for long.
const NAP: Duration = Duration::from_micros(50);
const LONG_NAP: Duration = Duration::from_millis(1);
/// After so long nothing has happened for long.
const LONG: Duration = Duration::from_millis(20);

/// How often it looks for threads that block the signal of an event.
const BLOCKED_LOOKS: Duration = Duration::from_millis(100);

/// What is waited for, in a process whose threads are traced.
#[derive(Debug)]
pub struct Watch<'a> {
    process: &'a Process,
    events: &'a [Event],
    until: Deadline<'a>,
    traps: Traps,
    /// The threads that are traced and have not ended.
    tids: Vec<i32>,
    /// Those that stand still and of whose stop note was taken.
    standing: Vec<i32>,
}

/// What became of a stop.
enum Next {
    /// The thread goes on.
    Goes,
    /// It is what was waited for, and the thread stands still.
    Caught(Caught),
}

impl<'a> Watch<'a> {
    /// Sets traps, for threads that the calling thread traces.
    ///
    /// # Errors
    /// When the system refuses a breakpoint.
    pub fn begin(
        process: &'a Process,
        Moment { events, until }: Moment<'a>,
        tids: Vec<i32>,
    ) -> Result<Self, LiveError> {
        let traps = Traps::set(process, events, &tids)?;
        if traps.each_call {
            // Only a thread that stands still can be let go up to its next call.
            tids.iter().for_each(|tid| drop(ptrace::interrupt(*tid)));
        }
        Ok(Self { process, events, until, traps, tids, standing: Vec::new() })
    }

    /// Waits. The thread that an event happened to stands still then, and its signal is still held back.
    ///
    /// # Errors
    /// When the time is over, somebody ends it, or the process ends or starts another program before.
    pub fn wait(&mut self) -> Result<Caught, LiveError> {
        let mut quiet = Instant::now();
        let mut looks: u32 = 0;
        let mut looked = Instant::now();
        loop {
            if looked.elapsed() > BLOCKED_LOOKS {
                self.look_for_blocked();
                looked = Instant::now();
            }
            if let Some(stop) = stops::any_stop() {
                if let Next::Caught(caught) = self.take(stop)? {
                    self.traps.end();
                    return Ok(caught);
                }
                (quiet, looks) = (Instant::now(), 0);
            } else if self.until.is_over() {
                self.traps.end();
                return Err(self.why_over());
            } else if looks < EAGER_LOOKS {
                looks = looks.saturating_add(1);
                thread::yield_now();
            } else {
                thread::sleep(if quiet.elapsed() > LONG { LONG_NAP } else { NAP });
            }
        }
    }

    /// The threads that are traced now, those too that were made meanwhile.
    pub fn tids(&self) -> &[i32] {
        &self.tids
    }

    /// Those of them that stand still already, and have no signal to take.
    pub fn standing(&self) -> &[i32] {
        &self.standing
    }

    fn why_over(&self) -> LiveError {
        if self.until.is_stopped() {
            return LiveError::Stopped;
        }
        LiveError::NotCaught { pid: self.process.pid() }
    }

    fn take(&mut self, Stop { tid, why }: Stop) -> Result<Next, LiveError> {
        if !self.tids.contains(&tid) && why != Why::Ended {
            self.tids.push(tid);
        }
        match why {
            Why::Ended => self.ended(tid),
            Why::Signal(signal) => Ok(self.signal(tid, signal)),
            Why::Call => Ok(self.call(tid)),
            Why::Event { event: libc::PTRACE_EVENT_EXEC, .. } => {
                // Its threads have ended, and none of its events can come.
                let _ = ptrace::detach(tid, 0);
                Err(LiveError::OtherProgram(self.process.pid()))
            }
            Why::Event { event: libc::PTRACE_EVENT_EXIT, .. } => Ok(self.end(tid)),
            Why::Event { event: libc::PTRACE_EVENT_STOP, signal } if signal != libc::SIGTRAP => {
                let _ = stops::listen(tid);
                Ok(Next::Goes)
            }
            Why::Event { event: libc::PTRACE_EVENT_STOP, .. } => Ok(self.asked(tid)),
            Why::Event { .. } => Ok(self.goes_on(tid, 0)),
        }
    }

    fn ended(&mut self, tid: i32) -> Result<Next, LiveError> {
        self.tids.retain(|known| *known != tid);
        match self.tids.is_empty() || !self.process.is_there() {
            true => Err(LiveError::Ended(self.process.pid())),
            false => Ok(Next::Goes),
        }
    }

    fn signal(&mut self, tid: i32, signal: i32) -> Next {
        let info = ptrace::signal(tid).unwrap_or_default();
        if let Some(number) = trap::sender(&info).filter(|_| signal == libc::SIGTRAP) {
            return match self.trapped(tid, number, &info) {
                Some(caught) => self.stays(tid, caught),
                None => self.goes_on(tid, 0),
            };
        }
        let is_wanted = |event: &Event| match event {
            Event::Signal(wanted) => *wanted == signal,
            Event::FatalSignal | Event::BadEnd | Event::End => is_fatal(self.process, signal),
            _ => false,
        };
        if self.events.iter().any(is_wanted) {
            return Next::Caught(Caught { tid, what: Happening::Signal(signal), late: false });
        }
        self.goes_on(tid, signal)
    }

    /// What the trap of an event tells of a thread that was about to take its signal.
    fn trapped(&self, tid: i32, number: u32, info: &[u8]) -> Option<Caught> {
        if trap::is_late(info) {
            return self.told_late(tid, number);
        }
        match self.event(number)? {
            Event::Function(at) if counter_of(tid) == Some(at.get()) => {
                Some(Caught { tid, what: Happening::Function(*at), late: false })
            }
            Event::Call { .. } => failed(tid, self.events).or_else(|| self.told_late(tid, number)),
            _ => self.told_late(tid, number),
        }
    }

    /// What a trap tells of a thread that has gone on since, with SIGTRAP blocked.
    fn told_late(&self, tid: i32, number: u32) -> Option<Caught> {
        let what = match self.event(number)? {
            Event::Function(at) => Happening::Function(*at),
            Event::Call { number, error } => {
                Happening::Call { number: *number, error: *error, arguments: Vec::new() }
            }
            _ => return None,
        };
        Some(Caught { tid, what, late: true })
    }

    fn event(&self, number: u32) -> Option<&Event> {
        self.events.get(usize::try_from(number).ok()?)
    }

    /// A thread stands still that was asked to, or is new: a trap may have told it what it blocks.
    fn asked(&mut self, tid: i32) -> Next {
        let numbers =
            stops::waiting_signals(tid).into_iter().filter_map(|info| trap::sender(&info));
        match numbers.into_iter().find_map(|number| self.told_late(tid, number)) {
            Some(caught) => self.stays(tid, caught),
            None => self.goes_on(tid, 0),
        }
    }

    /// Asks threads to stop for which SIGTRAP waits: they block it.
    fn look_for_blocked(&self) {
        if self.traps.are_set() {
            let blocked = self.tids.iter().filter(|tid| waits_for_trap(self.process, **tid));
            blocked.for_each(|tid| drop(ptrace::interrupt(*tid)));
        }
    }

    fn call(&mut self, tid: i32) -> Next {
        let is_error = |answer: i64| (-calls::MAX_ERRNO..0).contains(&answer);
        let ended = stops::answer_of_call(tid).is_some_and(is_error);
        match ended.then(|| failed(tid, self.events)).flatten() {
            Some(caught) => self.stays(tid, caught),
            None => self.goes_on(tid, 0),
        }
    }

    /// A thread stands still that has no signal to take when it goes on.
    fn stays(&mut self, tid: i32, caught: Caught) -> Next {
        stops::take_note_of_stop(tid);
        self.standing.push(tid);
        Next::Caught(caught)
    }

    /// A thread ends: alone, or with its process. One that is ended by the call of another thread stands still until that
    /// one is met.
    fn end(&mut self, tid: i32) -> Next {
        let message = stops::event_message(tid).unwrap_or_default();
        let status = i32::try_from(message >> 8 & 0xff).unwrap_or_default();
        let signal = i32::try_from(message & 0x7f).unwrap_or_default();
        let is_wanted = |event: &Event| match event {
            Event::End => true,
            Event::BadEnd => (status, signal) != (0, 0),
            _ => false,
        };
        let call = call_of(tid);
        let is_last = self.tids.iter().all(|other| *other == tid || self.standing.contains(other));
        if !self.events.iter().any(is_wanted) || (call == Some(libc::SYS_exit) && !is_last) {
            return self.goes_on(tid, 0);
        }
        let caught = Caught { tid, what: Happening::End { status, signal }, late: false };
        let next = self.stays(tid, caught);
        match signal != 0 || call == Some(libc::SYS_exit_group) || is_last {
            true => next,
            false => Next::Goes,
        }
    }

    fn goes_on(&self, tid: i32, signal: i32) -> Next {
        // One that was killed meanwhile is not there any more.
        let _ = match self.traps.each_call {
            true => stops::go_on_to_call(tid, signal),
            false => stops::go_on(tid, signal),
        };
        Next::Goes
    }
}

/// The number of the system call that a stopped thread makes.
fn call_of(tid: i32) -> Option<i64> {
    let mut general = [0; GENERAL_SIZE];
    let len = ptrace::registers(tid, ptrace::GENERAL, &mut general).ok()?;
    i64::try_from(machine::call_number(general.get(..len)?)?).ok()
}

/// The program counter of a stopped thread.
fn counter_of(tid: i32) -> Option<u64> {
    let mut general = [0; GENERAL_SIZE];
    let len = ptrace::registers(tid, ptrace::GENERAL, &mut general).ok()?;
    machine::program_counter(general.get(..len)?)
}
