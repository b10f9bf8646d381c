//! `::gocontexts`: the contexts of Go.

use kcore::{Addr, go::GoContext};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result,
    Spec, View,
};

use super::{gotimers::shown_goroutines, subject};
use crate::heap::not_copied::note_not_copied;

/// Lists the contexts of Go.
pub struct Gocontexts;

const OPTIONS: &[Opt] =
    &[Opt { flag: 'o', value: None, help: "only contexts that have not ended" }];

const HELP: &str = "\
Each context stands below its parent. `cancel` and `deadline` are those of context.WithCancel and context.WithDeadline, \
and of the functions that are made of these. `own` is a structure of the program in which a context is embedded; what \
it does otherwise is not known. A deadline is seconds since 1970. `children` counts contexts and \
functions that end with it. `waiting` are the goroutines that wait for its end.\n\n\
With an address, that context and those above it are shown, the innermost one first.\n\n\
Contexts are found in the heap where memory says what they are: in an interface, on the stack of a goroutine, or \
along the fields of known types. What nothing refers to any more is listed until the collector has been there.";

const EXAMPLES: &[Example] = &[
    Example { line: "::gocontexts", shows: "every context, below its parent" },
    Example { line: "::gocontexts -o", shows: "those that have not ended" },
];

impl Dcmd for Gocontexts {
    fn spec(&self) -> Spec {
        Spec::new("gocontexts", Group::Runtimes, "list the contexts of Go, with their chain")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        note_not_copied(cx)?;
        let mut all = Vec::new();
        for go in subject::schedulers(core)? {
            all.extend(go.contexts(core.as_ref()).map_err(DcmdError::failed)?);
        }
        if let Some(dot) = cx.addr() {
            all = chain(all, dot.addr());
            if all.is_empty() {
                return Err(DcmdError::at(dot.addr(), "no context of Go begins here"));
            }
        }
        all.retain(|context| !args.has('o') || context.ended.is_none());
        all.into_iter().try_for_each(|context| {
            cx.check_interrupt()?;
            cx.emit(&ContextRecord(context))
        })
    }
}

/// The context at an address and those above it, which `all` has before it.
fn chain(mut all: Vec<GoContext>, at: Addr) -> Vec<GoContext> {
    let mut wanted = Some(at);
    all.reverse();
    all.retain(|context| {
        let is_next = wanted == Some(context.at);
        if is_next {
            wanted = context.parent;
        }
        is_next
    });
    all.iter_mut().for_each(|context| context.depth = 0);
    all
}

struct ContextRecord(GoContext);

/// Levels below each other that are shown by the indentation.
const MAX_INDENT: usize = 32;
const SECOND: i64 = 1_000_000_000;

impl ContextRecord {
    /// The parent, where it stands not above in the list.
    fn shown_parent(&self) -> Option<String> {
        let it = &self.0;
        let name = it.parent_type.as_deref().filter(|_| it.depth == 0)?;
        Some(name.trim_start_matches('*').to_owned())
    }

    fn shown_deadline(&self) -> Option<String> {
        let deadline = self.0.deadline?;
        let nanoseconds = deadline.rem_euclid(SECOND);
        Some(format!("{}.{nanoseconds:09}", deadline.div_euclid(SECOND)))
    }

    fn state(&self) -> Option<&str> {
        self.0.ended.as_deref()
    }
}

impl Record for ContextRecord {
    fn kind(&self) -> &'static str {
        "go_context"
    }

    fn view(&self) -> View {
        View::Line(
            "{indent}{address:x} {context}{shown_type? {shown_type}}{shown_parent?, of {shown_parent}}\
             {key?, {key}: {value}{value^nil}}{function?, {function}}{shown_deadline?, until {shown_deadline}}\
             {ended?, ended: {ended}}{cause?, because of {cause}}\
             {shown_children?, {shown_children} children}\
             {shown_waiting?, goroutine {shown_waiting} waits}",
        )
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let it = &self.0;
        let waiting = it.waiting.iter().map(|id| Cell::Num(*id)).collect();
        let indent = "  ".repeat(it.depth.min(MAX_INDENT));
        out.addr("address", it.at)
            .text("context", it.kind.as_str())
            .opt_text("context_type", it.ty.as_deref())
            .num("depth", it.depth as u64)
            .addr("parent", it.parent)
            .opt_text("parent_type", it.parent_type.as_deref())
            .put("deadline", Cell::or_null(it.deadline, Cell::Int))
            .opt_text("ended", self.state())
            .opt_text("cause", it.cause.as_deref())
            .opt_text("key", it.key.as_deref())
            .opt_text("value", it.value.as_deref())
            .num("children", it.children)
            .addr("done", it.done)
            .put("goroutines", Cell::List(waiting))
            .opt_text("function", it.function.as_deref())
            .display("indent", Cell::text(indent))
            .display("shown_type", Cell::or_null(it.ty.as_deref(), Cell::text))
            .display("shown_parent", Cell::or_null(self.shown_parent(), Cell::text))
            .display("shown_deadline", Cell::or_null(self.shown_deadline(), Cell::text))
            .display("shown_children", Cell::or_null(it.children.filter(|it| *it > 0), Cell::Num))
            .display("shown_waiting", Cell::or_null(shown_goroutines(&it.waiting), Cell::text));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.0.at))
    }
}
