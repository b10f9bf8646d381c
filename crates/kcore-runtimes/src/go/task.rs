//! A goroutine as a stack that belongs to no thread.

use std::sync::Arc;

use kcore_mem::{Addr, CodeAddr};
use kcore_unwind::Tid;
use rustc_hash::FxHashSet;

use super::{
    Go,
    goroutine::{Goroutine, SavedRegisters},
    probe::NAME,
    state::State,
};
use crate::{Host, Task, TaskStart};

/// Channels that are named in a line.
const MAX_SHOWN: usize = 16;

/// The task that a goroutine is, in a process with these threads; whoever knows timers adds until when it sleeps.
pub fn of(go: &Go, host: &dyn Host, goroutine: &Goroutine, threads: &FxHashSet<Tid>) -> Task {
    let thread = goroutine.running_thread().filter(|thread| threads.contains(thread));
    Task {
        runtime: NAME,
        id: goroutine.task,
        name: None,
        state: goroutine.state.as_str().into(),
        waits_on: goroutine.reason.map(|reason| waits_on(go, host, reason, goroutine)),
        until: None,
        entry: Some(goroutine.start).filter(|start| start.get() != 0),
        thread,
        stack: Some(goroutine.stack).filter(|stack| !stack.is_empty()),
        start: start(go, host, goroutine, thread),
    }
}

/// What it waits for, and the channel or file descriptor.
fn waits_on(go: &Go, host: &dyn Host, reason: &str, goroutine: &Goroutine) -> Arc<str> {
    if let Some(io) = go.awaited_io(host, goroutine) {
        return format!("{reason} {io}").into();
    }
    match (goroutine.channel, goroutine.channels.len()) {
        (Some(channel), 0) => format!("{reason} {:x}", channel.get()).into(),
        (Some(_), count) => {
            format!("{reason} of {count} channels: {}", goroutine.shown_channels()).into()
        }
        (None, _) => reason.into(),
    }
}

impl Goroutine {
    /// The thread that runs it, if it says so. One that waits has left its thread, unless it runs the collector and only says
    /// that it waits.
    pub fn running_thread(&self) -> Option<Tid> {
        self.thread.filter(|_| {
            matches!(
                self.state,
                State::Running | State::SystemCall | State::CopyStack | State::Waiting
            )
        })
    }

    /// The first of the channels that it selects from, with commas.
    pub fn shown_channels(&self) -> String {
        let shown = self.channels.iter().take(MAX_SHOWN).map(|at| format!("{:x}", at.get()));
        let shown = shown.collect::<Vec<_>>().join(", ");
        if self.channels.len() > MAX_SHOWN { format!("{shown}, ...") } else { shown }
    }
}

/// Where its stack begins. What was saved of one that runs is old.
fn start(go: &Go, host: &dyn Host, goroutine: &Goroutine, thread: Option<Tid>) -> TaskStart {
    let is_readable = |sp: &Addr| host.space().read_word(*sp).is_ok();
    let saved = |saved: SavedRegisters, pc: CodeAddr| match saved
        .sp
        .filter(|sp| goroutine.stack.contains(*sp))
    {
        Some(sp) if is_readable(&sp) => {
            TaskStart::Suspended { regs: (&go.abi.registers(saved)).into(), pc, bottom: None }
        }
        Some(sp) => {
            TaskStart::Unknown(format!("its stack, at {:x}, cannot be read", sp.get()).into())
        }
        None => TaskStart::Unknown("its saved stack pointer is not in its stack".into()),
    };
    match (goroutine.state, thread, goroutine.system_call) {
        (_, Some(_), _) => TaskStart::Running,
        (State::SystemCall, None, Some(call)) => saved(call, CodeAddr::Return(call.pc)),
        (State::Running, None, _) => TaskStart::Unknown(
            match goroutine.thread {
                Some(thread) => {
                    format!("thread {thread}, which runs it, is not among those of the process")
                }
                None => "it is not known which thread runs it".to_owned(),
            }
            .into(),
        ),
        _ => saved(goroutine.saved, go.resumes_at(host, goroutine.saved)),
    }
}
