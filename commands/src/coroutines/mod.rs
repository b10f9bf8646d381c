//! Coroutines of C++20.

mod filter;
pub mod list;
mod row;
mod subject;
pub mod walk;
