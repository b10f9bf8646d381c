//! What was seen of a process as a whole.

use std::time::Duration;

use kcore::watch::{Condition, Measures};
use kcore_dcmd::{Cell, Fields, Record, View};

use super::{
    args::WantedCondition,
    watcher::{Outcome, Watcher},
};
use crate::{live, save};

/// A process that was watched.
pub(super) struct WatchedProcess<'a> {
    watcher: &'a Watcher<'a>,
    outcome: &'a Outcome,
}

impl<'a> WatchedProcess<'a> {
    pub(super) const fn of(watcher: &'a Watcher<'a>, outcome: &'a Outcome) -> Self {
        Self { watcher, outcome }
    }

    /// How long, how often, and at which cost.
    fn length(&self) -> String {
        let watch = &self.watcher.watch;
        let intervals = counted(watch.intervals(), "interval");
        let snapshots = counted(self.watcher.snapshots, "snapshot");
        let cost =
            self.watcher.stopped.map(|time| format!(", stopped for {} at most", live::time(time)));
        let (watched, ran) = (watch.watched().as_secs_f64(), watch.ran().as_secs_f64());
        format!(
            "{intervals}, {watched:.1} s in all, {ran:.2} s on processors ({snapshots}{})",
            cost.unwrap_or_default()
        )
    }

    fn change(&self) -> String {
        let change = self.watcher.watch.change();
        let spelled = |values: [Option<u64>; 2], spell: fn(u64) -> String| {
            values.map(|value| value.map_or_else(|| "unknown".to_owned(), spell)).join(" -> ")
        };
        format!(
            "threads {}, memory {}, descriptors {}",
            spelled(change.threads.map(Some), |count| count.to_string()),
            spelled(change.resident, save::size),
            spelled(change.descriptors, |count| count.to_string()),
        )
    }
}

impl Record for WatchedProcess<'_> {
    fn kind(&self) -> &'static str {
        "watch"
    }

    fn view(&self) -> View {
        View::Line("{length}\n{change}")
    }

    fn fields<'f>(&'f self, out: &mut Fields<'f>) {
        let watch = &self.watcher.watch;
        let change = watch.change();
        out.text("outcome", name(self.outcome))
            .opt_text("condition", held(self.outcome))
            .num("intervals", watch.intervals())
            .num("snapshots", self.watcher.snapshots)
            .num(
                "stopped_ns",
                self.watcher.stopped.and_then(|time| time.as_nanos().try_into().ok()),
            )
            .num("millis", millis(watch.watched()))
            .num("cpu_millis", millis(watch.ran()))
            .num("threads_before", change.threads[0])
            .num("threads", change.threads[1])
            .num("rss_before", change.resident[0])
            .num("rss", change.resident[1])
            .num("fds_before", change.descriptors[0])
            .num("fds", change.descriptors[1])
            .display("length", Cell::text(self.length()))
            .display("change", Cell::text(self.change()));
    }
}

/// A time in milliseconds; `None` where no number holds it.
pub(super) fn millis(time: Duration) -> Option<u64> {
    u64::try_from(time.as_millis()).ok()
}

/// What was found when a condition was looked at.
pub(super) fn reason(wanted: &WantedCondition, now: &Measures) -> String {
    match wanted.condition {
        Condition::Idle(_) => format!("no thread ran for {:.1} s", now.idle.as_secs_f64()),
        Condition::Resident(_) => save::size(now.resident.unwrap_or_default()),
        Condition::Threads(_) => counted(now.threads, "thread"),
        Condition::Descriptors(_) => counted(now.descriptors.unwrap_or_default(), "descriptor"),
        Condition::Processor(_) => {
            format!("{:.0}% of one processor", now.processor.unwrap_or_default())
        }
    }
}

const fn name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Watched => "watched",
        Outcome::Held(..) => "held",
        Outcome::Ended => "ended",
        Outcome::OtherProgram => "other_program",
        Outcome::TimeOver => "time_over",
        Outcome::Stopped => "stopped",
        Outcome::Lost(_) => "lost",
    }
}

fn held(outcome: &Outcome) -> Option<&str> {
    match outcome {
        Outcome::Held(wanted, _) => Some(&wanted.text),
        _ => None,
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_said_in_units() {
        let now = Measures {
            idle: Duration::from_millis(1240),
            resident: Some(3 << 30),
            threads: 1,
            descriptors: Some(9),
            processor: Some(97.6),
        };
        for (text, found) in [
            ("idle=1s", "no thread ran for 1.2 s"),
            ("rss=2G", "3.0 GiB"),
            ("threads=1", "1 thread"),
            ("fds=8", "9 descriptors"),
            ("cpu=90%", "98% of one processor"),
        ] {
            let condition = Condition::parse(text).unwrap();
            assert!(condition.holds(&now), "{text}");
            let wanted = WantedCondition { text: text.to_owned(), condition };
            assert_eq!(reason(&wanted, &now), found);
        }
    }
}
