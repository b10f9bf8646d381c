//! Dcmds of the heaps of all language runtimes: they ask what [`kcore::objects`] says, whatever the language is.

pub mod classes;
pub mod edge;
pub mod not_copied;
pub mod path;
pub mod refs;
mod subject;
