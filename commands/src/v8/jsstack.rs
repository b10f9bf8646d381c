//! `::jsstack` — the stack of a thread, with its JavaScript.

use kcore::v8::V8;
use kcore::{MAX_FRAMES, Stack, Tid};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

use super::frame_options::{self, FrameOptions};
use super::frame_row::{AwaitRow, Layout};
use super::{frames, subject};
use crate::stack_start::StackStart;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'a', value: None, help: "every frame with its frame pointer, and who awaits it" },
    frame_options::VERBOSE,
    frame_options::FUNCTION,
    frame_options::PROPERTY,
    frame_options::LINES,
];

const HELP: &str = "\
The stack of the current thread, of a thread or a frame from a pipe, or of a typed one, as for ::stack. \
JavaScript functions stand behind `js:`, by the names that a stack trace of V8 has; native ones behind \
`native:`; frames that V8 made for itself are counted. A thread without JavaScript says so.

With -v a frame has its file, the position where it is (and where its function begins, if that is another \
line), this, all arguments that it was called with, and source text, the line marked with `>`. A call \
that an optimizing compiler inlined has no frame of its own: what it was called with is not available.

With -a each frame stands behind its frame pointer, with the function object or the kind of a frame that V8 \
made for itself; behind the last one stands what waits for the async function that runs: `at async`.

With -p the property of each JavaScript frame alone is shown: file, posn, this, arg1 and so on. In a pipe \
this and arguments hand on their addresses.";

const EXAMPLES: &[Example] = &[
    Example { line: "::jsstack", shows: "the stack of the current thread" },
    Example { line: "::jsstack -vn 0", shows: "the same with files, this and arguments" },
    Example { line: "::jsstack -a", shows: "every frame, and what awaits" },
    Example { line: "::walk thread | ::jsstack", shows: "the JavaScript of all threads" },
];

/// Prints the stack of a thread, innermost frame first.
pub struct Jsstack;

impl Dcmd for Jsstack {
    fn spec(&self) -> Spec {
        Spec::new("jsstack", Group::Runtimes, "print the stack of a thread with its JavaScript")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        let options = FrameOptions::new(args)?;
        let v8s = subject::instances(core)?;
        let start = StackStart::of(cx)?;
        let stack = start.stack(core, MAX_FRAMES);
        let shown = frames::of_stack(core, &v8s, &stack, options.layout == Layout::All);
        let begin = Begin {
            tid: start.tid(),
            name: core.thread_facts(start.tid()).name.map(|name| name.to_string()),
            has_javascript: frames::has_javascript(&shown),
            titled: cx.input().looped && !options.is_choice(),
            is_choice: options.is_choice(),
        };
        if options.is_choice() {
            return shown.iter().try_for_each(|row| options.emit(cx, row, Some(start.tid())));
        }
        cx.begin(&begin, "frames")?;
        if begin.has_javascript || options.layout == Layout::All {
            shown.iter().try_for_each(|row| options.emit(cx, row, Some(start.tid())))?;
        }
        if options.layout == Layout::All {
            awaiting(cx, &v8s, &stack)?;
        }
        cx.end(&End { why: (!stack.is_complete()).then(|| stack.end.to_string()) })
    }
}

/// Emits the functions that wait for the async function that a stack runs.
fn awaiting(cx: &mut Cx<'_>, v8s: &[&V8], stack: &Stack) -> Result<()> {
    if cx.input().pipe_out {
        return Ok(());
    }
    let core = cx.core();
    let stack = frames::native_stack(stack);
    let awaiting = v8s.iter().flat_map(|v8| v8.awaiting(&**core, &stack));
    awaiting.collect::<Vec<_>>().into_iter().try_for_each(|frame| cx.emit(&AwaitRow(frame)))
}

/// The thread whose stack follows.
struct Begin {
    tid: Tid,
    name: Option<String>,
    has_javascript: bool,
    titled: bool,
    is_choice: bool,
}

impl Record for Begin {
    fn kind(&self) -> &'static str {
        "js_stack"
    }

    fn view(&self) -> View {
        match (self.has_javascript, self.titled) {
            (false, _) if !self.is_choice => {
                View::Line("thread {tid}{name? ({name})} has no JavaScript frames")
            }
            (_, true) => View::Line("thread {tid}{name? ({name})}:"),
            _ => View::Hidden,
        }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("tid", u64::from(self.tid.get()))
            .opt_text("name", self.name.as_deref())
            .flag("has_javascript", self.has_javascript);
    }
}

/// The end of a stack.
struct End {
    why: Option<String>,
}

impl Record for End {
    fn kind(&self) -> &'static str {
        "js_stack_end"
    }

    fn view(&self) -> View {
        if self.why.is_some() { View::Line("-- {end}") } else { View::Hidden }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.put("end", Cell::or_null(self.why.as_deref(), Cell::text));
    }
}
