//! Profiles of a live process: its stacks, many times a second.
//!
//! What stacks need of files, symbols and runtimes is prepared once for each program that the process runs. Each
//! sample then stops those threads alone that have run since the last one: the others still have the stack that they
//! had. How often that is done follows from what it costs (`budget`).

mod budget;
mod cost;
mod counted;
mod course;
mod names;
mod pace;
mod prepared;
mod sampler;
mod several;
mod taking;
mod window;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64},
    },
    time::Duration,
};

use kcore_live::Process;
use kcore_profile::Profile;

pub use budget::HeldShare;
pub use cost::{Method, ProfileChange, ProfileCost};
pub(crate) use names::frame_of;
pub use several::{ProcessCost, ProcessesCost, RefusedProcess};
pub use window::{ProfileWindow, ProfileWindows};

use course::Next;
use taking::Taking;

use super::{LiveOptions, LiveProcess};
use crate::{OpenError, OpenOptions, by_file::SymbolsByFile};

/// Which threads are sampled, how often, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileOptions {
    /// Which threads, and how they are stopped.
    pub live: LiveOptions,
    /// Samples a second.
    pub frequency: u32,
    /// The share of the time in which the process may stand still, for the sake of which samples are taken more rarely.
    pub held: HeldShare,
    /// How long it lasts.
    pub duration: Duration,
    /// Only threads in these states count, by the letters of `/proc`; `None` is all of them.
    pub states: Option<String>,
    /// Only time on a processor counts. Where the kernel allows it, it takes the samples, and no thread is
    /// stopped; else, and where a runtime's frames can be told from a stopped thread alone, those count that run when
    /// they are stopped.
    pub on_cpu: bool,
    /// Frames of machine code alone: those of runtimes are not decoded.
    pub native: bool,
}

/// How far a profile is, for whoever watches.
#[derive(Debug, Default)]
pub struct ProfileProgress {
    /// Samples of threads that were taken.
    pub samples: AtomicU64,
    /// Set when all is prepared and sampling begins.
    pub begun: AtomicBool,
    /// Set to end it early; a process that stands still then goes on at once.
    pub stop: Arc<AtomicBool>,
    /// Who gets what was counted while it goes on. The profile at the end has what came since then.
    pub windows: Option<ProfileWindows>,
}

impl LiveProcess {
    /// Samples its stacks; it runs on. Threads come and go meanwhile, and it may start another
    /// program. It ends early, with what there is by then, when the process does, or the last of the chosen threads:
    /// [`ProfileCost::changes`] says so.
    ///
    /// # Errors
    /// When there is no such process, or a right is missing.
    pub fn profile(
        self,
        wanted: &ProfileOptions,
        options: &OpenOptions,
        progress: &ProfileProgress,
    ) -> Result<(Profile, ProfileCost), OpenError> {
        profile_one(Process::open(self.pid)?, wanted, options, progress, Arc::default())
    }
}

/// Samples one process, through all programs that it starts. `symbols` are those that were loaded before.
///
/// # Errors
/// When there is not a single sample, since the process cannot be looked at.
fn profile_one(
    mut process: Process,
    wanted: &ProfileOptions,
    options: &OpenOptions,
    progress: &ProfileProgress,
    symbols: Arc<SymbolsByFile>,
) -> Result<(Profile, ProfileCost), OpenError> {
    let pid = process.pid();
    let mut taking = Taking::new(wanted, progress, symbols);
    while taking.of_program(&process, options)? == Next::LookAgain {
        match taking.look_again(pid)? {
            Some(again) => process = again,
            None => break,
        }
    }
    taking.finish(pid)
}
