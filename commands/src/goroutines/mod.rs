//! Goroutines.

pub mod channel;
mod filter;
mod go_trace;
pub mod gocontexts;
pub mod gofinalizers;
pub mod goprint;
pub mod goroutine;
pub mod goroutine_record;
pub mod gotimers;
mod groups;
pub mod heap;
pub mod list;
pub mod subject;
pub mod walk;
