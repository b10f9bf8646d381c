//! Unique stacks over all threads.

use kcore_mem::Addr;
use kcore_runtimes::Span;
use kcore_unwind::Walker;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::{Core, Stack, Tid};

/// Threads that have the same stack and wait in the same system call.
#[derive(Clone, Debug)]
pub struct StackGroup {
    /// The threads, in the order of the core: the crashed one first.
    pub tids: Vec<Tid>,
    /// The first of them.
    pub first: Tid,
    /// The system call that they wait in.
    pub waits_in: Option<String>,
    /// The stack of the first of them; the others have the same pcs, and the same
    /// frames of languages.
    pub stack: Stack,
}

/// What threads of one group have in common. Interpreters run all functions by the same code, so pcs
/// alone do not tell.
#[derive(PartialEq, Eq, Hash)]
struct Likeness {
    waits_in: Option<String>,
    pcs: Vec<Addr>,
    spans: Vec<Span>,
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

    /// What runtimes say of a stack, as far as stacks of different threads can have it in common.
    fn alike(&self, stack: &Stack) -> Vec<Span> {
        let mut spans = self.decoded(stack);
        for frame in spans.iter_mut().flat_map(|span| &mut span.language) {
            frame.object = None;
        }
        spans
    }

    /// Groups the threads `tids` by stack and by the system call that they wait in: most common
    /// first; groups of one size in the order of their first thread.
    pub fn stack_groups(&self, tids: &[Tid], limit: usize) -> Vec<StackGroup> {
        let mut groups: Vec<StackGroup> = Vec::new();
        let mut known: FxHashMap<Likeness, usize> = FxHashMap::default();
        for (tid, stack) in tids.iter().zip(self.stacks(tids, limit)) {
            let waits_in = self.waits_in(*tid);
            let pcs = stack.frames.iter().map(|frame| frame.pc.addr()).collect();
            let likeness = Likeness { waits_in: waits_in.clone(), pcs, spans: self.alike(&stack) };
            let index = *known.entry(likeness).or_insert(groups.len());
            match groups.get_mut(index) {
                Some(group) => group.tids.push(*tid),
                None => groups.push(StackGroup { tids: vec![*tid], first: *tid, waits_in, stack }),
            }
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.tids.len()));
        groups
    }
}
