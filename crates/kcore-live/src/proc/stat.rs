//! `/proc/PID/stat` and `/proc/PID/task/TID/stat`.

use std::time::Duration;

/// What one of them says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskStat {
    /// The name (`comm`), cut at 15 bytes by the kernel.
    pub name: Vec<u8>,
    /// The letter of its state: `R`, `S`, `D`, `T`, `t`, `Z`, `X`, `I`.
    pub state: char,
    /// Process id of the parent.
    pub parent: u32,
    /// Process group.
    pub group: u32,
    /// Session.
    pub session: u32,
    /// The kernel's flags of the task (`PF_*`).
    pub flags: u64,
    /// Processor time used so far, in the program and in the kernel. That of a process is the sum over all its
    /// threads, ended ones included.
    pub ran: Duration,
    /// Nice value.
    pub nice: i8,
    /// When it was started, in ticks since the system was: another process under the same id has another time.
    pub started: u64,
}

/// Milliseconds of a tick in files of `/proc` (`USER_HZ`, which is 100 on all machines of Linux but Alpha and Itanium).
const MILLIS_OF_TICK: u64 = 10;

/// `PF_KTHREAD`, Linux `include/linux/sched.h`.
const PF_KTHREAD: u64 = 0x0020_0000;

impl TaskStat {
    /// Reads the line. The name stands between the first `(` and the last `)`, and may hold both.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let open = line.iter().position(|byte| *byte == b'(')?;
        let close = line.iter().rposition(|byte| *byte == b')')?;
        let name = line.get(open.checked_add(1)?..close)?.to_vec();
        let rest = std::str::from_utf8(line.get(close.checked_add(1)?..)?).ok()?;
        let mut words = rest.split_ascii_whitespace();
        let state = words.next()?.chars().next()?;
        let [parent, group, session] = [words.next()?, words.next()?, words.next()?];
        // tty_nr and tpgid stand before the flags, four numbers of page faults before the times, those of children
        // and the priority before the nice value.
        let flags = words.nth(2)?.parse().ok()?;
        let ticks: [u64; 2] = [words.nth(4)?.parse().ok()?, words.next()?.parse().ok()?];
        let nice = words.nth(3)?.parse().ok()?;
        // num_threads and itrealvalue stand before the start.
        let started = words.nth(2)?.parse().ok()?;
        let id = |word: &str| word.parse::<i64>().ok().map(|id| u32::try_from(id).unwrap_or(0));
        Some(Self {
            name,
            state,
            parent: id(parent)?,
            group: id(group)?,
            session: id(session)?,
            flags,
            ran: Duration::from_millis(
                ticks[0].saturating_add(ticks[1]).saturating_mul(MILLIS_OF_TICK),
            ),
            nice,
            started,
        })
    }

    /// Whether it is a thread of the kernel.
    pub const fn is_kernel(&self) -> bool {
        self.flags & PF_KTHREAD != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_what_ends_a_name() {
        let line = b"17 (a) b (c) S 1 16 15 0 -1 4194560 1 2 3 4 5 6 7 8 20 -5 3 0 99 0 0\n";
        let stat = TaskStat::parse(line).unwrap();
        assert_eq!((&stat.name[..], stat.state), (&b"a) b (c"[..], 'S'));
        assert_eq!((stat.parent, stat.group, stat.session), (1, 16, 15));
        assert_eq!((stat.flags, stat.nice, stat.started), (4_194_560, -5, 99));
        assert_eq!(stat.ran, Duration::from_millis(110));
    }

    #[test]
    fn a_line_that_is_cut_is_none() {
        assert_eq!(TaskStat::parse(b"17 (a"), None);
        assert_eq!(TaskStat::parse(b"17 (a) S 1 16"), None);
    }
}
