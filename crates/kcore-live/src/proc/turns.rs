//! Which threads have run since one last looked: `/proc/PID/task/TID/schedstat` (Linux
//! `Documentation/scheduler/sched-stats.rst`).

use std::{collections::HashMap, fs::File, os::unix::fs::FileExt, time::Duration};

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

    /// How long a thread has waited for a processor since it began, when it last got one; `None` where the system does
    /// not tell.
    pub fn waited(&mut self, process: &Process, tid: i32) -> Option<Duration> {
        waited(&self.read(process, tid)?)
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

fn waited(counts: &[u8]) -> Option<Duration> {
    let second = counts.split(|byte| *byte == b' ').nth(1)?;
    std::str::from_utf8(second).ok()?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_is_what_a_thread_waited() {
        let of = |text: &[u8]| waited(text);
        assert_eq!(of(b"7000 1500 3\n\0\0"), Some(Duration::from_nanos(1500)));
        assert_eq!((of(b"7000"), of(b"7000 x 3"), of(b"")), (None, None, None));
    }
}
