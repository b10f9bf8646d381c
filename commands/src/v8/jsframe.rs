//! `::jsframe` — one frame of JavaScript.

use kcore::{Addr, Core, MAX_FRAMES, Tid};
use kcore_dcmd::{AddrUse, Args, Cx, Dcmd, DcmdError, Dot, Example, Group, Opt, Result, Spec};

use super::frame_options::{self, FrameOptions};
use super::{frames, subject};

const OPTIONS: &[Opt] = &[
    Opt { flag: 'a', value: None, help: "also show the frame pointer and the function object" },
    Opt {
        flag: 'i',
        value: None,
        help: "show the frame at the address, not the one to which it points",
    },
    frame_options::VERBOSE,
    frame_options::FUNCTION,
    frame_options::PROPERTY,
    frame_options::LINES,
];

const HELP: &str = "\
The address is a frame pointer, as $C prints it. ::jsframe shows the frame to which it points, \
the caller. With -i, or for a frame from a pipe, it shows the frame of that frame pointer itself. \
The output is that of ::jsstack.";

const EXAMPLES: &[Example] = &[
    Example { line: "::walk jsframe | ::jsframe -vn 0", shows: "each JavaScript frame" },
    Example {
        line: "<rsp::walk jsframe | ::jsframe -p posn",
        shows: "the source line of each frame",
    },
];

/// Prints one frame.
pub struct Jsframe;

impl Dcmd for Jsframe {
    fn spec(&self) -> Spec {
        Spec::new("jsframe", Group::Runtimes, "print one JavaScript frame")
            .addr(AddrUse::Required)
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        let options = FrameOptions::new(args)?;
        let v8s = subject::instances(core)?;
        let (tid, at) = frame_at(cx, args.has('i'))?;
        let mut stack = core.stacks().of_thread(tid, MAX_FRAMES);
        let physical = stack.frames.iter().position(|frame| frame.frame_pointer == Some(at));
        let physical = physical
            .ok_or_else(|| DcmdError::at(at, format!("no frame has the frame pointer {at:x}")))?;
        stack.keep(0..physical.saturating_add(2));
        let shown = frames::of_stack(core, &v8s, &stack, true);
        let of_it = shown.iter().filter(|row| is_of(row, physical));
        of_it.into_iter().try_for_each(|row| options.emit(cx, row, Some(tid)))
    }
}

fn is_of(row: &frames::StackEntry, physical: usize) -> bool {
    match row {
        frames::StackEntry::Js(frame) => frame.named.physical == physical,
        frames::StackEntry::Native(named) | frames::StackEntry::Internal(named, _) => {
            named.physical == physical
        }
        frames::StackEntry::Elided(_) => false,
    }
}

/// The thread and frame pointer of the frame that is asked for.
fn frame_at(cx: &Cx<'_>, is_exact: bool) -> Result<(Tid, Addr)> {
    let core: &Core = cx.core();
    let dot = cx.addr().unwrap_or_default();
    if let Dot::Frame { tid, fp, .. } = dot {
        return Ok((tid, fp));
    }
    let at = dot.addr();
    let tid = core.stacks().thread_at(at).map_or_else(|| cx.current_thread(), Ok)?;
    let at = if is_exact { at } else { Addr::new(core.space().read_word(at)?) };
    Ok((tid, at))
}
