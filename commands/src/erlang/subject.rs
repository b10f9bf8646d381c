//! Which processes of Erlang a dcmd is about.

use std::sync::Arc;

use kcore::{
    Core, FrameKind, MAX_FRAMES, TaskId,
    erlang::{self, Erlang, ErlangProcess, Missing, Pid},
};
use kcore_dcmd::{Args, DcmdError, Dot, Result};

use super::missing;
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
        let unread = unread(core).map(|unread| format!("; {unread}")).unwrap_or_default();
        let hint = "(its second number, as 0t87)";
        DcmdError::failed(format!("no process of Erlang {pid} {hint}{unread}"))
    })
}

/// Which processes cannot be shown, in words, if there are any.
pub fn unread(core: &Core) -> Option<String> {
    let parts = instances(core).ok()?.into_iter().flat_map(|erlang| {
        let all = erlang.processes(core);
        let damaged = all.damaged_why.map(|why| {
            let reason = missing::reason(why);
            format!("{} processes of Erlang cannot be read: {reason}", all.damaged)
        });
        let torn = all.torn_why.map(|why| {
            let reason = missing::reason(why);
            format!("there may be more processes of Erlang; of parts of their table, {reason}")
        });
        damaged.into_iter().chain(torn)
    });
    Some(parts.collect::<Vec<_>>().join("; ")).filter(|text| !text.is_empty())
}

/// The function that a process executes, or goes on with, or why its name cannot be read.
pub fn current(
    core: &Core,
    erlang: &Erlang,
    process: &ErlangProcess,
) -> Option<std::result::Result<Arc<str>, Missing>> {
    if let Some(thread) = process.thread {
        let stack = core.stacks().of_thread(thread, MAX_FRAMES);
        let mut frames = core.stacks().named_frames(&stack);
        let innermost = frames.find(|frame| frame.location.kind == FrameKind::Beam);
        return innermost.and_then(|frame| frame.location.function.clone()).map(Ok);
    }
    if let Some(place) = erlang.current(core, process) {
        return Some(Ok(place.name.clone()));
    }
    Some(erlang.function_name(core, process.noted.or(process.initial)?))
}

/// The value of an option that is a number in decimal.
///
/// # Errors
/// When it is none.
pub fn decimal(args: &Args, flag: char, default: usize) -> Result<usize> {
    args.value(flag).map_or(Ok(default), operand::decimal)
}
