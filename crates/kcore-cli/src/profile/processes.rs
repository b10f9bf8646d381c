//! What is said of a profile of several processes: a line for all, one for each that has samples, and one for each
//! that has none.

use std::cmp::Reverse;
use std::path::Path;

use kcore::profile::Profile;
use kcore::{Method, Pid, ProcessCost, ProcessesCost, ProfileChange, ProfileCost, RefusedProcess};

use super::summary::{covered, doubtful, escaped, late, told, uncovered, why_stopped};
use super::{ProfileRequest, is_stdout};
use crate::live;
use crate::target::shown;

/// Processes that have a line each, and remarks on them: those with the most samples.
const LISTED: usize = 40;
/// A process that was found sooner was there from the beginning.
const BEGINNING: f64 = 0.1;

/// The lines.
pub(super) fn lines(
    to: &Path,
    wanted: &ProfileRequest,
    profile: &Profile,
    cost: &ProcessesCost,
) -> Vec<String> {
    let name = if is_stdout(to) { "standard output".to_owned() } else { shown(to) };
    let mut lines = vec![format!(
        "{} samples of {} of {} in {:.1} s, {} stacks, to {name}",
        cost.samples,
        live::counted(profile.threads().len()),
        processes(profile.processes().len()),
        cost.elapsed.as_secs_f64(),
        profile.stacks(),
    )];
    let mut by_samples: Vec<&ProcessCost> = cost.processes.iter().collect();
    by_samples.sort_by_key(|process| Reverse(process.cost.samples));
    let listed = by_samples.get(..LISTED).unwrap_or(&by_samples);
    lines.extend(listed.iter().map(|process| line(process, wanted.profile.frequency)));
    lines.extend(unlisted(by_samples.get(LISTED..).unwrap_or_default(), cost.more_processes));
    lines.extend(remarks(listed));
    lines.extend(late_in_all(cost));
    lines.extend(cost.refused.iter().map(refused));
    lines.extend(missing(cost));
    lines
}

fn processes(count: usize) -> String {
    if count == 1 { "1 process".to_owned() } else { format!("{count} processes") }
}

/// How many samples a process has, from when to when, and what it cost.
fn line(process: &ProcessCost, frequency: u32) -> String {
    let ProcessCost { pid, cost, threads, .. } = process;
    let count = cost.samples;
    let threads = live::counted(*threads);
    let when = when(process);
    let name = escaped(&cost.program);
    let held = match cost.method {
        Method::Counters { kernel: true } => "never stopped".to_owned(),
        Method::Counters { kernel: false } => {
            "never stopped, without its time in the kernel (perf_event_paranoid)".to_owned()
        }
        Method::Stops | Method::StopsInstead(_) | Method::StopsFor(_) => format!(
            "held for {:.2}% of the time, {} at most, at {:.1} of {frequency} rounds a second; {}",
            cost.share_held() * 100.0,
            live::time(cost.longest),
            cost.rate(),
            covered(cost),
        ),
    };
    format!("process {pid} ({name}): {count} samples of {threads}{when}; {held}")
}

/// From when to when it was there, where that is not the whole time.
fn when(process: &ProcessCost) -> String {
    let from = process.from.as_secs_f64();
    let end = |(at, change): &(_, ProfileChange)| (*change == ProfileChange::Ended).then_some(*at);
    let end = process
        .cost
        .changes
        .iter()
        .find_map(end)
        .map(|at| process.from.saturating_add(at).as_secs_f64());
    match (from > BEGINNING, end) {
        (false, None) => String::new(),
        (true, None) => format!(", from {from:.1} s on"),
        (false, Some(end)) => format!(", until it ended after {end:.1} s"),
        (true, Some(end)) => format!(", from {from:.1} s until it ended after {end:.1} s"),
    }
}

/// What there is of processes that have no line.
fn unlisted(rest: &[&ProcessCost], more: u64) -> Option<String> {
    let count = u64::try_from(rest.len()).unwrap_or(u64::MAX).saturating_add(more);
    (count > 0).then(|| format!("{count} more with fewer samples are not listed"))
}

/// What else is to be known of processes, once for all of which it is.
fn remarks(listed: &[&ProcessCost]) -> Vec<String> {
    let mut remarks: Vec<(String, Vec<Pid>)> = Vec::new();
    for process in listed {
        for said in remarks_on(process) {
            match remarks.iter_mut().find(|(known, _)| *known == said) {
                Some((_, pids)) => pids.push(process.pid),
                None => remarks.push((said, vec![process.pid])),
            }
        }
    }
    remarks.into_iter().map(|(said, pids)| format!("{}: {said}", named(&pids))).collect()
}

fn remarks_on(process: &ProcessCost) -> Vec<String> {
    let ProcessCost { pid, from, cost, .. } = process;
    let changes = cost.changes.iter().filter(|(_, change)| *change != ProfileChange::Ended);
    let changes = changes.map(|(at, change)| {
        let at = from.saturating_add(*at).as_secs_f64();
        format!("after {at:.1} s {}", told(change, &pid.to_string()))
    });
    let costs = [why_stopped(&cost.method), doubtful(cost), uncovered(cost)];
    costs.into_iter().flatten().chain(changes).collect()
}

/// What came too late, of all processes together.
fn late_in_all(cost: &ProcessesCost) -> Option<String> {
    let sum = |of: fn(&ProfileCost) -> u64| {
        let all = cost.processes.iter().map(|process| of(&process.cost));
        all.fold(0, u64::saturating_add)
    };
    late(sum(|cost| cost.missed), sum(|cost| cost.rounds), sum(|cost| cost.lost))
}

fn named(pids: &[Pid]) -> String {
    match pids {
        [one] => format!("process {one}"),
        [first, rest @ ..] => format!("process {first} and {} more", rest.len()),
        [] => String::new(),
    }
}

fn refused(refused: &RefusedProcess) -> String {
    let RefusedProcess { pid, name, reason, .. } = refused;
    format!("process {pid} ({}) was not sampled: {reason}", escaped(name))
}

/// What of processes the profile has not.
fn missing(cost: &ProcessesCost) -> Vec<String> {
    let more =
        (cost.more_refused > 0).then(|| format!("{} more could not be sampled", cost.more_refused));
    let unseen = (cost.unseen > 0).then(|| {
        let found = match cost.unseen {
            1 => "at least 1 more process".to_owned(),
            count => format!("at least {count} more processes"),
        };
        format!(
            "{found} ended before a sample could be taken; those that live shortly are seldom found"
        )
    });
    let crowded = (cost.crowded > 0).then(|| {
        format!(
            "at times there were {} processes to sample, of which {} are sampled",
            (cost.at_once as u64).saturating_add(cost.crowded),
            cost.at_once
        )
    });
    let full = cost.is_full.then(|| {
        "processes that began later were not followed, since there had been too many".to_owned()
    });
    let no_room = (cost.no_room > 0)
        .then(|| format!("{} samples had no room in the profile of all", cost.no_room));
    [more, unseen, crowded, full, no_room].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_remark_is_made_once() {
        assert_eq!(named(&[Pid::new(7)]), "process 7");
        assert_eq!(named(&[Pid::new(7), Pid::new(9), Pid::new(8)]), "process 7 and 2 more");
    }

    #[test]
    fn what_is_missing_is_said() {
        let mut cost = ProcessesCost::default();
        assert!(missing(&cost).is_empty());
        (cost.unseen, cost.crowded, cost.at_once, cost.is_full) = (3, 2, 256, true);
        (cost.no_room, cost.more_refused) = (1, 9);
        let said = missing(&cost);
        assert_eq!(said.len(), 5);
        assert!(said[1].starts_with("at least 3 more processes ended"), "{said:?}");
        assert!(said[2].starts_with("at times there were 258 processes"), "{said:?}");
    }
}
