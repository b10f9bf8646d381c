//! Profiles of several processes in one: what each of them has is taken over, and its threads say whose they are.

use std::{sync::Arc, time::Duration};

use rustc_hash::FxHashMap;

use crate::{
    Profile, Sample, StackId, ThreadId,
    profile::{MAX_TIMES, Node},
};

/// A process of a profile of several, by its place among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId(pub(crate) u32);

impl ProcessId {
    /// Its place among the processes.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A process of a profile of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileProcess {
    /// Its id. Another process may have had it before.
    pub pid: u32,
    /// Its name.
    pub name: Arc<str>,
    /// When its own profile began, since that of all did.
    pub from: Duration,
    /// When it ended.
    pub until: Duration,
}

impl ProfileProcess {
    /// Its name, and its id in brackets.
    pub fn title(&self) -> String {
        format!("{} [{}]", self.name, self.pid)
    }
}

impl Profile {
    /// Takes over the profile of one process. Samples that there is no room for are not, and are counted.
    pub fn add_process(&mut self, process: ProfileProcess, other: &Self) -> u64 {
        let id = ProcessId(u32::try_from(self.processes.len()).unwrap_or(u32::MAX));
        let from = process.from;
        self.processes.push(process);
        let moved = Moved { stacks: self.stacks_of(other), threads: self.threads_of(id, other) };
        let mut lost: u64 = 0;
        for (thread, stack, count) in other.counts() {
            match moved.key(thread, stack) {
                Some(key) => self.count(key, count),
                None => lost = lost.saturating_add(count),
            }
        }
        let room = MAX_TIMES.saturating_sub(self.samples.len());
        let samples = other.samples().iter().filter_map(|sample| {
            let (thread, stack) = moved.key(sample.thread, sample.stack)?;
            Some(Sample { at: sample.at.saturating_add(from), thread, stack, ..*sample })
        });
        self.samples.extend(samples.take(room));
        lost
    }

    /// The stacks of another profile as this one has them, by their places. Frames that there is no room for are left
    /// out.
    fn stacks_of(&mut self, other: &Self) -> Vec<Option<StackId>> {
        let mut stacks: Vec<Option<StackId>> = Vec::with_capacity(other.nodes.len());
        for node in &other.nodes {
            // A caller was stored before what it calls.
            let caller = node.caller.map(|caller| stacks.get(caller.index()).copied().flatten());
            let moved = match (caller, other.frames.get(node.frame as usize)) {
                (Some(None), _) | (_, None) => None,
                (caller, Some(frame)) => {
                    let (caller, frame) = (caller.flatten(), self.frame_id(frame.clone()));
                    self.node(Node { caller, frame }).or(caller)
                }
            };
            stacks.push(moved);
        }
        stacks
    }

    fn threads_of(&mut self, process: ProcessId, other: &Self) -> FxHashMap<ThreadId, ThreadId> {
        let moved = |(index, thread): (usize, &crate::ProfileThread)| {
            let own = ThreadId(u32::try_from(index).ok()?);
            Some((own, self.thread_in(Some(process), thread.tid, &thread.name)))
        };
        other.threads().iter().enumerate().filter_map(moved).collect()
    }

    /// The processes, in the order in which they were taken over; none of a profile of one process alone.
    pub fn processes(&self) -> &[ProfileProcess] {
        &self.processes
    }

    /// Whose thread it is; `None` in a profile of one process alone.
    pub fn process_of(&self, thread: ThreadId) -> Option<&ProfileProcess> {
        self.processes.get(self.thread_at(thread)?.process?.index())
    }
}

/// Stacks and threads of one profile as another one has them.
struct Moved {
    stacks: Vec<Option<StackId>>,
    threads: FxHashMap<ThreadId, ThreadId>,
}

impl Moved {
    fn key(&self, thread: ThreadId, stack: StackId) -> Option<(ThreadId, StackId)> {
        let stack = self.stacks.get(stack.index()).copied().flatten()?;
        Some((*self.threads.get(&thread)?, stack))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::profile::tests::example;

    /// Twice the same process in one profile, the second time two seconds later under another id.
    pub fn family() -> Profile {
        let example = example();
        let mut all = Profile::new(example.about.clone());
        for (pid, from) in [(70, 0), (72, 2)] {
            let from = Duration::from_secs(from);
            let until = from + Duration::from_millis(40);
            let process = ProfileProcess { pid, name: "app".into(), from, until };
            assert_eq!(all.add_process(process, &example), 0);
        }
        all
    }

    #[test]
    fn processes_share_stacks_and_keep_their_threads() {
        let (one, both) = (example(), family());
        assert_eq!((both.len(), both.stacks()), (2 * one.len(), one.stacks()));
        assert_eq!((both.threads().len(), both.nodes.len()), (2, one.nodes.len()));
        let titles = both
            .counts()
            .into_iter()
            .map(|(thread, _, count)| (both.process_of(thread).map(ProfileProcess::title), count));
        let title = |pid: u32| Some(format!("app [{pid}]"));
        let told: Vec<_> = titles.collect();
        assert_eq!(told, [(title(70), 3), (title(70), 1), (title(72), 3), (title(72), 1)]);
    }

    #[test]
    fn samples_have_the_time_of_the_whole_profile() {
        let times: Vec<u64> =
            family().samples().iter().map(|sample| sample.at.as_millis() as u64).collect();
        assert_eq!(times, [0, 10, 20, 30, 2000, 2010, 2020, 2030]);
    }
}
