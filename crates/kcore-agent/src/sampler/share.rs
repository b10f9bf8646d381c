//! How much of the time that threads ran the samples stand for.

use crate::sys::{clock_ns, thread_id, thread_ns};

/// What a share is far from, in hundredths, below and above.
const NEAR: (u128, u128) = (70, 130);
/// Nanoseconds that are nothing.
const NOTHING: u64 = 1_000_000;

/// The time that the threads of the process run but the one that asks, from a beginning on.
pub struct Spent {
    before: u64,
}

impl Spent {
    /// Begins.
    pub fn begin() -> Self {
        Self { before: of_others() }
    }

    /// Nanoseconds until now.
    pub fn ns(&self) -> u64 {
        of_others().saturating_sub(self.before)
    }
}

fn of_others() -> u64 {
    clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID).saturating_sub(thread_ns(thread_id()))
}

/// What is to be known where samples stand for `sampled` nanoseconds, and threads ran for `ran`, of which `known` are
/// missing for reasons that are told besides.
pub fn said(sampled: u64, ran: u64, known: u64) -> String {
    if sampled == 0 && ran < NOTHING {
        return ", no thread ran for as long as 1 ms".to_owned();
    }
    if is_near(sampled, ran) {
        return String::new();
    }
    let seconds = |ns: u64| std::time::Duration::from_nanos(ns).as_secs_f64();
    let why = if is_near(sampled.saturating_add(known), ran) {
        ""
    } else {
        " (timers run out only at ticks of the kernel: threads that live for less are hardly seen, and those that run \
         in step with ticks too seldom or too often)"
    };
    format!(
        ", which stand for {:.2} of {:.2} s that threads ran{why}",
        seconds(sampled),
        seconds(ran)
    )
}

fn is_near(sampled: u64, ran: u64) -> bool {
    let (least, most) = NEAR;
    let share = u128::from(sampled).saturating_mul(100);
    let of = |hundredths: u128| u128::from(ran).saturating_mul(hundredths);
    (of(least)..=of(most)).contains(&share)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn nothing_is_said_of_a_share_that_is_near() {
        assert_eq!(said(7 * SECOND, 10 * SECOND, 0), "");
        assert_eq!(said(13 * SECOND, 10 * SECOND, 0), "");
    }

    #[test]
    fn a_share_that_is_far_is_said_with_the_reasons_that_are_not_told_besides() {
        let few = said(6 * SECOND, 10 * SECOND, 0);
        assert!(few.starts_with(", which stand for 6.00 of 10.00 s that threads ran ("), "{few}");
        assert!(said(14 * SECOND, 10 * SECOND, 0).contains("14.00 of 10.00 s that threads ran ("));
        let blocked = said(0, 10 * SECOND, 10 * SECOND);
        assert_eq!(blocked, ", which stand for 0.00 of 10.00 s that threads ran");
    }

    #[test]
    fn that_no_thread_ran_is_said_only_where_none_did() {
        assert_eq!(said(0, NOTHING - 1, 0), ", no thread ran for as long as 1 ms");
        assert!(said(0, SECOND / 10, 0).starts_with(", which stand for 0.00 of 0.10 s"));
    }
}
