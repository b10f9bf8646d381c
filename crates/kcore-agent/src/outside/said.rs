//! What the process says that takes a profile, in lines of which the first word tells what they are.

use std::fmt::Write as _;

use kcore::{Method, ProfileChange, ProfileCost};

/// The first sample was taken.
pub const BEGUN: &str = "begun";
/// The profile is over; what is to be known of it follows.
pub const DONE: &str = "done";
/// No sample can be taken; the reason follows.
pub const REFUSED: &str = "refused";

/// The line that no sample can be taken.
pub fn refused(why: &str) -> String {
    in_one_line(REFUSED, why)
}

/// The line that a profile could not be written.
pub fn failed(why: &str) -> String {
    in_one_line(DONE, why)
}

/// The line that a profile was written.
pub fn done(cost: &ProfileCost, written: &str) -> String {
    let mut text = format!("profile of {} samples{}", cost.samples, by(cost));
    let _ = write!(
        text,
        ", held for {:.2} % of the time, {:.1?} at most",
        cost.share_held() * 100.0,
        cost.longest
    );
    for (count, what) in [
        (cost.doubtful, "with functions marked (?), which are not certain or not known"),
        (cost.lost, "lost, since their threads did not stop in time or could not be copied"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    text += &covered(cost);
    text += rough(cost);
    for (_, change) in &cost.changes {
        text += &told(change);
    }
    let _ = write!(text, ": {written}");
    in_one_line(DONE, &text)
}

/// How they were taken.
fn by(cost: &ProfileCost) -> String {
    match &cost.method {
        Method::StopsFor(runtime) => {
            format!(" with functions of {runtime}, by a process of its own")
        }
        // The agent saw one, in memory that it need not be told of by files.
        Method::Stops | Method::StopsInstead(_) | Method::Counters { .. } => {
            " by a process of its own, which could decode no language (it may not read the program's files)"
                .to_owned()
        }
    }
}

/// For how much of the time they stand, where that is not all of it.
fn covered(cost: &ProfileCost) -> String {
    const ENOUGH: f64 = 0.98;
    let (elapsed, share) = (cost.elapsed.as_secs_f64(), cost.share_covered());
    match share < ENOUGH {
        true => format!(", which stand for {:.1} of {elapsed:.1} s", elapsed * share),
        false => String::new(),
    }
}

/// Whether single samples stand for so long that chance has its part in the shares.
fn rough(cost: &ProfileCost) -> &'static str {
    const ENOUGH_A_SECOND: f64 = 25.0;
    match (cost.samples as f64) < cost.elapsed.as_secs_f64() * ENOUGH_A_SECOND {
        true => ", so few that shares are rough",
        false => "",
    }
}

fn told(change: &ProfileChange) -> String {
    match change {
        ProfileChange::Ended => ", ended early: the process did".to_owned(),
        ProfileChange::Lost(why) => format!(", ended early: {why}"),
        ProfileChange::Program(name) => format!(", the last of {}", name.escape_debug()),
        ProfileChange::Refused(why) => format!(", not without a gap: {why}"),
        ProfileChange::FirstThread | ProfileChange::Threads(_) | ProfileChange::NoThreads => {
            String::new()
        }
    }
}

fn in_one_line(word: &str, text: &str) -> String {
    format!("{word} {}", text.replace(['\n', '\r'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_was_incomplete_is_counted() {
        let mut cost = ProfileCost::default();
        cost.samples = 90;
        cost.method = Method::StopsFor("ruby");
        cost.elapsed = Duration::from_secs(1);
        cost.covered = Duration::from_millis(900);
        cost.held = Duration::from_millis(5);
        (cost.doubtful, cost.lost) = (2, 3);
        let said = done(&cost, "a.folded in /tmp");
        for part in [
            "done profile of 90 samples with functions of ruby",
            "0.50 %",
            ", 2 with",
            ", 3 lost",
            "0.9 of 1.0 s",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(said.ends_with(": a.folded in /tmp"), "{said}");
        assert!(!said.contains("rough"), "{said}");
        cost.samples = 9;
        assert!(done(&cost, "a.folded in /tmp").contains("so few that shares are rough"));
    }

    #[test]
    fn whatever_is_said_is_one_line() {
        assert_eq!(refused("a\nb"), "refused a b");
    }
}
