//! Unique stacks over all threads.

use kcore_mem::Addr;
use kcore_unwind::Walker;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::{Core, Stack, Tid};

/// Threads that have the same stack and wait in the same system call.
#[derive(Clone, Debug)]
pub struct StackGroup {
    /// The threads, in the order of the core: the crashed one first.
    pub tids: Vec<Tid>,
    /// The system call that they wait in.
    pub waits_in: Option<String>,
    /// The stack of the first of them; the others have the same pcs.
    pub stack: Stack,
}

impl Core {
    /// The stacks of `tids`, at most `limit` frames each, walked in parallel, in the order of
    /// `tids`.
    pub fn stacks(&self, tids: &[Tid], limit: usize) -> Vec<Stack> {
        /// Threads that one walker takes in a row, so that what it learnt pays.
        const CHUNK: usize = 16;
        let walk = |walker: &mut Option<Walker<'_>>, tid: &Tid| match walker {
            Some(walker) => self.stack_with(walker, *tid, limit),
            None => self.stack(*tid, limit),
        };
        if tids.len() <= CHUNK {
            let mut walker = self.walker();
            return tids.iter().map(|tid| walk(&mut walker, tid)).collect();
        }
        tids.par_iter().with_min_len(CHUNK).map_init(|| self.walker(), walk).collect()
    }

    /// Groups the threads `tids` by stack and by the system call that they wait in: most common
    /// first; groups of one size in the order of their first thread.
    pub fn stack_groups(&self, tids: &[Tid], limit: usize) -> Vec<StackGroup> {
        let mut groups: Vec<StackGroup> = Vec::new();
        let mut known: FxHashMap<(Option<String>, Vec<Addr>), usize> = FxHashMap::default();
        for stack in self.stacks(tids, limit) {
            let waits_in = self.waits_in(stack.tid);
            let pcs = stack.frames.iter().map(|frame| frame.pc.addr()).collect();
            let index = *known.entry((waits_in.clone(), pcs)).or_insert(groups.len());
            match groups.get_mut(index) {
                Some(group) => group.tids.push(stack.tid),
                None => groups.push(StackGroup { tids: vec![stack.tid], waits_in, stack }),
            }
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.tids.len()));
        groups
    }
}
