//! How an object refers to another, in words and as cells.

use kcore::objects::Edge;
use kcore_dcmd::Fields;

use crate::heap::edge;

/// The kind of an edge: a word for machines.
pub const fn kind(edge: &Edge) -> &'static str {
    match edge {
        Edge::Member(_) => "property",
        Edge::Index(_) => "element",
        Edge::Inside => "word",
        other => edge::kind(other),
    }
}

/// The text after the object that refers: `.name`, `[3]`, `<key>`.
pub fn shown(edge: &Edge) -> String {
    match edge {
        Edge::Member(name) if is_plain(name) => format!(".{name}"),
        Edge::Member(name) => format!("[{name:?}]"),
        Edge::Variable(name) => format!(" closure {name}"),
        other => edge::shown(other),
    }
}

/// Whether a name can stand behind a dot.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|letter| letter.is_alphanumeric() || "_$#()@".contains(letter))
}

/// The facts of an edge.
pub fn fields<'a>(edge: &'a Edge, out: &mut Fields<'a>) {
    out.text("edge", kind(edge));
    edge::key_fields(Some(edge), out);
}
