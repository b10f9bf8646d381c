//! What is said of a profile: a line each for what it has, what it cost, and what was lost.

use std::path::Path;

use kcore::profile::Profile;
use kcore::{Method, ProfileCost};

use super::{Wanted, is_stdout};
use crate::live;
use crate::target::shown;

/// The lines.
pub(super) fn lines(
    to: &Path,
    wanted: &Wanted,
    profile: &Profile,
    cost: &ProfileCost,
) -> Vec<String> {
    let name = if is_stdout(to) { "standard output".to_owned() } else { shown(to) };
    let mut lines = vec![
        format!(
            "{} samples of {} in {:.1} s, {} stacks, to {name}",
            profile.len(),
            live::counted(profile.threads().len()),
            cost.elapsed.as_secs_f64(),
            profile.stacks(),
        ),
        held(wanted, cost),
    ];
    if let Method::StopsInstead(reason) = &cost.method {
        lines.push(format!("it was stopped, since the kernel counts for nobody here: {reason}"));
    }
    if cost.missed > 0 || cost.lost > 0 {
        lines.push(format!(
            "late: {} of {} rounds were left out; {} samples were lost",
            cost.missed,
            cost.rounds.saturating_add(cost.missed),
            cost.lost
        ));
    }
    lines
}

/// What it cost the process.
fn held(wanted: &Wanted, cost: &ProfileCost) -> String {
    let pid = wanted.target.pid;
    match cost.method {
        Method::Counters { kernel: true } => format!("process {pid} was never stopped"),
        Method::Counters { kernel: false } => format!(
            "process {pid} was never stopped; its time in the kernel is not counted (perf_event_paranoid)"
        ),
        Method::Stops | Method::StopsInstead(_) => format!(
            "process {pid} was held for {:.2}% of the time, {} at most; {} samples needed no stop",
            cost.share_held() * 100.0,
            live::time(cost.longest),
            cost.unstopped,
        ),
    }
}
