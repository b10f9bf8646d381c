//! A signal that somebody sent, and a system call that was refused.

use kcore_elf::core_file::SignalDetail;

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
    let name = signal::name(u16::try_from(info.number).unwrap_or_default());
    let finding = match info.detail {
        SignalDetail::SystemCall { number, .. } => {
            let call = facts(crash.core().arch()).system_call(u64::from(number));
            let call = call.map_or_else(|| format!("number {number}"), str::to_owned);
            Finding::certain(format!("the system call {call} was refused"))
        }
        SignalDetail::Sender { pid, uid } if Some(pid) != crash.core().pid() => {
            Finding::certain(format!("process {pid} of user {uid} sent {name}"))
        }
        SignalDetail::Sender { .. } if info.number == SIGPIPE => {
            Finding::likely("the process wrote to a pipe or socket that nobody reads any more")
        }
        SignalDetail::Sender { .. } => {
            Finding::certain(format!("the process sent {name} to itself"))
        }
        _ => return Ok(None),
    };
    let tid = crash.tid();
    let finding = finding.with("who sent it", Subject::Signal(tid));
    Ok(Some(finding.then_ask("what the thread was doing", Subject::Stack(tid))))
}
