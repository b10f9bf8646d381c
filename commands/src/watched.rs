//! Long work that shows how far it is, and that the user may stop.

use std::ops::ControlFlow;

use kcore::objects::{Stopped, Watch};
use kcore_dcmd::{Cx, DcmdError, Result};

/// Does long work.
///
/// # Errors
/// When the user stopped it.
pub fn watched<T>(
    cx: &mut Cx<'_>,
    work: impl FnOnce(Watch<'_>) -> Result<T, Stopped>,
) -> Result<T> {
    let mut watch = |done, total| {
        if total > 0 {
            cx.progress(done, total);
        }
        match cx.check_interrupt() {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    };
    work(&mut watch).map_err(|Stopped| DcmdError::Interrupted)
}
