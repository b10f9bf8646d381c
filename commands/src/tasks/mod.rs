//! Tasks of all runtimes.

mod filter;
pub mod list;
mod row;
