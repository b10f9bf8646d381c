//! `::path` — what keeps an object of any language's heap: the way from a root to it.

use kcore::Addr;
use kcore::graph::{Path, PathStep, Root};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec,
    View,
};

use super::{edge, subject::Subject};
use crate::watched::watched;

const HELP: &str = "\
Shows a shortest chain of references from a root to the object that holds the address: first the root, then each \
object and how it keeps the next one. Weak references keep nothing. ::path prefers certain roots. If nothing certain \
keeps the object, it also tries roots that may be stale, such as words of native stacks, and marks them as guessed.\n\n\
The roots of JavaScript are contexts, stacks, registers and the data of isolates. The roots of Python are modules, \
frames with their variables, exceptions and static types; then operands of frames, native stacks, registers, and the \
data of C modules. The roots of Go are variables and finalizers; then words of the stacks of goroutines, and registers. \
The roots of Java are threads, references of native code and classes; then native stacks and registers. \
The roots of Ruby are stacks of values, receivers of frames, and classes. The roots of PHP are variables of calls and \
global ones. The roots of Perl are the symbol table and code that runs. The roots of Lua are the registry, threads of \
Lua that run, and metatables of types. \
kcore does not know what C code keeps in its own memory, and cannot tell V8's handles from other \
words of memory.";

const EXAMPLES: &[Example] =
    &[Example { line: "::classes -c Thread | ::path", shows: "why the objects are still there" }];

/// Shows why an object is kept.
pub struct PathFromRoot;

impl Dcmd for PathFromRoot {
    fn spec(&self) -> Spec {
        Spec::new("path", Group::Runtimes, "show what keeps an object of a language's heap")
            .addr(AddrUse::Required)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let subject = Subject::of_dot(cx)?;
        let Subject { heap, object } = subject;
        heap.graph(cx)?;
        let path = watched(cx, |watch| heap.objects.path(heap.core, object.at, watch))?;
        let path = path.ok_or_else(|| unreachable(&subject))?;
        emit(cx, &subject, &path)?;
        heap.note_missing(cx)
    }
}

fn emit(cx: &mut Cx<'_>, subject: &Subject<'_>, path: &Path) -> Result<()> {
    let runtime = subject.heap.identity.name;
    cx.emit(&RootRecord { root: &path.root, runtime })?;
    (0..).zip(&path.steps).try_for_each(|(depth, step)| {
        cx.emit(&Step { step, at: subject.word(step.at), depth, runtime })
    })
}

fn unreachable(subject: &Subject<'_>) -> DcmdError {
    let at = subject.word(subject.object.at);
    let unknown = subject.heap.objects.unknown_roots();
    DcmdError::at(
        at,
        format!("{at:x} is not reachable from the known roots; kcore does not know {unknown}"),
    )
}

/// What a way begins with.
struct RootRecord<'p> {
    root: &'p Root,
    runtime: &'static str,
}

impl Record for RootRecord<'_> {
    fn kind(&self) -> &'static str {
        "root"
    }

    fn view(&self) -> View {
        View::Line(
            "{text}{name? {name}}{thread? of thread {thread}}{address? at {address:x}}\
             {certain^ (guessed)}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let Root { kind, name, thread, at, .. } = self.root;
        out.text("runtime", self.runtime)
            .text("root", kind.word)
            .text("text", kind.text)
            .opt_text("name", name.as_deref())
            .num("thread", thread.map(|thread| u64::from(thread.get())))
            .addr("address", *at)
            .flag("certain", kind.is_certain);
    }
}

/// An object on the way.
struct Step<'p> {
    step: &'p PathStep,
    /// The object as the language refers to it.
    at: Addr,
    depth: u64,
    runtime: &'static str,
}

impl Record for Step<'_> {
    fn kind(&self) -> &'static str {
        "path_step"
    }

    fn view(&self) -> View {
        View::Line("    {shown?{shown} }{address:x} {class?{class}}{class^<unknown>}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let PathStep { class, edge, .. } = self.step;
        out.text("runtime", self.runtime)
            .num("depth", self.depth)
            .addr("address", self.at)
            .opt_text("class", class.as_deref());
        edge::fields(edge.as_ref(), out);
        let shown = edge.as_ref().map(edge::shown);
        out.display("shown", Cell::or_null(shown, Cell::text));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.at))
    }
}
