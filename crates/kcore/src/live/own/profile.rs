//! Stacks that were counted, as a profile.

use std::{sync::Arc, time::Duration};

use kcore_mem::CodeAddr;
use kcore_profile::{About, Profile, ProfileFrame, Sample};
use kcore_unwind::{End, Frame, Trust};

use super::{super::profile::frame_of, OwnProcess};
use crate::{Core, OpenError, OpenOptions, Stack, Tid};

/// A stack of a thread, and how often it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedStack {
    /// The thread.
    pub tid: Tid,
    /// Its name.
    pub thread: Arc<str>,
    /// Its frames, innermost first.
    pub pcs: Vec<CodeAddr>,
    /// How often.
    pub count: u64,
}

impl OwnProcess {
    /// Names the stacks, by the modules that are mapped now.
    ///
    /// # Errors
    /// When the system does not tell of the process.
    pub fn profile(&self, about: About, stacks: Vec<CountedStack>) -> Result<Profile, OpenError> {
        let core = self.core(Vec::new(), &OpenOptions::default())?;
        let mut profile = Profile::new(about);
        for counted in stacks {
            let thread = profile.thread(counted.tid.get(), &counted.thread);
            let Some(stack) = profile.stack(frames_of(&core, &counted)) else { continue };
            for _ in 0..counted.count {
                profile.add(Sample { at: Duration::ZERO, thread, stack, weight: 1 });
            }
        }
        Ok(profile)
    }
}

fn frames_of(core: &Core, counted: &CountedStack) -> Vec<ProfileFrame> {
    let frames = counted.pcs.iter().map(|pc| Frame {
        pc: *pc,
        sp: None,
        cfa: None,
        frame_pointer: None,
        trust: Trust::Cfi,
        guess: false,
        signal_trampoline: false,
        on_other_stack: false,
        calls_elsewhere: false,
    });
    let stack = Stack::of_frames(counted.tid, frames.collect(), End::Outermost);
    core.stacks().native_frames(&stack).map(|frame| frame_of(&frame.location)).collect()
}
