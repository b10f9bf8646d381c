//! When a task is cancelled: `CancelStatus` and `CancelScope` of `trio/_core/_run.py`.

use super::{super::heap::Object, clock::Clock, fields::Fields};
use crate::tokio::Deadline;

/// Cancel scopes around each other, at most.
const MAX_SCOPES: usize = 4096;

/// What ends the wait of a task in any case, as `trio.current_effective_deadline` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Nothing ends it, as far as is known.
    None,
    /// A cancel scope, at this time.
    At(Deadline),
    /// It is cancelled.
    Cancelled,
}

impl Limit {
    /// The time, if it is one.
    pub const fn deadline(self) -> Option<Deadline> {
        match self {
            Self::At(deadline) => Some(deadline),
            Self::None | Self::Cancelled => None,
        }
    }

    /// That of the tasks with a cancel status.
    pub(super) fn of(fields: &mut Fields<'_>, clock: Clock, status: Object) -> Self {
        let mut earliest = f64::INFINITY;
        let mut next = Some(status);
        for _ in 0..MAX_SCOPES {
            let Some(status) = next else { break };
            if fields.is_true(status, "effectively_cancelled") {
                return Self::Cancelled;
            }
            let Some(scope) = fields.get(status, "_scope") else { break };
            earliest = earliest.min(fields.float(scope, "_deadline").unwrap_or(f64::INFINITY));
            next = match fields.is_true(scope, "_shield") {
                true => None,
                false => fields.get(status, "_parent"),
            };
        }
        clock.deadline(earliest).map_or(Self::None, Self::At)
    }
}

/// When the innermost cancel scope around a task ends.
pub(super) enum Innermost {
    /// Never by itself.
    Never,
    At(Deadline),
    Unknown,
}

/// The deadline of the innermost cancel scope that a task is in.
pub(super) fn innermost(fields: &mut Fields<'_>, clock: Clock, task: Object) -> Innermost {
    let status = fields.get(task, "_cancel_status");
    let scope = status.and_then(|status| fields.get(status, "_scope"));
    match scope.and_then(|scope| fields.float(scope, "_deadline")) {
        Some(time) if time == f64::INFINITY => Innermost::Never,
        time => {
            time.and_then(|time| clock.deadline(time)).map_or(Innermost::Unknown, Innermost::At)
        }
    }
}
