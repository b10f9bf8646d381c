//! The agent: a process shows the unique stacks of all its threads when it is asked, and profiles itself on a
//! signal, without a tracer.
//!
//! After [`install`] (or by `LD_PRELOAD`, see [`Settings`]) the process writes its stacks to standard error on
//! signal 35, [`stacks`] gives them to the program itself, and SIGUSR2 starts a profile and ends it.
//!
//! - A request wakes a thread that was made beforehand and does not run until then (`sys`).
//! - It copies unwind tables, and sends each thread a queued signal with the number of a slot (`collector`).
//! - `kcore ask` gets what it asks for by a socket (`asks`).
//! - The handler walks its own stack into the slot, and does nothing else (`handler`, `slots`).
//! - Another process takes profiles of what runs in a language (`outside`).
//! - What came is named and grouped as stacks of any core are, by the facade and the records of dcmds (`report`).
//!
//! `docs/book/src/agent.md` says what all this does to the process.

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

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("the agent knows Linux on x86-64 and aarch64 alone");

mod agent;
mod asks;
mod c_api;
mod call;
mod collector;
mod error;
mod handler;
mod install;
mod output;
mod outside;
mod preload;
mod report;
mod requests;
mod sampler;
mod settings;
mod slots;
mod sys;
mod trust;
mod window;
mod wraps;

pub use call::stacks;
pub use collector::Missing;
pub use error::AgentError;
pub use install::install;
pub use report::{Costs, Group, GroupFrame, Stacks};
pub use settings::Settings;
