//! How an object refers to another, in words and as cells.

use std::borrow::Cow;

use kcore::v8::census::Edge;
use kcore_dcmd::Fields;

/// The kind of an edge: a word for machines.
pub const fn kind(edge: &Edge) -> &'static str {
    match edge {
        Edge::Property(_) => "property",
        Edge::Element(_) => "element",
        Edge::Key => "key",
        Edge::Value => "value",
        Edge::Variable(_) => "variable",
        Edge::Slot(_) => "slot",
        Edge::Word(_) => "word",
    }
}

/// The text after the object that refers: `.name`, `[3]`, `<key>`.
pub fn shown(edge: &Edge) -> String {
    match edge {
        Edge::Property(name) if is_plain(name) => format!(".{name}"),
        Edge::Property(name) => format!("[{name:?}]"),
        Edge::Element(index) => format!("[{index}]"),
        Edge::Key => "<key>".to_owned(),
        Edge::Value => "<value>".to_owned(),
        Edge::Variable(name) => format!(" closure {name}"),
        Edge::Slot(name) => format!("<{name}>"),
        Edge::Word(offset) => format!("<word {offset:#x}>"),
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
        Edge::Property(name) | Edge::Variable(name) => Some(Cow::Borrowed(name)),
        Edge::Slot(name) => Some(Cow::Borrowed(*name)),
        _ => None,
    };
    let index = match edge {
        Edge::Element(index) => Some(*index),
        _ => None,
    };
    out.text("edge", kind(edge)).opt_text("name", name).num("index", index);
}
