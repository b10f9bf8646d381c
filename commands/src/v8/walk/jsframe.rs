//! The `jsframe` walker.

use kcore::MAX_FRAMES;
use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use crate::thread_operand::thread_of_dot;
use crate::v8::frames::{self, StackEntry};
use crate::v8::subject;

/// Steps over the JavaScript frames of a thread, innermost first.
pub struct Jsframe;

impl Walker for Jsframe {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the JavaScript frames of a thread, each by its frame pointer";
        WalkerSpec { name: "jsframe", summary, addr: AddrUse::Optional }
    }

    fn walk(&self, cx: &mut Cx<'_>, from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let core = cx.core();
        let v8s = subject::instances(core)?;
        let is_thread = |dot: &Dot| matches!(dot, Dot::Thread(_) | Dot::Frame { .. });
        let tid = match from {
            None => cx.current_thread()?,
            Some(dot) if is_thread(&dot) => thread_of_dot(cx, dot)?,
            Some(dot) => match core.stacks().thread_at(dot.addr()) {
                Some(tid) => tid,
                None => thread_of_dot(cx, dot)?,
            },
        };
        let stack = core.stacks().of_thread(tid, MAX_FRAMES);
        let mut last = None;
        for shown in frames::of_stack(core, &v8s, &stack, false) {
            let StackEntry::Js(frame) = shown else { continue };
            let index = frame.named.physical;
            // What is inlined has the frame of the function that holds it.
            if last.replace(index) != Some(index)
                && let Some(fp) = frame.named.frame_pointer()
            {
                visit(cx, Dot::Frame { fp, tid, index })?;
            }
        }
        Ok(())
    }
}
