//! How a line, a script or a session ended.

/// How text of the language ended: whether a command failed, and whether what follows runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    failed: bool,
    stop: Option<Stop>,
}

/// Why what follows does not run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The user pressed ctrl-C.
    Interrupted,
    /// The time of one command is over. What follows that command runs.
    OutOfTime,
    /// The user has seen enough of one command. What follows that command runs.
    Enough,
    /// The user has seen enough of the line.
    Abandoned,
    /// Nobody reads the output any more. Not a failure.
    Closed,
    /// A stage was called wrongly, or what it ran as text failed: the stages behind it do not run.
    EndOfPipeline,
    /// A macro file ends before its last line.
    EndOfMacro,
    /// The user asked to leave.
    Quit,
}

impl Status {
    /// Everything was done.
    pub const DONE: Self = Self { failed: false, stop: None };

    /// A command failed; what follows runs.
    pub const FAILED: Self = Self { failed: true, stop: None };

    /// A command failed so that its pipeline ends; what follows the pipeline runs.
    pub(crate) const ABORTED: Self = Self { failed: true, stop: Some(Stop::EndOfPipeline) };

    /// Stopped, without a failure.
    pub const fn stopped(stop: Stop) -> Self {
        Self { failed: false, stop: Some(stop) }
    }

    /// Whether a command failed.
    pub const fn failed(self) -> bool {
        self.failed
    }

    /// Why what follows does not run.
    pub const fn stop(self) -> Option<Stop> {
        self.stop
    }

    /// Whether what follows does not run.
    pub const fn stops(self) -> bool {
        self.stop.is_some()
    }

    /// The status for what follows a command: who has seen enough of it wants the next one, which has time of
    /// its own.
    #[must_use]
    pub(crate) const fn after_enough(self) -> Self {
        match self.stop {
            Some(Stop::Enough | Stop::OutOfTime) => Self { stop: None, ..self },
            _ => self,
        }
    }

    /// The same status; that of a failure if `failed`.
    #[must_use]
    pub(crate) const fn or_failed(self, failed: bool) -> Self {
        Self { failed: self.failed || failed, ..self }
    }

    /// The status for what follows a pipeline that ended as `self`.
    #[must_use]
    pub(crate) const fn out_of_pipeline(self) -> Self {
        match self.stop {
            Some(Stop::EndOfPipeline) => Self { stop: None, ..self },
            _ => self,
        }
    }

    /// The status for what follows a shell command that fed on what ended as `self`: that it read no
    /// further, such as head, is no reason to stop.
    #[must_use]
    pub(crate) const fn out_of_shell(self) -> Self {
        match self.stop {
            Some(Stop::Closed) => Self { stop: None, ..self },
            _ => self,
        }
    }

    /// The status of what called a macro file that ended as `self`.
    #[must_use]
    pub(crate) const fn out_of_macro(self) -> Self {
        match self.stop {
            Some(Stop::EndOfMacro) => Self { stop: None, ..self },
            _ => self,
        }
    }

    /// The status of what ended as `self` and then as `next`.
    #[must_use]
    pub const fn then(self, next: Self) -> Self {
        Self { failed: self.failed || next.failed, stop: next.stop }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_remembered() {
        assert_eq!(Status::FAILED.then(Status::DONE), Status::FAILED);
        assert_eq!(Status::DONE.then(Status::FAILED), Status::FAILED);
        let left = Status::FAILED.then(Status::stopped(Stop::Quit));
        assert!(left.failed() && left.stops());
        assert!(!Status::stopped(Stop::Closed).failed());
    }
}
