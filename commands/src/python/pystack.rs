//! `::pystack` — the Python frames of a thread.

use std::borrow::Cow;

use kcore::python::{BUILTINS, Chain, PyFrame, Python, script_tree, value::Limits};
use kcore::{Addr, Core, Tid};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result,
    ScriptCell, ScriptNode, ScriptStyle, Spec, View,
};

use super::pyprint::Piece;
use super::subject;
use crate::stack_start::StackStart;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'v', value: None, help: "also show the local variables of each frame" },
    Opt { flag: 'p', value: Some("name"), help: "pass this variable of the frames that have it" },
    Opt {
        flag: 'd',
        value: Some("depth"),
        help: "with -v, show nested objects down to this depth (default 2)",
    },
    Opt {
        flag: 'N',
        value: Some("length"),
        help: "show at most this much of each str and bytes (default 1024)",
    },
    Opt {
        flag: 'l',
        value: Some("limit"),
        help: "show at most this many items and attributes (default 100)",
    },
];

const HELP: &str = "\
Prints only the Python frames of the current thread, or of the thread given as address, innermost \
first. Each line has the address of the frame, the function by its qualified name (since 3.11), \
the file and the line. $C and ::stack show these frames among the native ones. If a thread runs \
no Python, a message says so.

The line of a thread says whether it holds the GIL, waits for it, or collects garbage. A thread \
that collects garbage holds the GIL, unless the line says otherwise. If the interpreter has no \
symbols, the line can only say that garbage is collected while the thread holds the GIL. Below it \
stand an exception that is on its way, and those whose handlers run.

With -v, each frame also shows its variables that have a value, as ::pyprint prints them. With \
-p, ::pystack shows the addresses of the variable of this name and passes them on in a pipe.";

const EXAMPLES: &[Example] = &[
    Example { line: "::pystack", shows: "the Python frames of the current thread" },
    Example { line: "::pystack -v", shows: "the same with local variables" },
    Example { line: "::walk thread | ::pystack", shows: "the Python frames of all threads" },
];

/// Prints the Python frames of a thread, innermost first.
pub struct Pystack;

impl Dcmd for Pystack {
    fn spec(&self) -> Spec {
        Spec::new("pystack", Group::Runtimes, "print the Python frames of a thread")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core: &Core = cx.core();
        let limits = subject::limits(args, 2)?;
        let no_thread = || DcmdError::failed("only threads have Python frames");
        let tid = StackStart::of(cx)?.tid().ok_or_else(no_thread)?;
        let pythons = subject::instances(core)?;
        let chains = pythons
            .iter()
            .flat_map(|python| python.chains(core, tid).into_iter().map(|chain| (*python, chain)));
        let chains: Vec<(&Python, Chain)> = chains.collect();
        if let Some(name) = args.value('p').map(|name| name.to_text()) {
            return variables(core, &chains, &name).try_for_each(|at| cx.emit(&Piece(at)));
        }
        let begin = Begin::new(core, tid, &chains, cx.input().looped);
        cx.begin(&begin, "frames")?;
        let wanted = args.has('v').then_some(limits);
        let (mut index, mut without) = (0, 0_u64);
        for (python, chain) in &chains {
            for frame in frames(chain) {
                let row = Row::new(core, python, frame, index, wanted);
                without = without.saturating_add(u64::from(row.locals.is_none()));
                cx.emit(&row)?;
                index = index.saturating_add(1);
            }
        }
        let why = chains.iter().find_map(|(_, chain)| chain.broken);
        cx.end(&End { why })?;
        if wanted.is_none() || without == 0 {
            return Ok(());
        }
        let what = "frames were not dumped, or their names are damaged";
        cx.note(&format!("the variables of {without} {what}"))
    }
}

fn frames(chain: &Chain) -> impl Iterator<Item = &PyFrame> {
    chain.groups.iter().flat_map(|group| &group.frames)
}

/// Where the variables of a name lie, of the innermost frame first.
fn variables<'a>(
    core: &'a Core,
    chains: &'a [(&'a Python, Chain)],
    name: &'a str,
) -> impl Iterator<Item = Addr> + 'a {
    chains.iter().flat_map(move |(python, chain)| {
        frames(chain).flat_map(move |frame| {
            let locals = python.locals(core, frame.at).unwrap_or_default();
            locals.into_iter().filter(move |local| &*local.name == name).map(|local| local.at)
        })
    })
}

/// The thread whose frames follow.
struct Begin {
    tid: Tid,
    name: Option<String>,
    state: Option<String>,
    has_python: bool,
    is_titled: bool,
    raised: Vec<ScriptNode>,
    handled: Vec<ScriptNode>,
}

/// How much of an exception is shown.
const ON_A_LINE: Limits = Limits { depth: 2, entries: 16, characters: 256 };

fn exceptions(core: &Core, pythons: &[&Python], tid: Tid) -> [Vec<ScriptNode>; 2] {
    let [mut raised, mut handled] = [Vec::new(), Vec::new()];
    for python in pythons {
        let node = |at: Addr| Some(script_tree::node(&python.value(core, at, ON_A_LINE)?));
        for thread in python.thread_states(core, tid) {
            let found = python.exceptions(core, thread);
            let value = found.raised.and_then(|it| python.raised_value(core, it, ON_A_LINE));
            raised.extend(value.as_ref().map(script_tree::node));
            handled.extend(found.handled.into_iter().filter_map(node));
        }
    }
    [raised, handled]
}

impl Begin {
    fn new(core: &Core, tid: Tid, chains: &[(&Python, Chain)], is_titled: bool) -> Self {
        let pythons: Vec<&Python> = chains.iter().map(|(python, _)| *python).collect();
        let [raised, handled] = exceptions(core, &pythons, tid);
        let facts = core.thread_facts(tid);
        Self {
            tid,
            name: facts.name.map(|name| name.to_string()),
            state: facts.state.map(|state| state.to_string()),
            has_python: chains.iter().any(|(_, chain)| frames(chain).next().is_some()),
            is_titled,
            raised,
            handled,
        }
    }
}

impl Record for Begin {
    fn kind(&self) -> &'static str {
        "py_stack"
    }

    fn view(&self) -> View {
        match (self.has_python, self.is_titled) {
            (false, _) => View::Line(
                "thread {tid}{name? ({name})}{state?, {state},} has no Python frames{raised*\n        raised: {.}}{handled*\n        handled: {.}}",
            ),
            (true, true) => View::Line(
                "thread {tid}{name? ({name})}{state?, {state}}:{raised*\n        raised: {.}}{handled*\n        handled: {.}}",
            ),
            (true, false) => View::Hidden,
        }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("tid", u64::from(self.tid.get()))
            .opt_text("name", self.name.as_deref())
            .opt_text("state", self.state.as_deref())
            .flag("has_python", self.has_python)
            .put("raised", Cell::List(self.raised.iter().map(value_cell).collect()))
            .put("handled", Cell::List(self.handled.iter().map(value_cell).collect()));
    }
}

/// A frame.
struct Row<'f> {
    index: u64,
    frame: &'f PyFrame,
    locals: Option<Vec<VariableRow>>,
}

/// A variable and its value.
struct VariableRow {
    name: String,
    is_argument: bool,
    at: Addr,
    value: ScriptNode,
}

impl<'f> Row<'f> {
    fn new(
        core: &Core,
        python: &Python,
        frame: &'f PyFrame,
        index: u64,
        wanted: Option<Limits>,
    ) -> Self {
        let locals = wanted.and_then(|limits| {
            let locals = python.locals(core, frame.at)?.into_iter();
            let shown = locals.filter(|local| &*local.name != BUILTINS).map(|local| {
                let value = python.value_or_why(core, local.at, limits);
                VariableRow {
                    name: local.name.to_string(),
                    is_argument: local.is_argument,
                    at: local.at,
                    value: script_tree::node(&value),
                }
            });
            Some(shown.collect())
        });
        Self { index, frame, locals }
    }

    fn cells(&self) -> Vec<Cell<'_>> {
        let cells = self.locals.iter().flatten().map(|local| {
            Cell::Object(vec![
                ("name", Cell::text(local.name.as_str())),
                ("argument", Cell::Bool(local.is_argument)),
                ("address", Cell::Addr(local.at)),
                ("value", value_cell(&local.value)),
            ])
        });
        cells.collect()
    }

    fn lines(&self) -> Vec<Cell<'_>> {
        self.locals.iter().flatten().map(line_cell).collect()
    }
}

/// Blanks before the variables of a frame.
const INDENT: usize = 8;

fn value_cell(node: &ScriptNode) -> Cell<'_> {
    Cell::Script(Box::new(ScriptCell { node: Cow::Borrowed(node), style: subject::STYLE }))
}

/// A variable and its value, as an assignment.
fn line_cell(local: &VariableRow) -> Cell<'_> {
    let node = ScriptNode::variable(&local.name, local.value.clone());
    let style = ScriptStyle { indent: INDENT, ..subject::STYLE };
    Cell::Script(Box::new(ScriptCell { node: Cow::Owned(node), style }))
}

impl Record for Row<'_> {
    fn kind(&self) -> &'static str {
        "py_frame"
    }

    fn view(&self) -> View {
        View::Line("{frame:0} {function}() at {file}{line?:{line}}{lines*\n        {.}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("index", self.index)
            .addr("frame", self.frame.at)
            .text("function", &*self.frame.code.name)
            .text("file", &*self.frame.code.file)
            .num("line", self.frame.line.map(u64::from))
            .addr("code", self.frame.code.at)
            .put("locals", Cell::List(self.cells()))
            .display("lines", Cell::List(self.lines()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.frame.at))
    }
}

/// The end of the frames.
struct End {
    why: Option<&'static str>,
}

impl Record for End {
    fn kind(&self) -> &'static str {
        "py_stack_end"
    }

    fn view(&self) -> View {
        if self.why.is_some() { View::Line("-- {end}") } else { View::Hidden }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.opt_text("end", self.why);
    }
}
