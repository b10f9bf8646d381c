//! Which processes of Erlang a dcmd is about.

use std::sync::Arc;

use kcore::{
    Core, FrameKind, MAX_FRAMES, TaskId,
    erlang::{self, Erlang, ErlangProcess, Pid},
};
use kcore_dcmd::{Args, DcmdError, Dot, Result};

use crate::operand;

/// The virtual machines of Erlang in a process.
///
/// # Errors
/// If the process has none, or none that can be read; the error gives the reason.
pub fn instances(core: &Core) -> Result<Vec<&Erlang>> {
    let runtimes = core.runtimes();
    let found: Vec<&Erlang> = runtimes.of().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let damaged = runtimes.damaged().iter().find(|damaged| damaged.name == erlang::NAME);
    Err(DcmdError::failed(match damaged {
        Some(damaged) => damaged.why.to_string(),
        None => "no Erlang in this process".to_owned(),
    }))
}

/// What names a process among tasks.
pub const fn id(pid: Pid) -> TaskId {
    TaskId { runtime: erlang::NAME, number: pid.packed() }
}

/// What stands for a process in a pipe: the thread that runs it, or itself.
pub fn dot(process: &ErlangProcess) -> Dot {
    match process.thread {
        Some(thread) => Dot::Thread(thread),
        None => Dot::Task(id(process.pid)),
    }
}

/// The process that the address before a dcmd means: by its number, or by the thread that runs it.
///
/// # Errors
/// When there is none.
pub fn of_dot(core: &Core, dot: Dot) -> Result<(&Erlang, ErlangProcess)> {
    let found = instances(core)?.into_iter().find_map(|erlang| {
        let all = erlang.processes(core);
        let process = match dot {
            Dot::Thread(thread) => all.on_thread(thread),
            _ => all.numbered(Pid::unpacked(dot.number())),
        };
        process.map(|process| (erlang, *process))
    });
    found.ok_or_else(|| {
        let pid = Pid::unpacked(dot.number());
        DcmdError::failed(format!("no process of Erlang {pid} (its second number, as 0t87)"))
    })
}

/// The function that a process executes, or goes on with.
pub fn current(core: &Core, erlang: &Erlang, process: &ErlangProcess) -> Option<Arc<str>> {
    if let Some(thread) = process.thread {
        let stack = core.stack(thread, MAX_FRAMES);
        let mut frames = core.named_frames(&stack);
        let innermost = frames.find(|frame| frame.location.kind == FrameKind::Beam);
        return innermost.and_then(|frame| frame.location.function.clone());
    }
    if let Some(place) = erlang.current(core, process) {
        return Some(place.name.clone());
    }
    erlang.function_name(core, process.noted.or(process.initial)?)
}

/// The value of an option that is a number in decimal.
///
/// # Errors
/// When it is none.
pub fn decimal(args: &Args, flag: char, default: usize) -> Result<usize> {
    args.value(flag).map_or(Ok(default), operand::decimal)
}
