//! A signal that somebody sent.

use kcore_elf::core_file::SignalInfo;

use super::{abort::aborts, last_words::said_at_end};
use crate::{
    Tid,
    analysis::{Crash, EvidenceSource, Finder, FinderScope, Finding},
    handled::HandledSignal,
    signal,
};

pub const FINDER: Finder =
    Finder { name: "ended", needs: "who sent the signal", scope: FinderScope::Crash(find) };

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let info = crash.signal()?;
    let own = crash.core().process().pid().ok_or("the pid of the process is not known")?;
    // Pid 0 is the kernel, or a process outside of the namespace.
    let sender = signal::sender(&info).filter(|(pid, _)| *pid != 0);
    let Some((pid, uid)) = sender else { return Ok(None) };
    // The kernel sends these in the name of the process itself.
    let is_kernels = crash.is_signal("SIGPIPE") || crash.is_signal("SIGXFSZ");
    if pid == own && (is_kernels || has_told(crash)) {
        return Ok(None);
    }
    let finding = sent(crash, &info, (pid, uid), own);
    let finding = match sent_before(crash).filter(|_| pid == own) {
        Some((tid, _)) => finding.with(
            "a handler of this thread was told of that signal, and of its sender",
            EvidenceSource::Stack(tid),
        ),
        None => finding.with(format!("the sender's pid is {pid}"), crash.shown_by()),
    };
    Ok(Some(finding.then_ask("what the thread was doing", EvidenceSource::Stack(crash.tid()))))
}

/// Whether the process itself tells more of its end.
fn has_told(crash: &Crash<'_>) -> bool {
    aborts(crash) || said_at_end(crash).is_some()
}

fn sent(crash: &Crash<'_>, info: &SignalInfo, (pid, uid): (u32, u32), own: u32) -> Finding {
    let name = signal::name(u16::try_from(info.number).unwrap_or_default());
    let by_other = || format!("process {pid} of user {uid} sent {name}");
    match pid == own {
        true => Finding::certain(match sent_before(crash) {
            Some((_, sent)) => format!("{sent}, on which the process ended itself by {name}"),
            None => format!("the process sent {name} to itself{}", told_before(crash)),
        }),
        // A debugger outside of the namespace numbers the process otherwise than the kernel does in the signal.
        false if crash.core().written_by_gdb() => Finding::likely(by_other()),
        false => Finding::certain(by_other()),
    }
}

/// The thread whose handler was told of a signal of another process first, or of one that the process sent to itself; and
/// that in words.
fn sent_before(crash: &Crash<'_>) -> Option<(Tid, String)> {
    let told = &crash.handled().signals;
    let from_outside = told.iter().find(|signal| crash.core().is_from_outside(&signal.info));
    let is_other = |signal: &&HandledSignal| {
        signal.info.number != i32::from(crash.end().signal)
            && !crash.core().may_be_handed_on(&signal.info)
    };
    let first = from_outside.or_else(|| told.first().filter(is_other))?;
    let (pid, uid) = signal::sender(&first.info)?;
    let name = signal::name(u16::try_from(first.info.number).ok()?);
    let sentence = match from_outside {
        Some(_) => format!("process {pid} of user {uid} sent {name}"),
        None => format!("the process sent {name} to itself"),
    };
    Some((first.stop.tid, sentence))
}

/// Of which other signals handlers were told before, as the end of a sentence.
fn told_before(crash: &Crash<'_>) -> String {
    let told = crash.handled().signals.iter();
    let numbers = told.filter_map(|signal| u16::try_from(signal.info.number).ok());
    let mut others: Vec<u16> = numbers.filter(|number| *number != crash.end().signal).collect();
    others.dedup();
    let names: Vec<_> = others.into_iter().map(signal::name).collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!(", after a signal handler of the program ran for {}", names.join(" and ")),
    }
}
