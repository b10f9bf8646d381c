//! What refers to a Python object.

use kcore::Addr;
use kcore::objects::{Edge, Referrer};
use kcore_dcmd::{Cell, Cx, Dot, Fields, Record, Result, View};

use crate::heap::edge;

/// Shows what refers to the object at `at`, or that nothing does.
///
/// # Errors
/// The errors of the sink.
pub fn emit(cx: &mut Cx<'_>, at: Addr, found: &[Referrer]) -> Result<()> {
    if found.is_empty() {
        return cx.emit(&Unreferred(at));
    }
    found.iter().try_for_each(|referrer| cx.emit(&Row(referrer)))
}

/// A reference.
struct Row<'r>(&'r Referrer);

/// The kind of an edge: a word for machines.
const fn kind(edge: &Edge) -> &'static str {
    match edge {
        Edge::Member(_) => "attribute",
        Edge::Index(_) => "item",
        Edge::Key => "key",
        Edge::Entry(_) | Edge::Symbol(_) | Edge::Numbered(_) | Edge::Value => "value",
        Edge::Variable(_) => "variable",
        Edge::Slot(_) | Edge::Word(_) | Edge::Inside => "inside",
    }
}

/// The edge as `::pyobjects` shows it: without the names of the interpreter's own fields.
const fn without_slots(edge: &Edge) -> &Edge {
    match edge {
        Edge::Slot(_) | Edge::Word(_) => &Edge::Inside,
        other => other,
    }
}

impl Record for Row<'_> {
    fn kind(&self) -> &'static str {
        "py_reference"
    }

    fn view(&self) -> View {
        View::Line("{object:x} referred to by {address:x} {class}{shown}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let Referrer { to, at, class, edge, .. } = self.0;
        let edge = without_slots(edge);
        out.addr("object", *to)
            .addr("address", *at)
            .opt_text("class", class.as_deref())
            .text("edge", kind(edge));
        edge::key_fields(Some(edge), out);
        out.display("shown", Cell::text(edge::shown(edge)));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.0.at))
    }
}

/// Nothing refers to an object.
struct Unreferred(Addr);

impl Record for Unreferred {
    fn kind(&self) -> &'static str {
        "py_unreferred"
    }

    fn view(&self) -> View {
        View::Line("{address:x} is not referred to by a known object.")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", self.0);
    }

    fn absence(&self) -> Option<String> {
        Some(edge::unreferred(self.0))
    }
}
