//! Profiles: stacks, each stored once, with how often they were seen, and the formats of others.
//!
//! A [`Profile`] takes stacks as names and knows nothing of processes. [`write()`] gives it in one of the
//! formats of [`Format`].

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

mod firefox;
mod flamegraph;
mod folded;
mod format;
mod frame;
mod functions;
mod heap;
mod pprof;
mod process;
mod profile;

pub use format::{Format, WriteError, write};
pub use frame::ProfileFrame;
pub use functions::{FunctionCount, ProfileFunction};
pub use heap::{HeapProfile, InUse};
pub use process::{ProcessId, ProfileProcess};
pub use profile::{About, Profile, ProfileThread, Sample, StackId, ThreadId};
