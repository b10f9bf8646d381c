//! What refers to a Python object.

use std::borrow::Cow;

use kcore::Addr;
use kcore::objects::{Edge, Referrer};
use kcore_dcmd::{Cell, Cx, Dot, Fields, Record, Result, View};

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
        Edge::Entry(_) | Edge::Numbered(_) | Edge::Value => "value",
        Edge::Variable(_) => "variable",
        Edge::Slot(_) | Edge::Word(_) | Edge::Inside => "inside",
    }
}

/// The text after the object that refers.
fn shown(edge: &Edge) -> Cow<'static, str> {
    match edge {
        Edge::Member(name) => format!(".{name}").into(),
        Edge::Index(index) => format!("[{index}]").into(),
        Edge::Key => "<key>".into(),
        Edge::Entry(key) => format!("[{key:?}]").into(),
        Edge::Numbered(key) => format!("[{key}]").into(),
        Edge::Value => "<value>".into(),
        Edge::Variable(name) => format!("<variable {name}>").into(),
        Edge::Slot(_) | Edge::Word(_) | Edge::Inside => "<inside>".into(),
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
        let name = match edge {
            Edge::Member(name) | Edge::Entry(name) | Edge::Variable(name) => Some(&**name),
            _ => None,
        };
        let index = match edge {
            Edge::Index(index) => Cell::Num(*index),
            Edge::Numbered(key) => Cell::Int(*key),
            _ => Cell::Null,
        };
        out.addr("object", *to)
            .addr("address", *at)
            .opt_text("class", class.as_deref())
            .text("edge", kind(edge))
            .opt_text("name", name)
            .put("index", index)
            .display("shown", Cell::text(shown(edge)));
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
}
