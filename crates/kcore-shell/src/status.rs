//! How a line, a script or a session ended.

/// How text of the language ended. Of several statements the last grave one counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Everything was done.
    Done,
    /// A command failed; those after it ran.
    Failed,
    /// The user pressed ctrl-C: what followed on the line did not run.
    Interrupted,
    /// Nobody reads the output any more: what followed did not run. Not a failure.
    Closed,
    /// The user asked to leave.
    Quit,
}

impl Status {
    /// Whether what follows does not run.
    pub const fn stops(self) -> bool {
        matches!(self, Self::Interrupted | Self::Closed | Self::Quit)
    }

    /// The status of what ended as `self` and then as `next`.
    #[must_use]
    pub const fn then(self, next: Self) -> Self {
        match (self, next) {
            (Self::Failed, Self::Done) => Self::Failed,
            _ => next,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_remembered() {
        assert_eq!(Status::Failed.then(Status::Done), Status::Failed);
        assert_eq!(Status::Done.then(Status::Failed), Status::Failed);
        assert_eq!(Status::Failed.then(Status::Quit), Status::Quit);
    }
}
