//! A signal that somebody sent, and a system call that was refused.

use kcore_elf::core_file::{SignalDetail, SignalInfo};

use super::{abort::aborts, last_words::said_at_end};
use crate::{
    analysis::{Crash, Finder, Finding, Subject},
    arch::facts,
    signal,
};

/// SIGPIPE, which the kernel sends in the name of the process itself.
const SIGPIPE: i32 = 13;

pub const FINDER: Finder =
    Finder { name: "ended", needs: "who sent the signal, or which system call was refused", find };

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let info = crash.signal()?;
    let finding = match info.detail {
        SignalDetail::SystemCall { number, .. } => Some(refused(crash, number)),
        SignalDetail::Sender { pid, uid } => sent(crash, &info, pid, uid),
        _ => None,
    };
    let ask = |it: Finding| it.then_ask("what the thread was doing", Subject::Stack(crash.tid()));
    Ok(finding.map(ask))
}

fn refused(crash: &Crash<'_>, number: u32) -> Finding {
    let call = facts(crash.core().arch()).system_call(u64::from(number));
    let call = call.map_or_else(|| format!("number {number}"), str::to_owned);
    let finding = Finding::certain(format!("the system call {call} was refused"));
    finding.with(format!("the call has the number {number}"), Subject::Signal(crash.tid()))
}

fn sent(crash: &Crash<'_>, info: &SignalInfo, pid: u32, uid: u32) -> Option<Finding> {
    let name = signal::name(u16::try_from(info.number).unwrap_or_default());
    let own = crash.core().pid()?;
    if pid == own && (aborts(crash) || said_at_end(crash).is_some()) {
        return None;
    }
    let finding = match pid {
        0 => Finding::certain(format!(
            "{name} came from the kernel or from a process outside of the namespace"
        )),
        _ if pid == own && info.number == SIGPIPE => {
            Finding::likely("the process wrote to a pipe or socket that nobody reads any more")
        }
        _ if pid == own => Finding::certain(format!("the process sent {name} to itself")),
        // A debugger outside of the namespace numbers the process otherwise than the kernel does in the signal.
        _ if crash.core().written_by_gdb() => {
            Finding::likely(format!("process {pid} of user {uid} sent {name}"))
        }
        _ => Finding::certain(format!("process {pid} of user {uid} sent {name}")),
    };
    Some(finding.with(format!("the sender's pid is {pid}"), Subject::Signal(crash.tid())))
}
