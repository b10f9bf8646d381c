//! `::findstack` — the stack of a thread as MDB shows it, or of every thread that passes a filter.

use std::collections::HashSet;

use kcore::{MAX_FRAMES, Tid};
use kcore_dcmd::{
    AddrUse, Arg, Args, Cell, Cx, Dcmd, Dot, Example, Fields, Group, Opt, Record, Result, Spec,
    View,
    stack::{FrameLine, Layout, StackBegin, StackEnd, ValueReader, VariableChoice},
};

use crate::{names::Names, stack_filter::StackFilter, thread_operand::thread_of};

/// Prints the stack of a thread with its innermost frame in brackets.
pub struct Findstack;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'v', value: None, help: "also show arguments, where they are known" },
    Opt {
        flag: 'c',
        value: Some("function"),
        help: "every thread that has this function in its stack",
    },
    Opt {
        flag: 'm',
        value: Some("object"),
        help: "every thread that has code of this object in its stack",
    },
];

const HELP: &str = "\
The thread is the one given as address, or else the current one. -c and -m show every thread \
whose stack passes the filter; after a pipe, only threads of the pipe. Dot is left at the frame \
pointer of the innermost frame. If you give a command, it runs with dot at that frame pointer, \
and its output replaces the outer frames.";

const EXAMPLES: &[Example] = &[
    Example { line: "::walk thread | ::findstack", shows: "the stack of every thread" },
    Example { line: "::findstack -c main", shows: "the stacks that contain main" },
    Example { line: "::findstack '/2K'", shows: "two words at the innermost frame's pointer" },
];

impl Dcmd for Findstack {
    fn spec(&self) -> Spec {
        Spec::new("findstack", Group::Stacks, "find the stack of a thread")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .operands("[command]", 0, usize::MAX)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let words: Vec<String> = args.operands().iter().map(Arg::to_text).collect();
        let command = (!words.is_empty()).then(|| words.join(" "));
        let with_arguments = args.has('v');
        threads(cx, args)?
            .into_iter()
            .try_for_each(|tid| show(cx, tid, command.as_deref(), with_arguments))
    }
}

/// The wanted thread, or all threads that pass the filter.
fn threads(cx: &Cx<'_>, args: &Args) -> Result<Vec<Tid>> {
    let filtered = args.has('c') || args.has('m');
    let tids = match filtered && cx.addr().is_none() {
        true => cx.core().tids(),
        false => vec![thread_of(cx)?],
    };
    if !filtered {
        return Ok(tids);
    }
    let core = cx.core();
    let filter = StackFilter::new(cx, args)?;
    let groups = core.stacks().groups(&tids, &[], MAX_FRAMES);
    let passing = groups.iter().filter(|group| filter.admits(core, group));
    let passing: HashSet<Tid> = passing.flat_map(|group| group.tids.iter().copied()).collect();
    Ok(tids.into_iter().filter(|tid| passing.contains(tid)).collect())
}

fn show(cx: &mut Cx<'_>, tid: Tid, command: Option<&str>, with_arguments: bool) -> Result<()> {
    match command {
        None => show_stack(cx, tid, with_arguments),
        Some(command) => show_first(cx, tid, command),
    }
}

fn show_stack(cx: &mut Cx<'_>, tid: Tid, with_arguments: bool) -> Result<()> {
    let core = cx.core();
    let stack = core.stacks().of_thread(tid, MAX_FRAMES);
    let current = cx.shell().current_thread() == Some(tid);
    let first = stack.frames.first().and_then(|frame| frame.frame_pointer);
    if let Some(fp) = first {
        cx.shell_mut().set_dot(Dot::Frame { fp, tid, index: 0 }, 0);
    }
    cx.begin(&StackBegin::new(core, tid, current, false).found_at(first), "frames")?;
    let names = Names::new(cx);
    let wanted =
        if cx.is_for_people() { VariableChoice::BareArguments } else { VariableChoice::Arguments };
    let values = with_arguments.then(|| {
        ValueReader::new(core, &stack, wanted).with_integers(cx.shell().settings().integers())
    });
    for frame in core.stacks().named_frames(&stack) {
        let layout = if frame.index == 0 { Layout::Bracketed } else { Layout::Found };
        let values = values.as_ref().map(|values| values.of(&frame)).unwrap_or_default();
        let line = names.frame_line(Some(tid), frame, layout);
        cx.emit(&line.with(values, core.target().endian))?;
    }
    cx.end(&StackEnd::new(core, &stack, Layout::Found))
}

fn show_first(cx: &mut Cx<'_>, tid: Tid, command: &str) -> Result<()> {
    let core = cx.core();
    let stack = core.stacks().of_thread(tid, 1);
    let Some(frame) = core.stacks().named_frames(&stack).next() else {
        return show_stack(cx, tid, false);
    };
    let dot = match frame.frame_pointer() {
        Some(fp) => Dot::Frame { fp, tid, index: 0 },
        None => Dot::Thread(tid),
    };
    let names = Names::new(cx);
    cx.emit(&First(tid, names.frame_line(Some(tid), frame, Layout::Bracketed)))?;
    cx.eval(command, dot)?;
    cx.shell_mut().set_dot(dot, 0);
    Ok(())
}

/// The innermost frame, below the line that says whose it is.
struct First(Tid, FrameLine);

impl Record for First {
    fn kind(&self) -> &'static str {
        self.1.kind()
    }

    fn view(&self) -> View {
        View::Line(
            "stack pointer for thread {whose}: {frame_pointer:x}{frame_pointer^unknown}\n\
             [ {frame_pointer:0}{frame_pointer^????????????????} {symbol}({arguments}) ]",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        self.1.fields(out);
        out.display("whose", Cell::Num(u64::from(self.0.get())));
    }

    fn dot(&self) -> Option<Dot> {
        self.1.dot()
    }
}
