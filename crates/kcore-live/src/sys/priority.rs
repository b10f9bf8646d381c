//! The priority of a thread of kcore while it holds a process.

/// The highest there is for threads that share the processor (setpriority(2)).
const HIGHEST: libc::c_int = -20;

/// Raises the priority of the thread that made it, where that is allowed, until it is dropped: as long as it
/// waits for a processor, a process that it holds stands still. Not a real-time priority, which would keep
/// threads from their processor that have to reach their stop.
#[derive(Debug)]
pub struct Raised {
    /// What it was before; `None` when it is as it was.
    before: Option<libc::c_int>,
}

impl Raised {
    /// Begins.
    pub fn begin() -> Self {
        let before = current();
        let raised = before > HIGHEST && set(HIGHEST);
        Self { before: raised.then_some(before) }
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            set(before);
        }
    }
}

/// The nice value of the calling thread. It may be -1, as a failure is: there is none for the own thread.
fn current() -> libc::c_int {
    // SAFETY: it takes no pointer; 0 is the calling thread.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
}

fn set(nice: libc::c_int) -> bool {
    // SAFETY: it takes no pointer; 0 is the calling thread.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_priority_is_as_it_was_afterwards() {
        let before = current();
        let raised = Raised::begin();
        let expected = if raised.before.is_some() { HIGHEST } else { before };
        assert_eq!(current(), expected);
        drop(raised);
        assert_eq!(current(), before);
    }
}
