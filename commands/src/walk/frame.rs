//! The `frame` walker.

use kcore::MAX_FRAMES;
use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use crate::thread_operand::thread_of_dot;

/// Steps over the frames of a thread, innermost first.
pub struct Frame;

impl Walker for Frame {
    fn spec(&self) -> WalkerSpec {
        WalkerSpec {
            name: "frame",
            summary: "walk the frames of a thread, or the callers of a frame",
            addr: AddrUse::Optional,
        }
    }

    fn walk(&self, cx: &mut Cx<'_>, from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let core = cx.core();
        // From a frame the walk goes on with its caller.
        let (tid, skipped) = match from {
            None => (cx.current_thread()?, 0),
            Some(Dot::Frame { tid, index, .. }) => (tid, index.saturating_add(1)),
            Some(dot) => (thread_of_dot(cx, dot)?, 0),
        };
        let stack = core.stack(tid, MAX_FRAMES);
        stack.frames.iter().enumerate().skip(skipped).try_for_each(|(index, frame)| {
            match frame.frame_pointer {
                Some(fp) => visit(cx, Dot::Frame { fp, tid, index }),
                None => Ok(()),
            }
        })
    }
}
