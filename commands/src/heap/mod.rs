//! Dcmds of the heaps of all language runtimes: they ask what [`kcore::objects`] says, whatever the language is.

pub mod classes;
mod edge;
pub mod path;
pub mod refs;
mod subject;
