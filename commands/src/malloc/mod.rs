//! Dcmds and walkers of native heaps: malloc's, and those of other allocators.

mod beginning;
pub mod block_record;
pub mod blocks;
pub mod event_record;
pub mod findleaks;
pub mod heap;
pub mod heapcheck;
pub mod malloctypes;
mod pointer_record;
pub mod reachedby;
pub mod reaches;
pub mod retained;
mod subject;
pub mod type_text;
mod usage_record;
pub mod walk;
