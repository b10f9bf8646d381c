//! How much long work does between two looks at a user who may have pressed ctrl-C.

use std::time::Duration;

/// How long one step takes, about, however slow the disk is.
const STEP: Duration = Duration::from_millis(30);

/// How many items the next step takes. What is found does not depend on it.
#[derive(Debug)]
pub struct Pace {
    items: usize,
    max: usize,
}

impl Pace {
    /// Begins with one item, so that the first answers come at once.
    pub const fn new(max: usize) -> Self {
        Self { items: 1, max }
    }

    /// How many items come next.
    pub const fn items(&self) -> usize {
        self.items
    }

    /// Adapts to the time that a step took.
    pub fn took(&mut self, time: Duration) {
        self.items = if time > STEP { self.items / 2 } else { self.items.saturating_mul(2) };
        self.items = self.items.clamp(1, self.max);
    }

    /// Begins again with one item.
    pub const fn restart(&mut self) {
        self.items = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_grow_while_they_are_quick() {
        let mut pace = Pace::new(4);
        let mut after = |time| {
            pace.took(time);
            pace.items()
        };
        let (quick, slow) = (Duration::ZERO, STEP * 2);
        assert_eq!([after(quick), after(quick), after(quick), after(slow)], [2, 4, 4, 2]);
        assert_eq!([after(slow), after(slow)], [1, 1]);
    }
}
