//! Which threads have run since one last looked: `/proc/PID/task/TID/schedstat` (Linux
//! `Documentation/scheduler/sched-stats.rst`).

use std::{collections::HashMap, fs::File, os::unix::fs::FileExt};

use crate::Process;

/// Files that are kept open, at most; those of more threads are opened each time.
const MAX_OPEN: usize = 400;
/// Three numbers of 20 digits, two blanks and a newline.
const LONGEST: usize = 64;

/// What the system counted of a thread: time on a processor, time waited for one, and turns.
type Counts = [u8; LONGEST];

/// Which threads have run since one last looked.
#[derive(Debug, Default)]
pub struct Turns {
    files: HashMap<i32, File>,
    counts: HashMap<i32, Counts>,
}

impl Turns {
    /// Whether a thread may have run since this was last asked of it. One that stands still and has
    /// had no turn has the stack that it had.
    pub fn has_run(&mut self, process: &Process, tid: i32) -> bool {
        let now = self.read(process, tid);
        let before = match now {
            Some(now) => self.counts.insert(tid, now),
            None => self.counts.remove(&tid),
        };
        now.is_none() || now != before
    }

    /// Forgets threads that are not among these.
    pub fn keep(&mut self, tids: &[i32]) {
        self.files.retain(|tid, _| tids.contains(tid));
        self.counts.retain(|tid, _| tids.contains(tid));
    }

    fn read(&mut self, process: &Process, tid: i32) -> Option<Counts> {
        let mut counts = [0; LONGEST];
        if let Some(file) = self.files.get(&tid) {
            return (file.read_at(&mut counts, 0).ok()? > 0).then_some(counts);
        }
        let file = File::open(process.task(tid).join("schedstat")).ok()?;
        let read = file.read_at(&mut counts, 0).ok()?;
        if self.files.len() < MAX_OPEN {
            self.files.insert(tid, file);
        }
        (read > 0).then_some(counts)
    }
}
