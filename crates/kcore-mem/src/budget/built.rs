//! What is built once and kept, unless the command that built it had to end.

use std::{fmt, sync::OnceLock};

use super::Budget;

/// A value that is built when it is first asked for. If the command had to end meanwhile, its readers have stopped,
/// so that the value may lack something: that command keeps it, and the next one builds it anew.
///
/// What was given out lives as long as this, so a halted command costs what it had built until then.
pub struct Built<T>(OnceLock<Box<Attempt<T>>>);

struct Attempt<T> {
    value: T,
    is_whole: bool,
    next: Built<T>,
}

impl<T> Built<T> {
    /// Nothing is built yet.
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// A value that is whole.
    pub fn of(value: T) -> Self {
        Self(OnceLock::from(Box::new(Attempt { value, is_whole: true, next: Self::new() })))
    }

    /// The value, if all of it was built.
    pub fn get(&self) -> Option<&T> {
        self.attempts().find(|attempt| attempt.is_whole).map(|attempt| &attempt.value)
    }

    /// Keeps a whole value, if nothing was built before.
    pub fn set(&self, value: T) {
        self.0.get_or_init(|| Box::new(Attempt { value, is_whole: true, next: Self::new() }));
    }

    /// Whether it was built, and no time yet wholly.
    pub fn is_partial(&self) -> bool {
        self.0.get().is_some() && self.get().is_none()
    }

    /// The value. `build` is called without one, and where a former command had to end while it was built. It must
    /// stop soon after `budget` says so.
    pub fn get_or_build(&self, budget: &Budget, build: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        let mut place = self;
        while let Some(attempt) = place.0.get() {
            if attempt.next.0.get().is_none() && budget.halt().is_some() {
                return &attempt.value;
            }
            place = &attempt.next;
        }
        let attempt = place.0.get_or_init(|| {
            let value = build();
            // Who asked the budget last may have been one that the build called.
            Box::new(Attempt { value, is_whole: !budget.is_halted(), next: Self::new() })
        });
        &attempt.value
    }

    /// Takes the value out, and forgets what was built.
    pub fn take(&mut self) -> Option<T> {
        let mut next = self.0.take();
        while let Some(mut attempt) = next {
            next = attempt.next.0.take();
            if attempt.is_whole {
                return Some(attempt.value);
            }
        }
        None
    }

    fn attempts(&self) -> impl Iterator<Item = &Attempt<T>> {
        std::iter::successors(self.0.get(), |attempt| attempt.next.0.get()).map(AsRef::as_ref)
    }
}

impl<T> Drop for Built<T> {
    /// One by one: each within the one before would take as much stack as there were halted commands.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(mut attempt) = next {
            next = attempt.next.0.take();
        }
    }
}

impl<T> Default for Built<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for Built<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Built").field(&self.get()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    /// A build that stops when it has to.
    fn up_to(budget: &Budget, count: u32) -> u32 {
        (0..count).take_while(|_| budget.halt().is_none()).count() as u32
    }

    #[test]
    fn what_a_halted_command_built_is_its_own_and_the_next_one_builds_anew() {
        let (budget, built) = (Budget::default(), Built::new());
        let interrupt = |on| budget.interrupt().store(on, Ordering::SeqCst);
        interrupt(true);
        assert_eq!(*built.get_or_build(&budget, || up_to(&budget, 7)), 0);
        assert_eq!(*built.get_or_build(&budget, || unreachable!()), 0);
        assert!(built.is_partial() && built.get().is_none());
        interrupt(false);
        assert_eq!(*built.get_or_build(&budget, || up_to(&budget, 7)), 7);
        interrupt(true);
        assert_eq!(*built.get_or_build(&budget, || unreachable!()), 7);
        assert_eq!((built.is_partial(), built.get()), (false, Some(&7)));
    }

    #[test]
    fn any_number_of_halted_commands_is_dropped() {
        let (budget, built) = (Budget::default(), Built::new());
        let mut last = &built;
        for _ in 0..1 << 18 {
            budget.interrupt().store(false, Ordering::SeqCst);
            last.get_or_build(&budget, || budget.interrupt().store(true, Ordering::SeqCst));
            last = &last.0.get().unwrap().next;
        }
        drop(built);
    }
}
