//! Long work over many objects, which whoever waits for it may stop.

use std::ops::ControlFlow;

/// What is told while long work goes on: what is done, of how much; 0 of it where nobody knows how much there is. Whoever
/// is told may stop it.
pub type Watch<'w> = &'w mut dyn FnMut(u64, u64) -> ControlFlow<()>;

/// The work was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("stopped by whoever watched it")]
pub struct Stopped;
