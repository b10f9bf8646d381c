//! What is said of a profile: a line each for what it has, what it cost, and what was lost.

use std::path::Path;

use kcore::ProfileCost;
use kcore::profile::Profile;

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
            "{} samples of {} threads in {:.1} s, {} stacks, to {name}",
            profile.len(),
            profile.threads().len(),
            cost.elapsed.as_secs_f64(),
            profile.stacks(),
        ),
        format!(
            "process {} was held for {:.2}% of the time, {} at most; {} samples needed no stop",
            wanted.target.pid,
            cost.share_held() * 100.0,
            live::time(cost.longest),
            cost.unstopped,
        ),
    ];
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
