//! `::jspath` — what keeps an object: the way from a root to it.

use kcore::graph::{PathStep, Root};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec,
    View,
};

use super::{
    counted::{Counted, tagged},
    edge,
};

const HELP: &str = "\
Prints a shortest path to the object: the root, the object that the root keeps, and how each \
object keeps the next one. Certain roots take precedence over words of memory that may be \
handles. References that do not keep an object, such as a WeakRef or the key of a WeakMap, are \
not followed.";

const EXAMPLES: &[Example] = &[Example {
    line: "::findjsobjects -c Module | ::jspath",
    shows: "why the object is still there",
}];

/// Shows why an object is kept.
pub struct Jspath;

impl Dcmd for Jspath {
    fn spec(&self) -> Spec {
        Spec::new("jspath", Group::Runtimes, "show what keeps a JavaScript object")
            .addr(AddrUse::Required)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let (counted, at) = Counted::of_dot(cx)?;
        let kept = counted.kept(cx)?;
        let path = kept.path(at).ok_or_else(|| {
            let word = tagged(at);
            DcmdError::at(word, format!("{word:x} is not reachable"))
        })?;
        cx.emit(&RootRecord(path.root))?;
        (0..).zip(&path.steps).try_for_each(|(depth, step)| cx.emit(&Step { step, depth }))
    }
}

/// What a way begins with.
struct RootRecord(Root);

impl Record for RootRecord {
    fn kind(&self) -> &'static str {
        "js_root"
    }

    fn view(&self) -> View {
        View::Line("{text}{thread? of thread {thread}}{address? at {address:x}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let Root { kind, thread, at, .. } = &self.0;
        out.text("root", kind.word)
            .addr("address", *at)
            .num("thread", thread.map(|thread| u64::from(thread.get())))
            .display("text", Cell::text(kind.text));
    }
}

/// An object on the way.
struct Step<'p> {
    step: &'p PathStep,
    depth: u64,
}

impl Record for Step<'_> {
    fn kind(&self) -> &'static str {
        "js_path_step"
    }

    fn view(&self) -> View {
        View::Line("    {shown?{shown} }{address:x} {class}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("depth", self.depth)
            .addr("address", tagged(self.step.at))
            .opt_text("class", self.step.class.as_deref());
        match &self.step.edge {
            Some(edge) => edge::fields(edge, out),
            None => {
                out.put("edge", Cell::Null).put("name", Cell::Null).put("index", Cell::Null);
            }
        }
        let shown = self.step.edge.as_ref().map(edge::shown);
        out.display("shown", Cell::or_null(shown, |text| Cell::text(text.trim_start().to_owned())));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(tagged(self.step.at)))
    }
}
