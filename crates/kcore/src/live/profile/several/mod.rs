//! Profiles of a process and of those that it starts: a thread of kcore for each, and one profile of all.
//!
//! Each process is prepared, stopped and paid for by itself: the share of the time that it may stand still is its own.
//! Modules that several of them have are read once. A process counts as long as it lives, also when the one that
//! started it has ended.

mod cost;
mod leader;

use std::{
    sync::{Arc, mpsc},
    thread,
};

use kcore_live::{Descendant, LiveError, Process, ProcessKey};
use kcore_profile::Profile;

pub use cost::{ProcessCost, ProcessesCost, RefusedProcess};

use leader::Leader;

use super::{ProfileCost, ProfileOptions, ProfileProgress, profile_one};
use crate::{LiveProcess, OpenError, OpenOptions, by_file::SymbolsByFile};

/// What became of the profile of one process.
struct Outcome {
    process: Descendant,
    result: Result<(Profile, ProfileCost), OpenError>,
}

/// A process that is to be sampled.
struct Order {
    process: Descendant,
    progress: Arc<ProfileProgress>,
    symbols: Arc<SymbolsByFile>,
}

impl LiveProcess {
    /// Samples its stacks as [`LiveProcess::profile`] does, and those of all processes that it has
    /// started or starts meanwhile, and that these start. Threads of the profile say whose they are.
    ///
    /// A process that lives for a shorter time than it takes to find and prepare it has no samples, and is counted.
    ///
    /// # Errors
    /// When there is no such process, or neither it nor any that it has started may be looked at.
    pub fn profile_with_children(
        self,
        wanted: &ProfileOptions,
        options: &OpenOptions,
        progress: &ProfileProgress,
    ) -> Result<(Profile, ProcessesCost), OpenError> {
        let root = Descendant::of(self.pid).ok_or(LiveError::NoProcess(self.pid))?;
        let (done, outcomes) = mpsc::channel();
        thread::scope(|scope| {
            let begin = |order: Order| {
                let done = done.clone();
                let work = move || {
                    let result = sample(&order, wanted, options);
                    // Whoever waited for it is there until all have ended.
                    let _ = done.send(Outcome { process: order.process, result });
                };
                thread::Builder::new().spawn_scoped(scope, work).map(drop)
            };
            let mut leader = Leader::new(&root, wanted, progress, begin);
            leader.follow(root, &outcomes);
            let finishing = leader.end();
            drop(done);
            finishing.finish(&outcomes)
        })
    }
}

/// Samples one process until it ends, or somebody ends that.
fn sample(
    order: &Order,
    wanted: &ProfileOptions,
    options: &OpenOptions,
) -> Result<(Profile, ProfileCost), OpenError> {
    let ProcessKey { pid, started } = order.process.key;
    let process = Process::open(pid)?;
    if process.stat().started != started {
        return Err(LiveError::NoProcess(pid).into());
    }
    profile_one(process, wanted, options, &order.progress, order.symbols.clone())
}
