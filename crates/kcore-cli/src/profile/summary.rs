//! What is said of a profile: a line each for what it has, what it cost, what was lost, and what happened.

use std::path::Path;
use std::time::Duration;

use kcore::profile::Profile;
use kcore::{Method, ProfileChange, ProfileCost, Tid};

use super::{ProfileRequest, is_stdout};
use crate::live;
use crate::target::shown;

/// The lines.
pub(super) fn lines(
    to: &Path,
    wanted: &ProfileRequest,
    profile: &Profile,
    cost: &ProfileCost,
) -> Vec<String> {
    let name = if is_stdout(to) { "standard output".to_owned() } else { shown(to) };
    let mut lines = vec![
        format!(
            "{} samples of {} in {:.1} s, {} stacks, to {name}",
            cost.samples,
            live::counted(profile.threads().len()),
            cost.elapsed.as_secs_f64(),
            profile.stacks(),
        ),
        held(wanted, cost),
    ];
    lines.extend(why_stopped(&cost.method));
    lines.extend(doubtful(cost));
    lines.extend(uncovered(cost));
    lines.extend(idle(wanted, cost));
    lines.extend(slowed(cost));
    lines.extend(unseen(wanted, cost));
    lines.extend(late(cost.missed, cost.rounds, cost.lost));
    lines.extend(changes(wanted, cost));
    lines
}

/// What it cost the process.
fn held(wanted: &ProfileRequest, cost: &ProfileCost) -> String {
    let pid = wanted.target.pid;
    match cost.method {
        Method::Counters { kernel: true } => format!("process {pid} was never stopped"),
        Method::Counters { kernel: false } => format!(
            "process {pid} was never stopped; its time in the kernel is not counted (perf_event_paranoid)"
        ),
        Method::Stops | Method::StopsInstead(_) | Method::StopsFor(_) => format!(
            "process {pid} was held for {:.2}% of the time, {} at most, at {:.1} of {} rounds a second; {} samples \
             needed no stop; {}",
            cost.share_held() * 100.0,
            live::time(cost.longest),
            cost.rate(),
            wanted.profile.frequency,
            cost.unstopped,
            covered(cost),
        ),
    }
}

/// Why there is no sample, where only those count that run.
fn idle(wanted: &ProfileRequest, cost: &ProfileCost) -> Option<String> {
    let is_idle = wanted.profile.on_cpu && cost.samples == 0 && cost.lost == 0;
    is_idle.then(|| "no thread was seen on a processor".to_owned())
}

/// How many samples have what is not certain.
pub(super) fn doubtful(cost: &ProfileCost) -> Option<String> {
    (cost.doubtful > 0).then(|| {
        format!(
            "{} of {} samples have functions marked (?), which are not certain or not known",
            cost.doubtful, cost.samples
        )
    })
}

/// What came too late: rounds that were left out, beside those that were not, and samples.
pub(super) fn late(missed: u64, rounds: u64, lost: u64) -> Option<String> {
    (missed > 0 || lost > 0).then(|| {
        let all = rounds.saturating_add(missed);
        format!(
            "late: {missed} of {all} rounds were left out, and their time is in no count; {lost} samples of other rounds \
             were lost"
        )
    })
}

/// For how much of the time the counts stand.
pub(super) fn covered(cost: &ProfileCost) -> String {
    let elapsed = cost.elapsed.as_secs_f64();
    format!("counts cover {:.1} of {elapsed:.1} s", elapsed * cost.share_covered())
}

/// That counts are low, where they stand for too little of the time.
pub(super) fn uncovered(cost: &ProfileCost) -> Option<String> {
    /// Of less than this much, counts are not to be compared with those of another process.
    const ENOUGH: f64 = 0.9;
    (cost.share_covered() < ENOUGH).then(|| {
        "warning: counts cover less than 90% of the time and are too low by the rest (a higher --hold covers more)"
            .to_owned()
    })
}

/// Why it was stopped, where the kernel was to count.
pub(super) fn why_stopped(method: &Method) -> Option<String> {
    match method {
        Method::StopsInstead(reason) => {
            Some(format!("it was stopped, since the kernel counts for nobody here: {reason}"))
        }
        Method::StopsFor(runtime) => Some(format!(
            "it was stopped, since frames of {runtime} lie in memory that the kernel's samples have not; threads count \
             that ran or waited for a processor (--native: the kernel counts, and functions of {runtime} have no names)"
        )),
        Method::Stops | Method::Counters { .. } => None,
    }
}

/// Why there are fewer rounds than were asked for, where that is for the sake of the process.
fn slowed(cost: &ProfileCost) -> Option<String> {
    let stops = u32::try_from(cost.stops).ok().filter(|stops| *stops > 0)?;
    let mean = cost.held.checked_div(stops)?;
    let threads = cost.stopped.div_ceil(cost.stops);
    let threads = live::counted(usize::try_from(threads).unwrap_or(usize::MAX));
    (cost.spared > 0).then(|| {
        format!(
            "{} rounds were spared, since a stop of {threads} took {} in the mean and the process may be held for {}% \
             of the time (--hold); a sample counts for the rounds that were spared before it",
            cost.spared,
            live::time(mean),
            cost.allowed.percent(),
        )
    })
}

/// What ran and was not sampled, where that is much: the kernel samples threads from when they are found on.
fn unseen(wanted: &ProfileRequest, cost: &ProfileCost) -> Option<String> {
    /// Times are counted in ticks, and samples come a little late.
    const LITTLE: Duration = Duration::from_millis(100);
    let ran = cost.ran.filter(|_| cost.method == Method::Counters { kernel: true })?;
    let sampled = Duration::from_secs(cost.samples).checked_div(wanted.profile.frequency)?;
    let is_much = ran.saturating_sub(sampled) > LITTLE.max(ran / 4);
    is_much.then(|| {
        format!(
            "the process was on a processor for {:.2} s, and samples stand for {:.2} s of it: threads that live for \
             less than 20 ms are seldom seen (without --cpu they are)",
            ran.as_secs_f64(),
            sampled.as_secs_f64(),
        )
    })
}

/// What happened to the process.
fn changes(wanted: &ProfileRequest, cost: &ProfileCost) -> Vec<String> {
    let lines = cost.changes.iter().map(|(at, change)| {
        format!("after {:.1} s {}", at.as_secs_f64(), told(change, &wanted.target.pid.to_string()))
    });
    let more = (cost.more_changes > 0)
        .then(|| format!("{} more changes are not shown", cost.more_changes));
    lines.chain(more).collect()
}

pub(super) fn told(change: &ProfileChange, pid: &str) -> String {
    match change {
        ProfileChange::Ended => format!("process {pid} ended, and the profile with it"),
        ProfileChange::Lost(reason) => format!("the profile had to end: {reason}"),
        ProfileChange::Program(name) => {
            format!(
                "process {pid} started another program, {}, which was sampled from then on",
                escaped(name)
            )
        }
        ProfileChange::FirstThread => {
            format!("the first thread of process {pid} ended; the others were sampled on")
        }
        ProfileChange::Threads(tids) => {
            let what = if tids.len() == 1 { "thread" } else { "threads" };
            format!("{what} {} ended; the others that were chosen were sampled on", listed(tids))
        }
        ProfileChange::NoThreads => {
            format!("none of the chosen threads of process {pid} was left, and the profile ended")
        }
        ProfileChange::Refused(reason) => format!("samples were lost: {reason}"),
    }
}

/// Some of the ids, and how many more there are.
fn listed(tids: &[Tid]) -> String {
    const SOME: usize = 8;
    let some: Vec<String> = tids.iter().take(SOME).map(Tid::to_string).collect();
    match tids.len().saturating_sub(SOME) {
        0 => some.join(", "),
        more => format!("{} and {more} more", some.join(", ")),
    }
}

/// A name as the process chose it, which may hold what hurts a terminal.
pub(super) fn escaped(name: &str) -> String {
    name.escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_steer_a_terminal() {
        let said = told(&ProfileChange::Program("a\u{1b}[2J\u{202e}".to_owned()), "7");
        assert!(!said.contains(['\u{1b}', '\u{202e}']), "{said}");
    }

    #[test]
    fn of_many_threads_some_are_named() {
        let tids: Vec<Tid> = (1..=10).map(Tid::new).collect();
        assert_eq!(listed(&tids), "1, 2, 3, 4, 5, 6, 7, 8 and 2 more");
        assert_eq!(listed(&tids[..1]), "1");
    }
}
