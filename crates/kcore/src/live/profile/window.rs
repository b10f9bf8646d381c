//! Parts of a profile, handed out while it goes on.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    time::Duration,
};

use kcore_profile::FunctionCount;

use super::{Method, ProfileCost};

/// What was seen of a process in a part of the time.
#[derive(Clone, Debug)]
pub struct ProfileWindow {
    /// How long that part was.
    pub elapsed: Duration,
    /// The functions that were seen, in no order.
    pub functions: Vec<FunctionCount>,
    /// The intervals that the stacks of all threads stand for.
    pub intervals: u64,
    /// The time between two samples of a thread, which each interval stands for.
    pub interval: Duration,
    /// Samples of threads that were taken.
    pub samples: u64,
    /// Samples that were lost.
    pub lost: u64,
    /// How long threads of the process stood still, together.
    pub held: Duration,
    /// The name of the program that the process ran last.
    pub program: String,
    /// How samples are taken.
    pub method: Method,
}

/// Who gets the parts of a profile, and how long each is.
#[derive(Debug)]
pub struct ProfileWindows {
    pub(super) every: Duration,
    to: Sender<ProfileWindow>,
}

impl ProfileWindows {
    /// Parts of this length, and the end at which they come out.
    pub fn new(every: Duration) -> (Self, Receiver<ProfileWindow>) {
        let (to, from) = channel();
        (Self { every, to }, from)
    }

    /// Hands one out. That nobody takes it any more is no trouble.
    pub(super) fn hand_out(&self, window: ProfileWindow) {
        drop(self.to.send(window));
    }
}

/// What had been counted when the last part was handed out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HandedOut {
    at: Duration,
    samples: u64,
    lost: u64,
    held: Duration,
}

impl HandedOut {
    /// When that was, since the beginning.
    pub const fn at(&self) -> Duration {
        self.at
    }

    /// What came since, up to `now`; and what is handed out then.
    pub fn next(
        &mut self,
        now: Duration,
        interval: Duration,
        cost: &ProfileCost,
        (functions, intervals): (Vec<FunctionCount>, u64),
    ) -> ProfileWindow {
        let before = std::mem::replace(
            self,
            Self { at: now, samples: cost.samples, lost: cost.lost, held: cost.held },
        );
        ProfileWindow {
            elapsed: now.saturating_sub(before.at),
            functions,
            intervals,
            interval,
            samples: cost.samples.saturating_sub(before.samples),
            lost: cost.lost.saturating_sub(before.lost),
            held: cost.held.saturating_sub(before.held),
            program: cost.program.clone(),
            method: cost.method.clone(),
        }
    }
}
