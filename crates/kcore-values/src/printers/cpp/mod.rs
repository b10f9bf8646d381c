//! The standard library of C++, as libstdc++ (gcc 4 to 15) and libc++ (llvm 7 to 22) lay it out. Members
//! are named as in the sources of both: `bits/stl_*.h` of the one, `__*` headers of the other.

pub mod any;
pub mod array;
pub mod atomic_shared;
pub mod bit_reference;
pub mod bitset;
pub mod calendar;
pub mod chrono;
pub mod complex;
pub mod deque;
pub mod error_code;
pub mod exception_ptr;
pub mod expected;
pub mod forward_list;
pub mod function;
pub mod future;
pub mod iterator;
pub mod list;
pub mod map;
pub mod mutex;
pub mod node_iterator;
pub mod optional;
pub mod ordering;
pub mod reference;
pub mod shared_ptr;
pub mod small;
pub mod span;
pub mod string;
pub mod string_view;
pub mod tuple;
pub mod unique_ptr;
pub mod unordered;
pub mod variant;
pub mod vector;
pub mod view;

mod names;
mod pairs;
