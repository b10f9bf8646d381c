//! What `/proc` tells of a process and its threads at one look, without a stop: proc(5), and Linux
//! `Documentation/scheduler/sched-stats.rst` for `schedstat`.

use std::{fs, time::Duration};

use super::read;
use crate::{LiveError, Process};

/// A process at one look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessLook {
    /// Its threads that have not ended, in the order of the system.
    pub threads: Vec<ThreadLook>,
    /// Processor time of all its threads, ended ones included.
    pub ran: Duration,
    /// Bytes of memory that are present; `None` if the system does not tell.
    pub resident: Option<u64>,
    /// Open file descriptors; `None` if the system does not tell.
    pub descriptors: Option<u64>,
    /// The auxiliary vector: another program that the process starts has another one.
    pub program: Vec<u8>,
}

/// A thread at one look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadLook {
    /// Its id, as kcore sees it.
    pub tid: i32,
    /// Its name.
    pub name: Vec<u8>,
    /// The letter of its state.
    pub state: char,
    /// When it was started: another thread under the same id has another time.
    pub started: u64,
    /// Nanoseconds on a processor, and turns that it had there; `None` if the system does not count them.
    pub turns: Option<(u64, u64)>,
}

impl ThreadLook {
    /// Whether it is proven not to have run since an earlier look at it. The count of a thread that runs is brought up
    /// to date now and then only, so that equal counts of such a thread prove nothing.
    pub fn stood_still_since(&self, before: &Self) -> bool {
        let is_off = |look: &Self| !matches!(look.state, 'R');
        let same = self.started == before.started && self.turns == before.turns;
        self.turns.is_some() && same && is_off(self) && is_off(before)
    }
}

impl Process {
    /// Looks at the process, which is not stopped; `None` once it has ended, or its id is that of another process.
    ///
    /// # Errors
    /// When a right is missing.
    pub fn look(&self) -> Result<Option<ProcessLook>, LiveError> {
        let Some(stat) = self.task_stat(self.pid().get()) else { return Ok(None) };
        if stat.started != self.stat().started {
            return Ok(None);
        }
        let looked = self.look_at_threads().and_then(|threads| Ok((threads, self.auxv()?)));
        let (threads, program) = match looked {
            Ok((threads, program)) if !threads.is_empty() => (threads, program),
            Ok(_) | Err(LiveError::Gone(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some(ran) = self.ran() else { return Ok(None) };
        let status = self.read("status", "its status").unwrap_or_default();
        let descriptors = fs::read_dir(self.folder().join("fd")).ok();
        Ok(Some(ProcessLook {
            threads,
            ran,
            resident: resident(&status),
            descriptors: descriptors.and_then(|all| u64::try_from(all.count()).ok()),
            program,
        }))
    }

    fn look_at_threads(&self) -> Result<Vec<ThreadLook>, LiveError> {
        Ok(self.task_ids()?.into_iter().filter_map(|tid| self.look_at_thread(tid)).collect())
    }

    fn look_at_thread(&self, tid: i32) -> Option<ThreadLook> {
        let stat = self.task_stat(tid).filter(|stat| !matches!(stat.state, 'Z' | 'X'))?;
        let counts = read(&self.task(tid).join("schedstat")).ok();
        let turns = counts.and_then(|text| turns(&text));
        Some(ThreadLook { tid, name: stat.name, state: stat.state, started: stat.started, turns })
    }
}

/// Time on a processor, time waited for one, and turns. Zero turns: the kernel does not count.
fn turns(text: &[u8]) -> Option<(u64, u64)> {
    let mut words = std::str::from_utf8(text).ok()?.split_ascii_whitespace();
    let ran = words.next()?.parse().ok()?;
    let turns = words.nth(1)?.parse().ok()?;
    (turns > 0).then_some((ran, turns))
}

/// `VmRSS`, which is in units of 1,024 bytes.
fn resident(status: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(status);
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(state: char, turns: Option<(u64, u64)>) -> ThreadLook {
        ThreadLook { tid: 7, name: b"a".to_vec(), state, started: 5, turns }
    }

    #[test]
    fn only_equal_counts_of_a_thread_that_waits_prove_that_it_did_not_run() {
        let waits = look('S', Some((10, 2)));
        assert!(waits.stood_still_since(&waits));
        assert!(!look('S', Some((10, 3))).stood_still_since(&waits));
        assert!(!look('R', Some((10, 2))).stood_still_since(&waits));
        assert!(!look('S', None).stood_still_since(&look('S', None)));
        assert!(!ThreadLook { started: 6, ..waits.clone() }.stood_still_since(&waits));
    }

    #[test]
    fn what_the_system_does_not_tell_is_absent() {
        assert_eq!(turns(b"120 30 4\n"), Some((120, 4)));
        assert_eq!(turns(b"0 0 0\n"), None);
        assert_eq!(turns(b"1 2"), None);
        assert_eq!(resident(b"Name:\ta\nVmRSS:\t      12 kB\n"), Some(12_288));
        assert_eq!(resident(b"Name:\ta\n"), None);
    }
}
