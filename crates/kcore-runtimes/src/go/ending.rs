//! What ended a process that runs Go: panics that nobody recovered, or what the runtime gave up for.
//!
//! `runtime/panic.go`: before panics are printed, what a value says of itself (`Error`, `String`) takes its place.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace};

use super::{FaultSignal, Go, printed_value::printed, types::GoType};
use crate::{DyingStack, Ending, Fate, Host};

/// Panics of one goroutine, at most.
const MAX_PANICS: usize = 64;
/// What the runtime runs when it ends the process.
const DYING: [&str; 5] = [
    "runtime.fatalpanic",
    "runtime.fatalthrow",
    "runtime.fatalsignal",
    "runtime.dieFromSignal",
    "runtime.crash",
];

/// What the runtime gives up for when a signal comes of which it makes no panic (`runtime/signal_unix.go`).
const BY_SIGNAL: [&str; 2] = ["fault", "unexpected signal during runtime execution"];

/// A panic, as memory has it.
struct Panic {
    fate: Fate,
    /// As Go prints it; `None` of a value that cannot be read.
    value: Option<Arc<str>>,
    /// It is a call of `runtime.Goexit`, or has the value of the one that led to it.
    is_silent: bool,
}

impl Go {
    /// What ended the process, if its runtime did: panics in the order in which Go prints them, the latest last.
    pub(super) fn ending(&self, host: &dyn Host, dying: &DyingStack<'_>) -> Vec<Ending> {
        if !self.is_dying(host, dying) {
            return Vec::new();
        }
        let goroutine =
            dying.stack.thread.and_then(|thread| self.goroutines(host).on_thread(thread));
        let signal = goroutine.and_then(|goroutine| goroutine.signal).map(printed_signal);
        if let Some(message) = self.fatal(host, dying) {
            let message = match signal.filter(|_| BY_SIGNAL.contains(&&*message)) {
                Some(signal) => format!("{message} {signal}").into(),
                None => message,
            };
            return vec![Ending::Fatal { message, trace: vec![] }];
        }
        let panics = self.panics(host.space(), goroutine.and_then(|goroutine| goroutine.panic));
        let told = panics.into_iter().rev().filter(|panic| !panic.is_silent).map(Panic::ending);
        let mut told: Vec<Ending> = told.collect();
        if let Some(Ending::Exception { signal: of_last, .. }) = told.last_mut() {
            *of_last = signal;
        }
        told
    }

    fn is_dying(&self, host: &dyn Host, dying: &DyingStack<'_>) -> bool {
        dying.stack.frames.iter().any(|frame| {
            let place = self.place(host, frame.pc);
            let name = place.and_then(|place| place.function.name(&self.tables, host.space()));
            name.is_some_and(|name| DYING.contains(&&*name))
        })
    }

    /// The panics of a goroutine, the latest first.
    fn panics(&self, space: &dyn AddressSpace, latest: Option<Addr>) -> Vec<Panic> {
        let (mut found, mut next): (Vec<Panic>, _) = (Vec::new(), latest);
        for _ in 0..MAX_PANICS {
            let Some(at) = next else { break };
            let Some((mut panic, is_repeated)) = self.panic(space, at) else { break };
            if let Some(later) = found.last_mut().filter(|_| is_repeated) {
                // What was recovered and raised again ends as the later one does.
                later.is_silent = true;
                panic.fate = later.fate;
            }
            found.push(panic);
            let link = at.checked_add(self.layout.panic.link);
            next = link.and_then(|link| space.read_addr(link).ok()).filter(|at| at.get() != 0);
        }
        found
    }

    /// One of them, and whether that which it led to has the same value.
    fn panic(&self, space: &dyn AddressSpace, at: Addr) -> Option<(Panic, bool)> {
        let layout = self.layout.panic;
        let flag = |offset: u64| Some(space.read_uint(at.checked_add(offset)?, 1).ok()? != 0);
        let fate = if flag(layout.recovered)? { Fate::Handled } else { Fate::Uncaught };
        let is_repeated = layout.repeated.and_then(flag).unwrap_or_default();
        let value = at.checked_add(layout.value)?;
        let ty = space.read_addr(value).ok()?;
        let data = space.read_addr(value.checked_add(8)?).ok()?;
        let value = match ty.get() {
            0 => Some("nil".into()),
            _ => self.value(space, ty, data),
        };
        Some((Panic { fate, value, is_silent: flag(layout.ends_goroutine)? }, is_repeated))
    }

    /// A value in an interface, as Go prints it.
    fn value(&self, space: &dyn AddressSpace, ty: Addr, data: Addr) -> Option<Arc<str>> {
        let ty = GoType::load(space, &self.tables, ty)?;
        printed(space, self.layout.minor, &ty, data)
    }
}

/// The signal that a panic was made of, as the runtime prints it behind the panics (`runtime/panic.go`, `dopanic_m`). The
/// names are those of `runtime/sigtab_linux_generic.go` for signals of which it makes panics.
fn printed_signal(signal: FaultSignal) -> Arc<str> {
    let FaultSignal { number, code, address, pc } = signal;
    let name = match number {
        7 => "SIGBUS: bus error".to_owned(),
        8 => "SIGFPE: floating-point exception".to_owned(),
        11 => "SIGSEGV: segmentation violation".to_owned(),
        other => format!("{other:#x}"),
    };
    format!("[signal {name} code={code:#x} addr={address:#x} pc={pc:#x}]").into()
}

impl Panic {
    fn ending(self) -> Ending {
        Ending::Exception {
            fate: self.fate,
            type_name: "panic".into(),
            message: self.value,
            signal: None,
            object: None,
            trace: Vec::new(),
        }
    }
}
