//! What the paths through some code say together.

use super::outcome::Outcome;

/// Callers that paths lead to, and are told apart.
const MAX_OUTCOMES: usize = 3;

/// The callers to which the paths through some code lead.
#[derive(Clone, Copy, Debug)]
pub struct Paths {
    outcomes: [Option<Outcome>; MAX_OUTCOMES],
    doubtful: Option<Outcome>,
    is_complete: bool,
    never_returns: bool,
}

impl Paths {
    /// No path was followed.
    pub const NONE: Self = Self {
        outcomes: [None; MAX_OUTCOMES],
        doubtful: None,
        is_complete: false,
        never_returns: false,
    };

    pub(super) const fn new() -> Self {
        Self { is_complete: true, ..Self::NONE }
    }

    /// Says that a path could not be followed to its end.
    pub(super) const fn give_up(&mut self) {
        self.is_complete = false;
    }

    /// Adds where a path ended. `is_doubtful`: it may have left the function where a call did not return.
    pub(super) fn add(&mut self, outcome: Outcome, is_doubtful: bool) {
        if is_doubtful {
            self.doubtful.get_or_insert(outcome);
        } else if !outcome.is_useful() {
            self.give_up();
        } else if let Some(same) = self.outcomes.iter_mut().flatten().find(|o| o.agrees(&outcome)) {
            same.merge(&outcome);
        } else if let Some(room) = self.outcomes.iter_mut().find(|room| room.is_none()) {
            *room = Some(outcome);
        } else {
            self.give_up();
        }
    }

    pub(super) const fn finish(&mut self) {
        self.never_returns =
            self.is_complete && self.doubtful.is_none() && self.outcomes[0].is_none();
    }

    /// The caller to which all paths lead.
    pub fn agreed(&self) -> Option<&Outcome> {
        let [first, second, ..] = &self.outcomes;
        first.as_ref().filter(|_| second.is_none() && self.is_complete)
    }

    /// The caller to which all those paths lead that could be followed.
    pub fn only(&self) -> Option<&Outcome> {
        let [first, second, ..] = &self.outcomes;
        first.as_ref().filter(|_| second.is_none())
    }

    /// All callers that a path leads to, the surest first.
    pub fn all(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().flatten().chain(self.doubtful.iter().filter(|o| o.is_useful()))
    }

    /// Whether every path was followed, and none comes to a return.
    pub const fn never_returns(&self) -> bool {
        self.never_returns
    }
}
