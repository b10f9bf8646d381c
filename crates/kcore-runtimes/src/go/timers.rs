//! Timers, which each processor of the scheduler keeps in a heap of its own (`runtime/time.go`, `time/sleep.go`,
//! `runtime/netpoll.go`).
//!
//! Since Go 1.23 a timer that sends to a channel is in a heap only while somebody waits for the channel.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, CodeAddr};

use super::{
    Go,
    bubble::{self, TimerBubble},
    goroutine::Goroutine,
    name::printed,
    poll::DESCRIPTOR,
    timer_layout::{TimerLayout, TimerState},
};
use crate::Host;

/// Timers of all processors together, at most, and between two looks at the clock.
const MAX_TIMERS: u64 = 1 << 22;
const EVERY: u64 = 1 << 10;
/// From when a timer is due to its other fields.
const PERIOD: u64 = 8;
const FUNCTION: u64 = 16;
const ARGUMENT: u64 = 32;
/// Numbers of `status`: one that was stopped and is to be removed, and one whose time was changed.
const DELETED: u64 = 3;
const CHANGED: [u64; 2] = [7, 8];
/// A flag of `state`: stopped, but still in the heap.
const ZOMBIE: u64 = 4;
/// What a goroutine waits for that sleeps.
const SLEEP: &str = "sleep";

/// A timer that will fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer {
    /// Its `runtime.timer`.
    pub at: Addr,
    /// When it is due, in nanoseconds of the system's monotonic clock, or of that of its bubble.
    pub when: u64,
    /// After how many nanoseconds it is due again, if it is a ticker's.
    pub period: Option<u64>,
    /// What it does then.
    pub action: TimerAction,
    /// The bubble of `testing/synctest` whose clock it goes by, if it is in one.
    pub bubble: Option<TimerBubble>,
}

/// What a timer does when it is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimerAction {
    /// It wakes a goroutine from `time.Sleep`, the one of this number if it is known.
    Wakes(Option<u64>),
    /// It sends to a channel.
    Sends {
        /// Where that lies.
        channel: Addr,
        /// The numbers of the goroutines that wait for it.
        waiting: Vec<u64>,
    },
    /// It calls a function in a goroutine of its own, as `time.AfterFunc` says.
    Calls {
        /// Where its value lies, the address of its code and then what it holds of the function that made it.
        closure: Addr,
        /// Its name.
        function: Option<Arc<str>>,
    },
    /// It ends what waits for a file descriptor.
    EndsIo {
        /// The file descriptor.
        descriptor: u64,
        /// What of it: `read`, `write`, or both.
        side: &'static str,
    },
    /// It runs another function of the runtime's.
    Runs(Option<Arc<str>>),
}

/// The timers of a runtime.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timers {
    /// Those that can be read, ordered by when they are due: first those of the system's clock, then those of each bubble.
    pub all: Vec<Timer>,
    /// How many cannot be read.
    pub damaged: u64,
}

impl Go {
    /// All timers that will fire.
    ///
    /// # Errors
    /// In words, where the processors that keep them are not found or cannot be read.
    pub fn timers(&self, host: &dyn Host) -> Result<Timers, String> {
        let (mut found, mut left) = (Timers::default(), MAX_TIMERS);
        for processor in self.processors(host)? {
            let heap = processor.saturating_add(self.layout.timers.heap);
            self.timers_of(host, heap, &mut found, &mut left);
        }
        for at in self.bubbles(host) {
            let mut own = Timers::default();
            self.timers_of(host, at.saturating_add(bubble::TIMERS), &mut own, &mut left);
            let Some(bubble) = self.bubble(host, at).map(Some) else {
                found.damaged = found.damaged.saturating_add(own.all.len() as u64);
                continue;
            };
            found.all.extend(own.all.into_iter().map(|timer| Timer { bubble, ..timer }));
            found.damaged = found.damaged.saturating_add(own.damaged);
        }
        found.all.sort_by_key(|timer| (timer.bubble.map(|it| it.id), timer.when, timer.at));
        Ok(found)
    }

    /// Adds those whose slice lies at an address. `left` counts those that may still be looked at, of all slices together: a
    /// damaged runtime may have many that share one.
    fn timers_of(&self, host: &dyn Host, heap: Addr, found: &mut Timers, left: &mut u64) {
        let (space, layout) = (host.space(), &self.layout.timers);
        let word = |offset: u64| space.read_word(heap.checked_add(offset)?).ok();
        let known = word(0).zip(word(8)).zip(word(16));
        let Some(((first, count), _)) = known.filter(|((_, count), room)| count <= room) else {
            found.damaged = found.damaged.saturating_add(1);
            return;
        };
        for number in 0..count {
            let halted = || host.budget().is_some_and(|budget| budget.is_halted());
            let at = Addr::new(first).saturating_add(number.saturating_mul(layout.element));
            let timer = space.read_addr(at).ok().filter(|_| *left > 0);
            let Some(timer) = timer.filter(|_| !number.is_multiple_of(EVERY) || !halted()) else {
                // Where one cannot be read, what is behind it cannot either.
                found.damaged = found.damaged.saturating_add(count.saturating_sub(number));
                return;
            };
            *left = left.saturating_sub(1);
            match self.timer(host, timer) {
                Some(timer) => found.all.extend(timer),
                None => found.damaged = found.damaged.saturating_add(1),
            }
        }
    }

    /// The timer at an address, or none within if it was stopped; `None` where it cannot be read.
    fn timer(&self, host: &dyn Host, at: Addr) -> Option<Option<Timer>> {
        let (space, layout) = (host.space(), &self.layout.timers);
        let Some(when) = due(space, layout, at)? else { return Some(None) };
        let field =
            |offset: u64| space.read_addr(at.checked_add(layout.when)?.checked_add(offset)?).ok();
        let (period, function, argument) =
            (field(PERIOD)?.get(), field(FUNCTION)?, field(ARGUMENT)?);
        let action = self.action(host, function, argument)?;
        let period = Some(period).filter(|period| *period != 0);
        Some(Some(Timer { at, when, period, action, bubble: None }))
    }

    fn action(&self, host: &dyn Host, function: Addr, argument: Addr) -> Option<TimerAction> {
        let name = self.function_of(host, function);
        let io = |side| {
            // What the interface holds is no pointer to the heap, so it lies in memory of its own.
            let at = host.space().read_addr(argument).ok()?.checked_add(DESCRIPTOR)?;
            Some(TimerAction::EndsIo { descriptor: host.space().read_word(at).ok()?, side })
        };
        match name.as_deref() {
            Some("runtime.goroutineReady") => {
                let goroutine = self.goroutines(host).lying_at(argument);
                Some(TimerAction::Wakes(goroutine.map(|goroutine| goroutine.id)))
            }
            Some("time.sendTime") => {
                let waiting = self.channel(host, argument).map(|it| it.receivers);
                let waiting = waiting.unwrap_or_default();
                Some(TimerAction::Sends { channel: argument, waiting })
            }
            Some("time.goFunc") => {
                let function = self.function_of(host, argument);
                Some(TimerAction::Calls { closure: argument, function })
            }
            Some("runtime.netpollDeadline") => io("read and write"),
            Some("runtime.netpollReadDeadline") => io("read"),
            Some("runtime.netpollWriteDeadline") => io("write"),
            _ => Some(TimerAction::Runs(name)),
        }
    }

    /// The name of the function whose `runtime.funcval` lies at an address.
    pub(super) fn function_of(&self, host: &dyn Host, at: Addr) -> Option<Arc<str>> {
        let code = host.space().read_addr(at).ok()?;
        let place = self.place(host, CodeAddr::Pc(code))?;
        place.function.name(&self.tables, host.space()).map(printed)
    }

    /// Until when a goroutine sleeps, if it does, by the clock of [`Timer::when`]; `None` in a bubble, which has another.
    pub fn sleeps_until(&self, host: &dyn Host, goroutine: &Goroutine) -> Option<u64> {
        let sleeps = goroutine.reason == Some(SLEEP) && goroutine.bubble.is_none();
        let timer = goroutine.timer.filter(|_| sleeps)?;
        due(host.space(), &self.layout.timers, timer)?
    }
}

/// When the timer at an address is due, none within if it was stopped; `None` where it cannot be read.
fn due(space: &dyn AddressSpace, layout: &TimerLayout, at: Addr) -> Option<Option<u64>> {
    let word = |offset: u64| space.read_word(at.checked_add(offset)?).ok();
    let number = |offset: u64, size: usize| space.read_uint(at.checked_add(offset)?, size).ok();
    let when = match layout.state {
        TimerState::Number(offset) => match number(offset, 4)? {
            DELETED => None,
            status if CHANGED.contains(&status) => Some(word(offset.checked_sub(8)?)?),
            _ => Some(word(layout.when)?),
        },
        TimerState::Flags(offset) if number(offset, 1)? & ZOMBIE != 0 => None,
        TimerState::Flags(_) => Some(word(layout.when)?),
    };
    Some(when.filter(|when| *when != 0))
}
