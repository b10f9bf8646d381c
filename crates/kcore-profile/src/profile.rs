//! A profile: a tree of frames, each stack a node of it, and the samples by their stacks.

use std::{
    collections::hash_map::Entry,
    sync::Arc,
    time::{Duration, SystemTime},
};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{ProcessId, ProfileFrame, ProfileProcess};

/// Nodes of the tree, at most: what is below them is left out, and counted at the last one that there
/// is room for.
const MAX_NODES: usize = 4 << 20;
/// Samples whose times are kept, at most; those after them count without a time.
pub(crate) const MAX_TIMES: usize = 8 << 20;

/// A stack: its innermost frame in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackId(u32);

impl StackId {
    /// Its place among the nodes.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A thread of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub(crate) u32);

impl ThreadId {
    /// Its place among the threads.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a profile is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The program's name.
    pub program: String,
    /// The process.
    pub pid: u32,
    /// When the first sample was taken.
    pub start: SystemTime,
    /// Time between two samples of a thread.
    pub interval: Duration,
    /// Whether only time on a processor counts.
    pub on_cpu: bool,
    /// From the first sample to the last one.
    pub elapsed: Duration,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileThread {
    /// Its id.
    pub tid: u32,
    /// Its name.
    pub name: Arc<str>,
    /// Whose it is, in a profile of several processes.
    pub process: Option<ProcessId>,
}

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Since the first one.
    pub at: Duration,
    /// Whose stack it is.
    pub thread: ThreadId,
    /// The stack.
    pub stack: StackId,
    /// How many intervals it stands for: more than one where samples could not be taken as often.
    pub weight: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Node {
    pub(crate) caller: Option<StackId>,
    /// Its place among the frames.
    pub(crate) frame: u32,
}

/// Stacks, each stored once, and when they were seen.
#[derive(Debug)]
pub struct Profile {
    /// What it is of.
    pub about: About,
    pub(crate) frames: Vec<ProfileFrame>,
    frame_ids: FxHashMap<ProfileFrame, u32>,
    pub(crate) nodes: Vec<Node>,
    node_ids: FxHashMap<Node, StackId>,
    threads: Vec<ProfileThread>,
    thread_ids: FxHashMap<(Option<ProcessId>, u32), ThreadId>,
    counts: FxHashMap<(ThreadId, StackId), u64>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) processes: Vec<ProfileProcess>,
}

impl Profile {
    /// A profile without samples.
    pub fn new(about: About) -> Self {
        Self {
            about,
            frames: Vec::new(),
            frame_ids: FxHashMap::default(),
            nodes: Vec::new(),
            node_ids: FxHashMap::default(),
            threads: Vec::new(),
            thread_ids: FxHashMap::default(),
            counts: FxHashMap::default(),
            samples: Vec::new(),
            processes: Vec::new(),
        }
    }

    /// The stack of these frames, innermost first; `None` of no frames.
    pub fn stack(&mut self, frames: Vec<ProfileFrame>) -> Option<StackId> {
        let mut inner = None;
        for frame in frames.into_iter().rev() {
            let frame = self.frame_id(frame);
            match self.node(Node { caller: inner, frame }) {
                Some(node) => inner = Some(node),
                None => break,
            }
        }
        inner
    }

    pub(crate) fn frame_id(&mut self, frame: ProfileFrame) -> u32 {
        let next = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        match self.frame_ids.entry(frame) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.frames.push(new.key().clone());
                *new.insert(next)
            }
        }
    }

    pub(crate) fn node(&mut self, node: Node) -> Option<StackId> {
        if let Some(known) = self.node_ids.get(&node) {
            return Some(*known);
        }
        let id = StackId(u32::try_from(self.nodes.len()).ok()?);
        (self.nodes.len() < MAX_NODES).then(|| {
            self.nodes.push(node);
            self.node_ids.insert(node, id);
            id
        })
    }

    /// The thread of that id; its name is the first one that it was seen with.
    pub fn thread(&mut self, tid: u32, name: &str) -> ThreadId {
        self.thread_in(None, tid, name)
    }

    /// The same of a thread of a process of several.
    pub(crate) fn thread_in(
        &mut self,
        process: Option<ProcessId>,
        tid: u32,
        name: &str,
    ) -> ThreadId {
        let next = ThreadId(u32::try_from(self.threads.len()).unwrap_or(u32::MAX));
        match self.thread_ids.entry((process, tid)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.threads.push(ProfileThread { tid, name: name.into(), process });
                *new.insert(next)
            }
        }
    }

    /// Counts a sample.
    pub fn add(&mut self, sample: Sample) {
        self.count((sample.thread, sample.stack), u64::from(sample.weight));
        if self.samples.len() < MAX_TIMES {
            self.samples.push(sample);
        }
    }

    /// Counts intervals of a stack of a thread.
    pub(crate) fn count(&mut self, key: (ThreadId, StackId), intervals: u64) {
        let count = self.counts.entry(key).or_default();
        *count = count.saturating_add(intervals);
    }

    /// Takes all counts, and forgets the samples.
    pub(crate) fn take_counts(&mut self) -> Vec<(ThreadId, StackId, u64)> {
        self.samples.clear();
        self.counts.drain().map(|((thread, stack), count)| (thread, stack, count)).collect()
    }

    /// How many samples there are, each counted as often as it has intervals.
    pub fn len(&self) -> u64 {
        self.counts.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// How many different stacks there are.
    pub fn stacks(&self) -> usize {
        self.counts.keys().map(|(_, stack)| stack).collect::<FxHashSet<_>>().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The samples, those of each process in the order of time, as far as their times were kept.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Each stack of each thread with the intervals for which it was seen, in the order of threads and stacks.
    pub fn counts(&self) -> Vec<(ThreadId, StackId, u64)> {
        let mut counts: Vec<_> =
            self.counts.iter().map(|((thread, stack), count)| (*thread, *stack, *count)).collect();
        counts.sort_unstable();
        counts
    }

    /// The threads, in the order in which they were seen.
    pub fn threads(&self) -> &[ProfileThread] {
        &self.threads
    }

    /// A thread by its id.
    pub fn thread_at(&self, id: ThreadId) -> Option<&ProfileThread> {
        self.threads.get(id.index())
    }

    /// The frames of a stack, innermost first: their places among all frames, and they themselves.
    pub fn frames_of(&self, stack: StackId) -> impl Iterator<Item = (usize, &ProfileFrame)> {
        let node = |id: StackId| self.nodes.get(id.index());
        std::iter::successors(node(stack), move |it| node(it.caller?)).filter_map(|it| {
            let index = it.frame as usize;
            Some((index, self.frames.get(index)?))
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub fn frame(function: &str) -> ProfileFrame {
        ProfileFrame { function: function.into(), ..ProfileFrame::default() }
    }

    /// Of one thread: `main;hot` three times, `main;say "hi";` once, the latter a script's.
    pub fn example() -> Profile {
        let about = About {
            program: "app".to_owned(),
            pid: 70,
            start: SystemTime::UNIX_EPOCH,
            interval: Duration::from_millis(10),
            on_cpu: false,
            elapsed: Duration::from_millis(40),
        };
        let mut profile = Profile::new(about);
        let thread = profile.thread(71, "pool");
        for (at, inner) in [(0, "hot"), (10, "hot"), (20, "say \"hi\";"), (30, "hot")] {
            let inner = ProfileFrame {
                script: (inner != "hot").then_some("js"),
                line: Some(7),
                file: Some("/src/app.c".into()),
                ..frame(inner)
            };
            let stack = profile.stack(vec![inner, frame("main")]).unwrap();
            profile.add(Sample { at: Duration::from_millis(at), thread, stack, weight: 1 });
        }
        profile
    }

    #[test]
    fn a_stack_is_stored_once() {
        let profile = example();
        assert_eq!((profile.len(), profile.counts().len(), profile.nodes.len()), (4, 2, 3));
        let (_, stack, count) = profile.counts()[0];
        let names: Vec<_> = profile.frames_of(stack).map(|(_, it)| &*it.function).collect();
        assert_eq!((count, names), (3, vec!["hot", "main"]));
    }

    #[test]
    fn a_sample_counts_for_as_many_intervals_as_it_stands_for() {
        let mut profile = example();
        let (thread, stack, _) = profile.counts()[0];
        let at = Duration::from_millis(80);
        profile.add(Sample { at, thread, stack, weight: 5 });
        assert_eq!((profile.counts()[0].2, profile.len(), profile.samples().len()), (8, 9, 5));
    }
}
