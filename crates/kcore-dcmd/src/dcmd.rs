//! The debugger command itself.

use crate::{Args, Cx, Result, Spec};

/// A debugger command.
///
/// It is stateless: what it knows of the target it asks [`Cx::core`], what it found it emits.
pub trait Dcmd: Sync {
    /// What it is called, takes and means.
    fn spec(&self) -> Spec;

    /// Runs once: for one address, or once for all of a pipe where its spec says so.
    ///
    /// # Errors
    /// See [`DcmdError`](crate::DcmdError): a failure, a wrong call, or that it was stopped.
    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()>;
}
