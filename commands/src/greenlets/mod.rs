//! Greenlets of Python.

pub mod list;
mod row;
mod subject;
mod wait;
pub mod walk;
