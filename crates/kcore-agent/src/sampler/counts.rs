//! Stacks that were seen, and how often.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use kcore::{CodeAddr, CountedStack, Frame, Tid};

use crate::report::name_of;

/// Frames that are kept, at most: 32 MiB.
const MAX_FRAMES: usize = 2 << 20;

/// Stacks that were seen, and how often.
#[derive(Default)]
pub struct Counts {
    stacks: HashMap<(i32, Box<[CodeAddr]>), u64>,
    frames: usize,
    names: BTreeMap<i32, Arc<str>>,
    /// Samples of stacks for which there was no room.
    pub left_out: u64,
}

impl Counts {
    /// Counts a sample.
    pub fn add(&mut self, tid: i32, frames: &[Frame], count: u64) {
        let pcs: Box<[CodeAddr]> = frames.iter().map(|frame| frame.pc).collect();
        if let Some(known) = self.stacks.get_mut(&(tid, pcs.clone())) {
            *known = known.saturating_add(count);
            return;
        }
        let room = self.frames.saturating_add(pcs.len());
        if room > MAX_FRAMES {
            self.left_out = self.left_out.saturating_add(count);
            return;
        }
        self.frames = room;
        self.stacks.insert((tid, pcs), count);
    }

    /// Notes the name that a thread has now: most have that of the one that made them when they begin.
    pub fn name(&mut self, tid: i32) {
        let name = name_of(tid.unsigned_abs());
        if !name.is_empty() {
            self.names.insert(tid, name.trim_end().into());
        }
    }

    /// The stacks, with the names of their threads.
    pub fn into_stacks(self) -> Vec<CountedStack> {
        let names = self.names;
        let stacks = self.stacks.into_iter().map(|((tid, pcs), count)| CountedStack {
            tid: Tid::new(tid.unsigned_abs()),
            thread: names.get(&tid).cloned().unwrap_or_default(),
            pcs: pcs.into_vec(),
            count,
        });
        stacks.collect()
    }
}
