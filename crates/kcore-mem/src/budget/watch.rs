//! Looking at the clock in loops that build what is kept.

use std::fmt;

use super::Budget;

/// Steps between two looks.
const EVERY: u32 = 1 << 12;
/// Items that are sorted at a time: that takes some 10 milliseconds.
const AT_ONCE: usize = 1 << 18;

/// Looks at a budget every few thousand steps. Charges nothing.
pub struct Watch {
    budget: Budget,
    steps: u32,
}

impl Watch {
    /// Looks at this budget.
    pub fn new(budget: &Budget) -> Self {
        Self { budget: budget.clone(), steps: 0 }
    }

    /// Counts a step; whether the command has to end.
    pub fn is_over(&mut self) -> bool {
        self.steps = self.steps.wrapping_add(1);
        self.steps.is_multiple_of(EVERY) && self.budget.halt().is_some()
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("steps", &self.steps).finish_non_exhaustive()
    }
}

/// The items in order, equal ones as they stood; `None` when the command has to end meanwhile. More than some hundred
/// thousand are sorted in runs, two of which are merged at a time then.
pub fn sorted_within<T: Ord>(mut items: Vec<T>, budget: &Budget) -> Option<Vec<T>> {
    if items.is_sorted() {
        return Some(items);
    }
    let (mut len, is_long) = (AT_ONCE, items.len() > AT_ONCE);
    loop {
        for run in items.chunks_mut(len) {
            if is_long && budget.halt().is_some() {
                return None;
            }
            // Of two sorted runs this is a merge, which takes one step for each item.
            run.sort();
        }
        if len >= items.len() {
            return Some(items);
        }
        len = len.saturating_mul(2);
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::atomic::Ordering, time::Duration};

    use super::*;
    use crate::Allowance;

    fn over() -> Budget {
        Budget::new(Allowance { time: Some(Duration::ZERO), ..Allowance::default() })
    }

    /// Numbers in no order, many of them twice.
    fn numbers(count: u32) -> Vec<(u32, u32)> {
        (0..count).map(|at| ((at ^ 0x1555) % 1000, at)).collect()
    }

    #[test]
    fn what_is_sorted_in_runs_is_sorted() {
        for count in [9000, 1 << 18, (3 << 18) + 5] {
            let mut sorted = numbers(count);
            assert!(!sorted.is_sorted());
            let within = sorted_within(sorted.clone(), &Budget::default());
            sorted.sort();
            assert_eq!(within, Some(sorted));
        }
    }

    #[test]
    fn a_long_loop_and_a_long_sort_end_with_the_time() {
        let mut watch = Watch::new(&over());
        let steps = (0..1_000_000).take_while(|_| !watch.is_over()).count();
        assert!((1..10_000).contains(&steps), "{steps}");
        assert_eq!(sorted_within(numbers(1 << 19), &over()), None);
        let budget = Budget::default();
        budget.interrupt().store(true, Ordering::SeqCst);
        assert_eq!(sorted_within(numbers(1 << 19), &budget), None);
        assert!(!Watch::new(&budget).is_over(), "what is small is never cut");
    }
}
