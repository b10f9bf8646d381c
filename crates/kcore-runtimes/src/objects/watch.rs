//! Long work over many objects, which the caller may stop.

use std::ops::ControlFlow;

/// Called now and then during long work, with how much is done and how much there is in all; the latter is 0 if that is
/// not known. It may stop the work.
pub type Watch<'w> = &'w mut dyn FnMut(u64, u64) -> ControlFlow<()>;

/// The work was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("stopped by whoever watched it")]
pub struct Stopped;
