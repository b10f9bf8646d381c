//! `::refs` — what refers to an object of any language's heap.

use kcore::Addr;
use kcore::objects::Referrer;
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, Dot, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

use super::{edge, subject::Subject};
use crate::watched::watched;

const OPTIONS: &[Opt] = &[Opt {
    flag: 'w',
    value: None,
    help: "also show weak references, which do not keep the object",
}];

const HELP: &str = "\
Finds the objects that refer to the object at the address, or to the object that holds the address. Each line says how: \
by a member, an index, a key, the value of a key, or a variable. Frames of Python refer to objects by their \
variables. It works in the heap of every language runtime that kcore decodes; ::runtimes lists them.\n\n\
::refs does not look for references from native code. ::path does.";

const EXAMPLES: &[Example] = &[
    Example {
        line: "::classes -c Function | ::head -1 | ::refs",
        shows: "what refers to one object of a class",
    },
    Example {
        line: "::classes -c Function | ::head -1 | ::refs | ::refs",
        shows: "what refers to the referrers of one object",
    },
];

/// Finds references.
pub struct Refs;

impl Dcmd for Refs {
    fn spec(&self) -> Spec {
        Spec::new("refs", Group::Runtimes, "find what refers to an object of a language's heap")
            .addr(AddrUse::Required)
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let subject = Subject::of_dot(cx)?;
        let Subject { heap, object } = subject;
        let to = [object.at];
        let mut found = watched(cx, |watch| heap.objects.referrers(heap.core, &to, watch))?;
        found.retain(|referrer| args.has('w') || !referrer.is_weak);
        let runtime = heap.identity.name;
        if found.is_empty() {
            cx.emit(&Unreferred { at: subject.word(object.at), runtime })?;
        }
        for referrer in &found {
            let [to, at] = [referrer.to, referrer.at].map(|at| subject.word(at));
            cx.emit(&Reference { referrer, to, at, runtime })?;
        }
        heap.note_missing(cx)
    }
}

/// A reference.
struct Reference<'r> {
    referrer: &'r Referrer,
    /// Both ends as the language refers to them.
    to: Addr,
    at: Addr,
    runtime: &'static str,
}

impl Record for Reference<'_> {
    fn kind(&self) -> &'static str {
        "heap_reference"
    }

    fn view(&self) -> View {
        View::Line(
            "{object:x} referred to by {address:x} {class?{class}}{class^<unknown>}{shown}{weak? (weak)}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let Referrer { class, edge, is_weak, .. } = self.referrer;
        out.text("runtime", self.runtime)
            .addr("object", self.to)
            .addr("address", self.at)
            .opt_text("class", class.as_deref());
        edge::fields(Some(edge), out);
        out.flag("weak", *is_weak).display("shown", Cell::text(edge::shown(edge)));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.at))
    }
}

/// Nothing refers to an object.
struct Unreferred {
    at: Addr,
    runtime: &'static str,
}

impl Record for Unreferred {
    fn kind(&self) -> &'static str {
        "unreferred"
    }

    fn view(&self) -> View {
        View::Line("{address:x} is not referred to by a known object.")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("runtime", self.runtime).addr("address", self.at);
    }

    fn absence(&self) -> Option<String> {
        Some(edge::unreferred(self.at))
    }
}
