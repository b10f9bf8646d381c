//! How an object refers to another, in words and as cells.

use std::borrow::Cow;

use kcore::objects::Edge;
use kcore_dcmd::Fields;

/// The kind of an edge: a word for machines.
pub const fn kind(edge: &Edge) -> &'static str {
    match edge {
        Edge::Member(_) => "property",
        Edge::Index(_) => "element",
        Edge::Key => "key",
        Edge::Value | Edge::Entry(_) | Edge::Numbered(_) => "value",
        Edge::Variable(_) => "variable",
        Edge::Slot(_) => "slot",
        Edge::Word(_) | Edge::Inside => "word",
    }
}

/// The text after the object that refers: `.name`, `[3]`, `<key>`.
pub fn shown(edge: &Edge) -> String {
    match edge {
        Edge::Member(name) if is_plain(name) => format!(".{name}"),
        Edge::Member(name) | Edge::Entry(name) => format!("[{name:?}]"),
        Edge::Index(index) => format!("[{index}]"),
        Edge::Numbered(key) => format!("[{key}]"),
        Edge::Key => "<key>".to_owned(),
        Edge::Value => "<value>".to_owned(),
        Edge::Variable(name) => format!(" closure {name}"),
        Edge::Slot(name) => format!("<{name}>"),
        Edge::Word(offset) => format!("<word {offset:#x}>"),
        Edge::Inside => "<inside>".to_owned(),
    }
}

/// Whether a name can stand behind a dot.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|letter| letter.is_alphanumeric() || "_$#()@".contains(letter))
}

/// The facts of an edge.
pub fn fields<'a>(edge: &'a Edge, out: &mut Fields<'a>) {
    let name: Option<Cow<'a, str>> = match edge {
        Edge::Member(name) | Edge::Variable(name) => Some(Cow::Borrowed(name)),
        Edge::Slot(name) => Some(Cow::Borrowed(*name)),
        _ => None,
    };
    let index = match edge {
        Edge::Index(index) => Some(*index),
        _ => None,
    };
    out.text("edge", kind(edge)).opt_text("name", name).num("index", index);
}
