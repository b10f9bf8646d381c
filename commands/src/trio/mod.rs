//! Tasks of trio.

pub mod list;
mod row;
mod subject;
pub mod walk;
