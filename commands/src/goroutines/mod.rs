//! Goroutines.

mod filter;
pub mod goroutine;
mod groups;
pub mod list;
mod row;
mod subject;
pub mod walk;
