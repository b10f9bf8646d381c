//! Goroutines.

pub mod channel;
mod filter;
mod go_trace;
pub mod goprint;
pub mod goroutine;
mod goroutine_record;
mod groups;
pub mod heap;
pub mod list;
mod subject;
pub mod walk;
