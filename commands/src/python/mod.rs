//! Dcmds of Python.

pub mod pyprint;
pub mod pystack;
mod subject;
mod tree;
