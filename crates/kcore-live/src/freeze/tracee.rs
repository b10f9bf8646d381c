//! One thread that is traced.

use std::time::{Duration, Instant};

use super::machine::{self, EXTENDED_SIZE, FLOATING_SIZE, GENERAL_SIZE};
use crate::{
    Registers, SnapThread,
    sys::{
        ptrace::{self, Waited},
        stops, trap,
    },
};

/// The bit of SIGTRAP in a set of signals.
const OWN_SIGNAL: u64 = 1 << (libc::SIGTRAP - 1);

/// Whether a signal of kcore's own waits for a stopped thread.
fn has_own_signal(tid: i32) -> bool {
    stops::waiting_signals(tid).iter().any(|info| trap::sender(info).is_some())
}

/// Where a thread is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It runs, and is traced.
    Runs,
    /// It stands still, and has this signal to take when it goes on.
    Stands(i32),
    /// It did not stop in time; it is let go when its tracer ends.
    Late,
    /// It was let go, or has ended.
    Left,
}

/// A traced thread, its buffers allocated before it is stopped.
#[derive(Debug)]
pub struct Tracee {
    tid: i32,
    phase: Phase,
    general: [u8; GENERAL_SIZE],
    general_len: usize,
    more: Option<Box<Registers>>,
    /// What the signal is that it is about to take, if any.
    signal: Vec<u8>,
    /// When it was asked to stop.
    asked: Option<Instant>,
    stopped: Duration,
}

impl Tracee {
    /// Begins to trace a thread, which goes on running; `None` when it has ended or may not be
    /// traced. With `floating`, its floating-point registers are read too.
    pub fn seize(tid: i32, floating: bool) -> std::io::Result<Self> {
        ptrace::seize(tid)?;
        Ok(Self::adopt(tid, floating))
    }

    /// As [`Tracee::seize`], and it stops at events as well.
    pub fn seize_for_events(tid: i32, floating: bool) -> std::io::Result<Self> {
        stops::seize_for_events(tid)?;
        Ok(Self::adopt(tid, floating))
    }

    /// A thread that the calling thread traces already.
    pub fn adopt(tid: i32, floating: bool) -> Self {
        let more = floating.then(|| {
            Box::new(Registers {
                floating: vec![0; FLOATING_SIZE],
                extended: vec![0; if machine::IS_X86 { EXTENDED_SIZE } else { 0 }],
                ..Registers::default()
            })
        });
        Self {
            tid,
            phase: Phase::Runs,
            general: [0; GENERAL_SIZE],
            general_len: 0,
            more,
            signal: Vec::new(),
            asked: None,
            stopped: Duration::ZERO,
        }
    }

    /// The thread.
    pub const fn tid(&self) -> i32 {
        self.tid
    }

    /// Takes it as one that stands still and has no signal to take: note was taken of its stop.
    pub fn stands_already(&mut self) {
        self.phase = Phase::Stands(0);
        self.read_registers();
    }

    /// Asks it to stop.
    pub fn interrupt(&mut self, now: Instant) {
        self.asked = Some(now);
        if ptrace::interrupt(self.tid).is_err() {
            self.phase = Phase::Left;
        }
    }

    /// Asks it once more, if it still runs: a thread that starts another program may forget that it was
    /// asked (seen with Linux 6.18).
    /// One whose place another thread took, as the one does that starts a program, is traced no more.
    pub fn insist(&mut self) {
        if self.phase == Phase::Runs && ptrace::interrupt(self.tid).is_err() {
            self.phase = Phase::Left;
        }
    }

    /// Looks whether it stands still, and if it does reads its registers. Says whether there is
    /// nothing to wait for any more.
    pub fn look(&mut self) -> bool {
        if self.phase != Phase::Runs {
            return true;
        }
        match ptrace::look(self.tid) {
            Waited::Runs => return false,
            Waited::Gone => self.phase = Phase::Left,
            Waited::Stopped(signal) => {
                self.phase = Phase::Stands(signal);
                self.read_registers();
                if signal != 0 {
                    self.signal = ptrace::signal(self.tid).unwrap_or_default();
                }
                if trap::sender(&self.signal).is_some() {
                    self.forget_signal();
                }
            }
        }
        true
    }

    /// Its signal is kcore's own, of another event than the one that was caught.
    fn forget_signal(&mut self) {
        stops::take_note_of_stop(self.tid);
        self.phase = Phase::Stands(0);
        self.signal.clear();
    }

    /// Lets it take the signals of kcore's own that wait for it, those too that it blocks: they would end its process once
    /// nobody holds them back. It stands still then, where it stood.
    pub fn take_own_signals(&mut self, until: Instant) {
        if !self.stands() || !has_own_signal(self.tid) {
            return;
        }
        let Ok(blocked) = stops::blocked_signals(self.tid) else { return };
        let _ = stops::block_signals(self.tid, blocked & !OWN_SIGNAL);
        while has_own_signal(self.tid) && Instant::now() < until {
            let Phase::Stands(signal) = self.phase else { return };
            if stops::go_on(self.tid, signal).is_err() {
                return;
            }
            self.phase = Phase::Runs;
            while !self.look() && Instant::now() < until {
                std::thread::yield_now();
            }
        }
        let _ = stops::block_signals(self.tid, blocked);
    }

    /// Waits for it no longer.
    pub fn give_up(&mut self) {
        if self.phase == Phase::Runs {
            self.phase = Phase::Late;
        }
    }

    /// What fails here leaves a thread without registers.
    fn read_registers(&mut self) {
        let read = |set, buffer: &mut [u8]| ptrace::registers(self.tid, set, buffer).unwrap_or(0);
        self.general_len = read(ptrace::GENERAL, &mut self.general);
        if let Some(more) = &mut self.more {
            let len = read(ptrace::FLOATING, &mut more.floating);
            more.floating.truncate(len);
            if machine::IS_X86 {
                let len = read(ptrace::X86_XSTATE, &mut more.extended);
                more.extended.truncate(len);
            }
        }
        if !machine::IS_X86 {
            let mut pointer = [0; 8];
            let len = read(ptrace::ARM_TLS, &mut pointer);
            let pointer = pointer.get(..len).unwrap_or_default().to_vec();
            self.more.get_or_insert_default().thread_pointer = pointer;
        }
    }

    /// Whether it stands still.
    pub const fn stands(&self) -> bool {
        matches!(self.phase, Phase::Stands(_))
    }

    /// Whether it is still a thread of the process as far as this tracer knows: one that stands still, or
    /// did not stop in time.
    pub const fn is_held(&self) -> bool {
        matches!(self.phase, Phase::Stands(_) | Phase::Late)
    }

    /// Whether it did not stop in time.
    pub fn is_late(&self) -> bool {
        self.phase == Phase::Late
    }

    /// Its general registers; empty before it stands still.
    pub fn general(&self) -> &[u8] {
        self.general.get(..self.general_len).unwrap_or_default()
    }

    /// Lets it go, with the signal that it was about to take.
    pub fn release(&mut self) {
        if let Phase::Stands(signal) = self.phase {
            // One that was killed meanwhile is not there any more.
            let _ = ptrace::detach(self.tid, signal);
            self.phase = Phase::Left;
        }
    }

    /// Notes how long it stood still: until now.
    pub fn note_stop(&mut self, now: Instant) {
        self.stopped = self.asked.map(|asked| now.duration_since(asked)).unwrap_or_default();
    }

    /// What is known of it; `None` when it ended before it could be stopped.
    pub fn into_thread(self) -> Option<SnapThread> {
        self.to_thread()
    }

    /// As [`Tracee::into_thread`], of one that goes on standing still.
    pub fn to_thread(&self) -> Option<SnapThread> {
        let general = self.general();
        let has_registers = !general.is_empty();
        if !has_registers && !self.is_late() {
            return None;
        }
        let more = self.more.as_deref().cloned().unwrap_or_default();
        let general = general.to_vec();
        let signal = self.signal.clone();
        let registers = has_registers.then_some(Registers { general, signal, ..more });
        Some(SnapThread {
            tid: self.tid,
            inner_tid: u32::try_from(self.tid).unwrap_or_default(),
            stat: None,
            registers,
            stopped: self.stopped,
        })
    }
}
