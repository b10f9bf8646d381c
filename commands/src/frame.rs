//! `::frame`: shows or chooses a frame of the current thread.

use kcore::MAX_FRAMES;
use kcore_dcmd::{AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Dot, Example, Group, Result, Spec};

use crate::stack_record::{FrameLine, Layout};

/// Shows or chooses the frame that registers refer to.
pub struct Frame;

const HELP: &str = "\
Frames are counted from 0, the innermost one, as ::stack lists them, in decimal. The chosen frame is \
the one whose registers <rip, <rbx and $r give, as far as it saved them. Choosing a thread chooses its \
innermost frame.";

impl Dcmd for Frame {
    fn spec(&self) -> Spec {
        Spec::new("frame", Group::Stacks, "show or choose a frame of the current thread")
            .addr(AddrUse::Optional)
            .operands("[number]", 0, 1)
            .help(HELP)
            .examples(&[Example { line: "::frame 1", shows: "the caller of the innermost frame" }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        if let Some(Dot::Frame { tid, .. }) = cx.addr() {
            cx.shell_mut().set_current_thread(tid);
        }
        let tid = cx.current_thread()?;
        let physical = match cx.addr() {
            Some(Dot::Frame { index, .. }) => Some(index),
            _ => None,
        };
        let wanted = number(args)?;
        let current = physical.unwrap_or_else(|| cx.shell().current_frame());
        // A frame is shown as one line or, with inlined calls, more: its number is never less.
        let stack = core.stack(tid, wanted.unwrap_or(current).saturating_add(1).min(MAX_FRAMES));
        let frame = core
            .named_frames(&stack.frames)
            .find(|frame| match wanted {
                Some(wanted) => frame.index == wanted,
                None => frame.physical == current,
            })
            .ok_or_else(|| {
                let number = wanted.unwrap_or(current);
                DcmdError::failed(format!("thread {tid} has no frame {number}"))
            })?;
        cx.shell_mut().set_current_frame(frame.physical);
        cx.emit(&FrameLine::new(tid, frame, Layout::Verbose))
    }
}

fn number(args: &Args) -> Result<Option<usize>> {
    match args.first() {
        None => Ok(None),
        Some(Arg::Number(number)) => Ok(usize::try_from(*number).ok()),
        Some(Arg::Text(text)) => text.parse().map(Some).map_err(|_| {
            DcmdError::usage(format!(
                "invalid frame number -- {text} (frames are counted in decimal)"
            ))
        }),
    }
}
