//! `::frame`: shows or chooses a frame of the current thread.

use kcore::NamedFrame;
use kcore_dcmd::{
    AddrUse, Args, Cx, Dcmd, DcmdError, Dot, Example, Group, Opt, Result, Spec,
    stack::{Layout, ValueReader, VariableChoice},
};

use crate::{frame_operand::FrameOperand, names::Names, operand, source_text};

/// Shows or chooses the frame that registers refer to.
pub struct Frame;

const HELP: &str = "\
Frames are counted from 0, the innermost one, as ::stack lists them, in decimal. The chosen frame is \
the one whose registers <rip, <rbx and $r give, as far as it saved them; of a function that ended by a tail call \
nothing keeps them, and they are those of the frame that it led to. Choosing a thread chooses its \
innermost frame. A thread or task before ::frame, from a pipe or by its id, says whose frames are meant, and an \
address which one: the frame whose pointer $C prints so. Of a pipe of threads or tasks each one's frame is \
shown, and none chosen; a frame of a task that no thread runs is shown, and cannot be chosen.

With -s the source text round the frame's line is shown, where the file is at hand: below --sysroot, as \
recorded, in the folder of the core or of the executable. With --sysroot alone and with --untrusted no file of \
this machine is shown just because debug information names it. `>` marks the line.";

const OPTIONS: &[Opt] = &[
    Opt { flag: 'v', value: None, help: "its arguments and locals as well" },
    Opt { flag: 's', value: None, help: "the source text round its line as well" },
    Opt { flag: 'n', value: Some("lines"), help: "so many lines before and after it, else 5" },
];

const EXAMPLES: &[Example] =
    &[Example { line: "::frame 1", shows: "the caller of the innermost frame" }];

impl Dcmd for Frame {
    fn spec(&self) -> Spec {
        Spec::new("frame", Group::Stacks, "show or choose a frame of a thread")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .operands("[number]", 0, 1)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        let meant = FrameOperand::of(cx)?;
        let wanted = number(args)?;
        // A frame is shown as one line or, with inlined calls, more: its number is never less.
        let stack = meant.stack(core, wanted);
        let frame = core
            .named_frames(&stack)
            .find(|frame| match wanted {
                Some(wanted) => frame.index == wanted,
                None => frame.physical == meant.index,
            })
            .ok_or_else(|| {
                let number = wanted.unwrap_or(meant.index);
                DcmdError::failed(format!("{} has no frame {number}", meant.whose()))
            })?;
        choose(cx, &meant, &frame);
        let location = frame.location.clone();
        let wanted = if args.has('v') { VariableChoice::All } else { VariableChoice::Arguments };
        let values = ValueReader::new(core, &stack, wanted).of(&frame);
        let line = Names::new(cx).frame_line(meant.tid(), frame, Layout::Verbose);
        cx.emit(&line.with(values, core.target().endian))?;
        if args.has('s') {
            source_text::emit(cx, &location, lines_around(args)?)?;
        }
        Ok(())
    }
}

/// Makes the frame the current one. Of several threads or tasks none is chosen: their frames are shown; nor is
/// a frame that no thread runs, for registers are those of threads.
fn choose(cx: &mut Cx<'_>, meant: &FrameOperand, frame: &NamedFrame) {
    let Some(tid) = meant.tid() else { return };
    let is_of_several =
        cx.input().looped && matches!(cx.addr(), Some(Dot::Thread(_) | Dot::Task(_)));
    if is_of_several {
        return;
    }
    if cx.addr().is_some() {
        cx.shell_mut().set_current_thread(tid);
    }
    cx.shell_mut().set_current_frame(frame.physical, frame.index);
}

/// The value of `-n`, in decimal.
fn lines_around(args: &Args) -> Result<u64> {
    let Some(value) = args.value('n') else { return Ok(5) };
    let lines = operand::as_decimal(value).map(|lines| lines as u64);
    let most = source_text::MAX_AROUND;
    lines.filter(|lines| *lines <= most).ok_or_else(|| {
        let value = value.to_text();
        DcmdError::usage(format!("invalid number of lines -- {value} (at most {most})"))
    })
}

fn number(args: &Args) -> Result<Option<usize>> {
    let Some(word) = args.first() else { return Ok(None) };
    operand::as_decimal(word).map(Some).ok_or_else(|| {
        let text = word.to_text();
        DcmdError::usage(format!("invalid frame number -- {text} (frames are counted in decimal)"))
    })
}
