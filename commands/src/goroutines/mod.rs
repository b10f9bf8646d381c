//! Goroutines.

pub mod channel;
mod filter;
mod go_trace;
pub mod goroutine;
mod goroutine_record;
mod groups;
pub mod list;
mod subject;
pub mod walk;
