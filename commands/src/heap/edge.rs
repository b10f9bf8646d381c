//! How an object refers to another, in words and as cells, whatever the language is.

use kcore::Addr;
use kcore::objects::Edge;
use kcore_dcmd::{Cell, Fields};

/// The kind of an edge: a word for machines.
pub const fn kind(edge: &Edge) -> &'static str {
    match edge {
        Edge::Member(_) => "member",
        Edge::Index(_) => "index",
        Edge::Key => "key",
        Edge::Entry(_) | Edge::Symbol(_) | Edge::Numbered(_) | Edge::Value => "value",
        Edge::Variable(_) => "variable",
        Edge::Slot(_) => "slot",
        Edge::Word(_) => "word",
        Edge::Inside => "inside",
    }
}

/// The text after the object that refers: `.name`, `[3]`, `<key>`.
pub fn shown(edge: &Edge) -> String {
    match edge {
        // A field of an element.
        Edge::Member(name) if name.starts_with('[') => name.to_string(),
        Edge::Member(name) => format!(".{name}"),
        Edge::Index(index) => format!("[{index}]"),
        Edge::Key => "<key>".to_owned(),
        Edge::Entry(key) => format!("[{key:?}]"),
        Edge::Symbol(key) => format!("[:{key}]"),
        Edge::Numbered(key) => format!("[{key}]"),
        Edge::Value => "<value>".to_owned(),
        Edge::Variable(name) => format!("<variable {name}>"),
        Edge::Slot(name) => format!("<{name}>"),
        Edge::Word(offset) => format!("<word {offset:#x}>"),
        Edge::Inside => "<inside>".to_owned(),
    }
}

/// That no object refers to the one at `at`.
pub fn unreferred(at: Addr) -> String {
    format!("{:x} is not referred to by a known object", at.get())
}

/// The facts of an edge; all null where there is none.
pub fn fields<'a>(edge: Option<&'a Edge>, out: &mut Fields<'a>) {
    out.opt_text("edge", edge.map(kind));
    key_fields(edge, out);
}

/// The name or the index of an edge.
pub fn key_fields<'a>(edge: Option<&'a Edge>, out: &mut Fields<'a>) {
    let name = match edge {
        Some(
            Edge::Member(name) | Edge::Entry(name) | Edge::Symbol(name) | Edge::Variable(name),
        ) => Some(&**name),
        Some(Edge::Slot(name)) => Some(*name),
        _ => None,
    };
    let index = match edge {
        Some(Edge::Index(index)) => Cell::Num(*index),
        Some(Edge::Numbered(key)) => Cell::Int(*key),
        _ => Cell::Null,
    };
    out.opt_text("name", name).put("index", index);
}
