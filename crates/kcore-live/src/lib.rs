//! Live processes: what `/proc` tells of them, stopping them for as short as can be, and the copy of
//! registers and memory that is made in that time.
//!
//! - [`Process`] is a process that runs, and may be traced.
//! - [`capture`] stops its threads, copies, and lets them go: a [`Snapshot`].
//! - [`save`] writes all of it as a core while it stands still.
//! - [`hold`] stops it for as long as some work takes, now or at the moment of an [`Event`].
//! - [`LivePages`] is memory of a process that goes on running.
//! - [`agent`] asks a process that shows its stacks itself, and traces nothing.
//! - [`image`] writes a snapshot as a core, which is what all other rooms read.
//!
//! A target is never left stopped. Threads are seized and not attached, so that the kernel lets them
//! go when their tracer ends, however it ends; and a tracer is a thread of its own that lives no longer
//! than one capture.
//!
//! No policy and no symbols: what is worth copying is decided above.

#![warn(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects
)]
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::arithmetic_side_effects
    )
)]

pub mod agent;
mod arena;
mod catch;
mod error;
mod freeze;
pub mod image;
mod memory;
mod pages;
mod perf;
mod proc;
mod process;
mod resident;
mod rights;
mod save;
mod snapshot;
mod sys;

pub use catch::{Caught, Event, Happening, Moment, can_filter_calls};
pub use error::LiveError;
pub use freeze::{Deadline, Plan, StackLimit, Standing, StoppedProcess, capture, hold};
pub use image::Facts;
pub use kcore_elf::core_file::Instants;
pub use memory::LiveMemory;
pub use pages::LivePages;
pub use perf::{Counters, PerfSample};
pub use proc::{Descendant, ProcessKey, ProcessLook, TaskStat, ThreadLook, Turns, descendants};
pub use process::{Pid, Process};
pub use save::{CoreFilter, CoreSink, SaveProgress, Saved, save};
pub use snapshot::{Piece, Registers, SnapThread, Snapshot};
