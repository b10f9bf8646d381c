//! `::jspath` — what keeps an object: the way from a root to it.

use kcore::v8::census::graph::{PathStep, Root, RootKind};
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

impl RootRecord {
    const fn word(&self) -> &'static str {
        match self.0.kind {
            RootKind::Context => "context",
            RootKind::LoneContext => "lone_context",
            RootKind::Register(_) => "register",
            RootKind::Stack(_) => "stack",
            RootKind::Isolate => "isolate",
            RootKind::Guessed => "guessed",
        }
    }

    fn shown(&self) -> String {
        let place = self.0.at.map(|at| format!(" at {at:x}")).unwrap_or_default();
        match self.0.kind {
            RootKind::Context => "the context of a global object".to_owned(),
            RootKind::LoneContext => {
                "the context of a global object, which may be garbage".to_owned()
            }
            RootKind::Register(tid) => format!("a register of thread {tid}"),
            RootKind::Stack(tid) => format!("the stack of thread {tid}{place}"),
            RootKind::Isolate => format!("the data of the isolate{place}"),
            RootKind::Guessed => format!("a word that may be a handle{place}"),
        }
    }
}

impl Record for RootRecord {
    fn kind(&self) -> &'static str {
        "js_root"
    }

    fn view(&self) -> View {
        View::Line("{shown}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let thread = match self.0.kind {
            RootKind::Register(tid) | RootKind::Stack(tid) => Some(u64::from(tid.get())),
            _ => None,
        };
        out.text("root", self.word())
            .addr("address", self.0.at)
            .num("thread", thread)
            .display("shown", Cell::text(self.shown()));
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
            .text("class", self.step.class.as_ref());
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
