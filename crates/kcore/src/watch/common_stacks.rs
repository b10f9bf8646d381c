//! Where snapshots found threads: the frames that all of them have in common.

use std::{collections::HashMap, sync::Arc};

use crate::{Core, Location, NamedFrame, Tid, waits::Holder};

/// Frames of a stack that are kept, innermost first: a longer one is compared by no more.
const MAX_FRAMES: usize = 512;

/// A function on a stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommonFrame {
    /// Its name; `None` if it has none.
    pub function: Option<Arc<str>>,
    /// Its module.
    pub module: Option<Arc<str>>,
    /// The source file.
    pub file: Option<Arc<str>>,
    /// The line, if it was the same at each snapshot.
    pub line: Option<u32>,
    /// Whether it is a guess.
    pub is_guess: bool,
}

impl CommonFrame {
    fn of(frame: &NamedFrame) -> Self {
        let location: &Location = &frame.location;
        Self {
            function: location.function.clone(),
            module: location.module.clone(),
            file: location.file.clone(),
            line: location.line,
            is_guess: frame.is_guess(),
        }
    }

    /// What two frames of one function have in common; frames without names have nothing.
    fn common(&self, other: &Self) -> Option<Self> {
        let is_same = self.function.is_some()
            && (&self.function, &self.module) == (&other.function, &other.module);
        let line = self.line.filter(|line| other.line == Some(*line));
        let is_guess = self.is_guess || other.is_guess;
        is_same.then(|| Self { line, is_guess, ..self.clone() })
    }
}

/// Where a thread was found at each snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommonStack {
    /// The frames in common, innermost first, from the outermost one on.
    pub frames: Vec<CommonFrame>,
    /// Whether these were all frames of each stack.
    pub is_same: bool,
    /// Whether each stack was found to its outermost frame.
    pub is_complete: bool,
    /// What the last snapshot proves it to wait for.
    pub waits_for: Option<String>,
    /// Snapshots that it was seen in.
    pub snapshots: u64,
}

/// Where threads were found.
#[derive(Debug, Default)]
pub struct CommonStacks {
    threads: HashMap<Tid, CommonStack>,
    snapshots: u64,
}

impl CommonStacks {
    /// Adds a snapshot.
    pub fn add(&mut self, core: &Core) {
        self.snapshots = self.snapshots.saturating_add(1);
        let tids = core.tids();
        for (tid, stack) in tids.iter().zip(core.stacks().of_threads(&tids, MAX_FRAMES)) {
            let frames =
                core.stacks().named_frames(&stack).map(|frame| CommonFrame::of(&frame)).collect();
            let place = CommonStack {
                frames,
                is_same: true,
                is_complete: stack.is_complete(),
                waits_for: waits_for(core, *tid),
                snapshots: 1,
            };
            let place = match self.threads.remove(tid) {
                Some(before) => joined(&before, place),
                None => place,
            };
            self.threads.insert(*tid, place);
        }
    }

    /// Where a thread was found; `None` unless all snapshots have it.
    pub fn of(&self, tid: Tid) -> Option<&CommonStack> {
        self.threads.get(&tid).filter(|place| place.snapshots == self.snapshots)
    }

    /// How many snapshots there are.
    pub const fn snapshots(&self) -> u64 {
        self.snapshots
    }
}

fn joined(before: &CommonStack, now: CommonStack) -> CommonStack {
    let pairs = before.frames.iter().rev().zip(now.frames.iter().rev());
    let mut frames: Vec<CommonFrame> = pairs.map_while(|(one, two)| one.common(two)).collect();
    frames.reverse();
    let is_whole = frames.len() == before.frames.len() && frames.len() == now.frames.len();
    let is_complete = before.is_complete && now.is_complete;
    // Only from the outermost frame on are two stacks known to be alike.
    if !is_complete && !is_whole {
        frames.clear();
    }
    CommonStack {
        is_same: before.is_same && is_whole,
        is_complete,
        frames,
        waits_for: now.waits_for,
        snapshots: before.snapshots.saturating_add(1),
    }
}

fn waits_for(core: &Core, tid: Tid) -> Option<String> {
    let waits = core.waits();
    let Some(lock) = waits.lock_of(tid) else {
        return waits.kernel_wait(tid).map(|wait| wait.spelled());
    };
    let held = match lock.holder {
        Holder::Thread(holder) => format!(", held by thread {holder}"),
        _ => String::new(),
    };
    Some(format!("{} at {:#x}{held}", lock.kind.spelled(), lock.at.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(functions: &[(&str, u32)], is_complete: bool) -> CommonStack {
        let frame = |(name, line): &(&str, u32)| CommonFrame {
            function: Some((*name).into()),
            module: None,
            file: None,
            line: Some(*line),
            is_guess: false,
        };
        let frames = functions.iter().map(frame).collect();
        CommonStack { frames, is_same: true, is_complete, waits_for: None, snapshots: 1 }
    }

    #[test]
    fn stacks_are_alike_from_the_outermost_frame_on() {
        let before = place(&[("leaf", 1), ("spin", 2), ("main", 3)], true);
        let now = joined(&before, place(&[("spin", 4), ("main", 3)], true));
        let lines: Vec<_> = now.frames.iter().map(|frame| frame.line).collect();
        assert_eq!((lines, now.is_same), (vec![None, Some(3)], false));
    }

    #[test]
    fn nothing_is_said_of_stacks_that_were_cut() {
        let before = place(&[("leaf", 1), ("spin", 2)], false);
        assert!(joined(&before, place(&[("spin", 2)], true)).frames.is_empty());
    }
}
