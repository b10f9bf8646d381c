//! What a blocked task waits for: the innermost function outside of trio's machinery says it, and whose method that is.

use std::{fmt, sync::Arc};

use kcore_mem::Addr;
use kcore_unwind::Tid;

use super::{
    super::{frame::PyFrame, heap::Object, tasks::members},
    Limit,
    clock::Clock,
    fields::Fields,
    limit::{self, Innermost},
    threads::{Threads, is_of},
};
use crate::tokio::Deadline;

/// Files of functions that wait for whatever their callers do.
const MACHINERY: [&str; 3] =
    ["trio/_core/_traps.py", "trio/_core/_parking_lot.py", "trio/_core/_ki.py"];
/// Functions that sleep, and the one that does so for ever.
const SLEEPS: [&str; 2] = ["sleep_until", "sleep"];
const FOREVER: &str = "sleep_forever";
const IN_THREAD: &str = "to_thread_run_sync";

/// What a task waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrioWait {
    /// A file descriptor.
    Fd(i32, FdSide),
    /// A time; `None` of one on a clock that is not known.
    Timer(Option<Deadline>),
    /// Nothing: `trio.sleep_forever`, or `trio.sleep` of an infinite time.
    Forever,
    /// That so many tasks of a nursery end.
    Nursery(Addr, u64),
    /// A function that a thread runs for it.
    Thread(Option<Tid>),
    /// An object of a class, such as `Event` or `MemoryReceiveChannel`, and the task that owns it, where it has an owner.
    Object {
        /// The name of its class.
        class: Arc<str>,
        /// Where it lies.
        at: Addr,
        /// The task that owns it.
        owner: Option<Addr>,
    },
    /// Something in a function of this name.
    Function(Arc<str>),
}

/// What is to become possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FdSide {
    /// To read.
    Read,
    /// To write.
    Write,
}

impl FdSide {
    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl TrioWait {
    /// What kind of thing it is, in a word.
    pub fn kind(&self) -> &str {
        match self {
            Self::Fd(..) => "io",
            Self::Timer(_) => "timer",
            Self::Forever => "nothing",
            Self::Nursery(..) => "nursery",
            Self::Thread(_) => "thread",
            Self::Object { class, .. } => class,
            Self::Function(_) => "function",
        }
    }

    /// The same in a line, with what ends it otherwise.
    pub fn limited(&self, limit: Limit) -> String {
        match (self, limit) {
            (Self::Timer(Some(own)), Limit::At(deadline)) if *own == deadline => self.to_string(),
            (_, Limit::At(deadline)) => format!("{self}, timeout {deadline}"),
            (_, Limit::Cancelled) => format!("{self}, cancelled"),
            (_, Limit::None) => self.to_string(),
        }
    }
}

impl fmt::Display for TrioWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fd(fd, side) => write!(f, "fd {fd} {}", side.as_str()),
            Self::Timer(Some(deadline)) => write!(f, "timer {deadline}"),
            Self::Timer(None) => f.write_str("timer of an unknown clock"),
            Self::Forever => f.write_str("nothing"),
            Self::Nursery(at, count) => {
                write!(f, "nursery {at:x} of {count} task{}", if *count == 1 { "" } else { "s" })
            }
            Self::Thread(Some(tid)) => write!(f, "thread {tid}"),
            Self::Thread(None) => f.write_str("thread"),
            Self::Object { class, at, owner: Some(owner) } => {
                write!(f, "{class} {at:x} of task {owner:x}")
            }
            Self::Object { class, at, owner: None } => write!(f, "{class} {at:x}"),
            Self::Function(name) => write!(f, "{name}()"),
        }
    }
}

/// What blocked tasks of one run wait for.
pub struct WaitReader<'r, 'a> {
    pub fields: &'r mut Fields<'a>,
    pub clock: Clock,
    pub threads: &'r Threads,
}

impl WaitReader<'_, '_> {
    /// What a task waits for whose frames these are, innermost first.
    pub fn wait(&mut self, task: Object, frames: &[PyFrame]) -> Option<TrioWait> {
        let first = frames.iter().position(|frame| !is_of(frame, &MACHINERY))?;
        let (frame, outer) = (frames.get(first)?, frames.get(first.checked_add(1)?));
        if let Some(owner) = self.variable(frame, "self") {
            return self.of_object(task, owner);
        }
        let name = last_part(&frame.code.name);
        let is_own = frame.code.file.contains("/trio/_");
        Some(match name {
            FOREVER if is_own => match outer.map(|frame| last_part(&frame.code.name)) {
                Some(name) if SLEEPS.contains(&name) => {
                    match limit::innermost(self.fields, self.clock, task) {
                        Innermost::Never => TrioWait::Forever,
                        Innermost::At(deadline) => TrioWait::Timer(Some(deadline)),
                        Innermost::Unknown => TrioWait::Timer(None),
                    }
                }
                _ => TrioWait::Forever,
            },
            IN_THREAD if is_own => {
                let (python, host) = (self.fields.python, self.fields.host);
                TrioWait::Thread(self.threads.working_for(python, host, frame))
            }
            _ => TrioWait::Function(frame.code.name.clone()),
        })
    }

    fn variable(&self, frame: &PyFrame, name: &str) -> Option<Object> {
        let locals = self.fields.python.locals(self.fields.host, frame.at)?;
        let local = locals.iter().find(|local| &*local.name == name)?;
        self.fields.heap.object(local.at)
    }

    fn of_object(&mut self, task: Object, owner: Object) -> Option<TrioWait> {
        let object = self.parked_at(task, owner);
        let class = self.fields.class_name(object)?;
        if &*class == "Nursery" {
            let children = self.fields.get(object, "_children")?;
            let count = members(&self.fields.heap, children)?.tasks.len();
            return Some(TrioWait::Nursery(object.at, count as u64));
        }
        let owner = self.fields.get(object, "_owner");
        Some(TrioWait::Object { class, at: object.at, owner: owner.map(|owner| owner.at) })
    }

    /// A condition hands those that it wakes over to its lock, on which they wait from then on.
    fn parked_at(&mut self, task: Object, owner: Object) -> Object {
        let Some(lot) = self.fields.get(task, "custom_sleep_data") else { return owner };
        let Some(lock) = self.fields.get(owner, "_lock") else { return owner };
        let is_lock = self.fields.get(lock, "_lot").is_some_and(|own| own.at == lot.at);
        if is_lock { lock } else { owner }
    }
}

/// The name of a function without what it is qualified with, which CPython before 3.11 does not know.
fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_told_in_a_line() {
        let deadline = Deadline { seconds: 12, nanos: 500_000_000 };
        let later = Deadline { seconds: 13, nanos: 0 };
        let timer = TrioWait::Timer(Some(deadline));
        assert_eq!(timer.limited(Limit::At(deadline)), "timer 12.500");
        assert_eq!(timer.limited(Limit::At(later)), "timer 12.500, timeout 13.000");
        let fd = TrioWait::Fd(7, FdSide::Write);
        assert_eq!(fd.limited(Limit::At(later)), "fd 7 write, timeout 13.000");
        assert_eq!(fd.limited(Limit::Cancelled), "fd 7 write, cancelled");
        let (at, owner) = (Addr::new(0x7f01), Some(Addr::new(0x7f02)));
        let lock = TrioWait::Object { class: "Lock".into(), at, owner };
        assert_eq!(lock.to_string(), "Lock 7f01 of task 7f02");
    }
}
