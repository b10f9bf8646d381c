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
Frames are numbered from 0, the innermost one, in decimal, as ::stack lists them. <rip, <rbx and \
$r give the registers of the chosen frame, as far as they were saved. Nothing keeps the registers \
of a function that ended by a tail call; you see those of the frame that it led to. Choosing a \
thread chooses its innermost frame.

The address is a thread or task, from a pipe or by its id, and the number then counts its frames. \
It may also be the frame pointer of a frame, as $C prints it. For a pipe of threads or tasks, \
::frame shows the frame of each one and chooses none. A frame of a task that no thread runs can \
be shown, but not chosen.

-s shows the source text around the frame's line, if the file is at hand. kcore looks below \
--sysroot, at the recorded path, and in the folders of the core and of the executable. With \
--sysroot or --untrusted, kcore opens no file of this machine only because debug information \
names it. `>` marks the line.";

const OPTIONS: &[Opt] = &[
    Opt { flag: 'v', value: None, help: "also show its arguments and locals" },
    Opt { flag: 's', value: None, help: "also show the source text around its line" },
    Opt {
        flag: 'n',
        value: Some("lines"),
        help: "show this many lines before and after it (default 5)",
    },
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
            .stacks()
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
        let values = ValueReader::new(core, &stack, wanted)
            .with_integers(cx.shell().settings().integers())
            .of(&frame);
        let line = Names::new(cx).frame_line(meant.tid(), frame, Layout::Verbose);
        let line = line.of_task(meant.suspended());
        cx.emit(&line.with(values, core.target().endian))?;
        if args.has('s') {
            source_text::emit(cx, &location, lines_around(args)?)?;
        }
        Ok(())
    }
}

/// Makes the frame the current one. After a pipe of threads or tasks, frames are shown and none is
/// chosen. A frame that no thread runs is never chosen, because registers are those of threads.
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
