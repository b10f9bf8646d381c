//! `::jsstack` — the stack of a thread, with its JavaScript.

use kcore::v8::V8;
use kcore::{Addr, Core, LanguageFrame, MAX_FRAMES, Stack, Tid};
use kcore_dcmd::stack::original_cell;
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Example, Fields, Group, Opt, Record, Result, Spec,
    View,
};

use super::frame_options::{self, FrameOptions};
use super::frame_row::Layout;
use super::{frames, subject};
use crate::stack_start::StackStart;

const OPTIONS: &[Opt] = &[
    Opt {
        flag: 'a',
        value: None,
        help: "show every frame with its frame pointer, and what awaits the function",
    },
    frame_options::VERBOSE,
    frame_options::FUNCTION,
    frame_options::PROPERTY,
    frame_options::LINES,
];

const HELP: &str = "\
Prints the stack of the current thread, or of the thread or frame given as address, as for \
::stack. JavaScript functions follow `js:`, by the names that V8 uses in stack traces. Native \
functions follow `native:`. Frames that V8 made for itself are only counted. If a thread runs no \
JavaScript, a message says so.

With -v, a frame shows its file, its position, this, the arguments of the call, and source text. \
`>` marks the line. If the function begins on another line, the position says so. A call that an \
optimizing compiler inlined has no frame of its own, so its arguments are not available.

With -a, each frame follows its frame pointer, with its function object, or with the kind of a \
frame that V8 made for itself. After the last frame, `at async` shows what waits for the async \
function that runs.

With -p, only one property of each JavaScript frame is shown: file, posn, this, arg1 and so on. \
In a pipe, this and the arguments pass their addresses.";

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
        let Some(tid) = start.tid() else {
            return Err(DcmdError::failed("no thread runs it, so it has no JavaScript frames"));
        };
        let stack = start.stack(core, MAX_FRAMES);
        let shown = frames::of_stack(core, &v8s, &stack, options.layout == Layout::All);
        let begin = Begin {
            tid,
            name: core.thread_facts(tid).name.map(|name| name.to_string()),
            has_javascript: frames::has_javascript(&shown),
            titled: cx.input().looped && !options.is_choice(),
            is_choice: options.is_choice(),
        };
        if options.is_choice() {
            // After a pipe of threads, those that do not have it are skipped.
            if let Some(why) = options.nothing_found(&shown).filter(|_| !cx.input().looped) {
                return Err(DcmdError::failed(format!("thread {tid}: {why}")));
            }
            return shown.iter().try_for_each(|row| options.emit(cx, row, Some(tid)));
        }
        cx.begin(&begin, "frames")?;
        if begin.has_javascript || options.layout == Layout::All {
            shown.iter().try_for_each(|row| options.emit(cx, row, Some(tid)))?;
        }
        let awaiting = match options.layout {
            Layout::All => awaiting(core, &v8s, &stack),
            Layout::Brief => Vec::new(),
        };
        cx.end(&End { why: (!stack.is_complete()).then(|| stack.end.to_string()), awaiting })
    }
}

/// The functions that wait for the async function that a stack runs, the nearest first.
fn awaiting(core: &Core, v8s: &[&V8], stack: &Stack) -> Vec<LanguageFrame> {
    let stack = frames::native_stack(stack);
    v8s.iter().flat_map(|v8| v8.awaiting(core, &stack)).collect()
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
    awaiting: Vec<LanguageFrame>,
}

impl End {
    fn waiting(frame: &LanguageFrame) -> Cell<'_> {
        let in_script = frame.place_in_script();
        Cell::Object(vec![
            ("function", Cell::or_null(in_script.function, Cell::text)),
            ("file", Cell::or_null(in_script.file, Cell::text)),
            ("line", Cell::or_null(in_script.line.map(u64::from), Cell::Num)),
            ("column", Cell::or_null(in_script.column.map(u64::from), Cell::Num)),
            ("original", original_cell(frame.original_place())),
            ("generator", Cell::or_null(frame.object.map(tagged), Cell::Addr)),
        ])
    }

    /// As V8's traces have it.
    fn line(frame: &LanguageFrame) -> Cell<'_> {
        let name = frame.function.as_deref().unwrap_or("<unknown>");
        let place = [frame.line, frame.column].into_iter().flatten();
        let place = frame
            .file
            .as_deref()
            .map(|file| place.fold(file.to_owned(), |place, number| format!("{place}:{number}")));
        Cell::text(match place {
            Some(place) => format!("{name} ({place})"),
            None => name.to_owned(),
        })
    }
}

fn tagged(at: Addr) -> Addr {
    Addr::new(at.get() | 1)
}

impl Record for End {
    fn kind(&self) -> &'static str {
        "js_stack_end"
    }

    fn view(&self) -> View {
        match (self.awaiting.is_empty(), self.why.is_some()) {
            (true, false) => View::Hidden,
            (true, true) => View::Line("-- {end}"),
            (false, _) => View::Line(
                "{first?                 at async {first}}{others*\n                 at async {.}}{end?\n-- {end}}",
            ),
        }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let mut lines = self.awaiting.iter().map(Self::line);
        let first = lines.next().unwrap_or(Cell::Null);
        out.put("awaiting", Cell::List(self.awaiting.iter().map(Self::waiting).collect()))
            .put("end", Cell::or_null(self.why.as_deref(), Cell::text))
            .display("first", first)
            .display("others", Cell::List(lines.collect()));
    }
}
