//! Names of C++, as the Itanium ABI mangles them and as libiberty spells them.
//!
//! A name becomes a tree (`parse`), and the tree a text (`print`). Whoever compares what kcore says with
//! `c++filt`, `nm -C`, gdb or perf finds the same letters, blanks included; what is not understood stays
//! mangled, and never becomes a name that is only likely.
//!
//! Names come from files of unknown origin. A name of a few bytes can unfold without end, since each of
//! its parts may stand for two of those before it: text, steps and depth have bounds.

mod node;
mod operators;
mod parse;
mod print;

pub use parse::{parse, parse_type};
pub use print::print;

/// How deep rules of the grammar may stand within one another.
const MAX_DEPTH: u32 = 192;
