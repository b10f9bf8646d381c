//! Tasks of all runtimes.

mod filter;
pub mod list;
mod row;

pub use row::with_doubt;
