//! A process goes on when its time is over, and its core says what is missing.

use std::{fs, io, sync::atomic::Ordering, time::Duration};

use kcore_live::{CoreSink, LiveError, LiveMemory, Pid, Plan, Process, SaveProgress, Saved, save};
use kcore_mem::Addr;

use crate::target::{Target, plan, until};

/// Whether somebody traces a process.
fn is_held(pid: Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    !status.contains("TracerPid:\t0\n")
}

/// Writes nothing as long as the process is held: so the copier must wait for it, once there is no more room
/// for what it copies.
struct Slow<'a> {
    pid: Pid,
    progress: &'a SaveProgress,
    /// Whether it ends the copy.
    ends: bool,
    head: Vec<u8>,
}

impl CoreSink for Slow<'_> {
    fn begin(&mut self, _: u64) -> io::Result<()> {
        until("the process is held", || is_held(self.pid));
        // Its stack is copied, which comes first, and some more.
        let some = || self.progress.copied.load(Ordering::Relaxed) > 64 << 20;
        until("some of it is copied", some);
        self.progress.stop.store(self.ends, Ordering::Relaxed);
        until("the process goes on", || !is_held(self.pid));
        Ok(())
    }

    fn bytes(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn zeros(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn head(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.head = bytes.to_vec();
        Ok(())
    }
}

/// Saves a process that has more memory than there is room for, and what its core says comes before all memory.
fn saved(target: &Target, budget: Duration, ends: bool) -> (Result<Saved, LiveError>, Vec<u8>) {
    let process = Process::open(target.pid()).unwrap();
    let memory = LiveMemory::open(&process).unwrap();
    let plan = plan(&process, &memory, &[], Duration::from_secs(5), false);
    let progress = SaveProgress::default();
    let mut sink = Slow { pid: target.pid(), progress: &progress, ends, head: Vec::new() };
    let saved = save(&Plan { budget, ..plan }, None, &progress, &mut sink);
    (saved, sink.head)
}

/// Whether a core holds the byte at an address, by its head.
fn holds(head: &[u8], at: Addr) -> bool {
    let word = |at: usize| u64::from_ne_bytes(head[at..at + 8].try_into().unwrap());
    let count = usize::from(u16::from_ne_bytes(head[56..58].try_into().unwrap()));
    (0..count).map(|index| 64 + 56 * index).any(|header| {
        let (start, held) = (word(header + 16), word(header + 32));
        (start..start + held).contains(&at.get())
    })
}

#[test]
fn stacks_are_copied_first_and_the_process_goes_on_when_its_time_is_over() {
    let target = Target::start("big");
    let [stack, last] = target.addresses()[..] else { panic!("{}", target.line) };
    let (saved, head) = saved(&target, Duration::from_secs(4), false);
    let saved = saved.unwrap();
    assert!(saved.late > 0 && saved.threads == 1, "{saved:?}");
    assert!(holds(&head, stack) && !holds(&head, last));
    target.assert_runs();
}

#[test]
fn the_process_goes_on_at_once_when_somebody_ends_it() {
    let target = Target::start("big");
    let (saved, head) = saved(&target, Duration::MAX, true);
    assert!(matches!(saved, Err(LiveError::Stopped)) && head.is_empty());
    target.assert_runs();
}
