//! Dcmds of Python.

pub mod pyobjects;
pub mod pyprint;
pub mod pystack;
pub mod pytasks;
mod referrers;
mod subject;
