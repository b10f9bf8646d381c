//! The traps of all threads of a process, for the events that the kernel can filter.

use std::io;

use super::{Event, calls};
use crate::{
    LiveError, Process,
    sys::trap::{Spot, Trap},
};

/// Traps that wait, and the events that have none.
#[derive(Debug, Default)]
pub struct Traps {
    open: Vec<Trap>,
    /// Whether system calls are waited for that have no trap: each of them has to be looked at.
    pub each_call: bool,
}

impl Traps {
    /// Those of all events, for all these threads; threads that they make have them too.
    ///
    /// # Errors
    /// When the system refuses a breakpoint.
    pub fn set(process: &Process, events: &[Event], tids: &[i32]) -> Result<Self, LiveError> {
        let mut traps = Self::default();
        for (number, event) in (0..).zip(events) {
            match event {
                Event::Function(at) => {
                    let refused = |error| process.why("a breakpoint", error);
                    traps.set_one(&Spot::Code(at.get()), number, tids).map_err(refused)?;
                }
                Event::Call { .. } => {
                    let spot = calls::spot(event);
                    let set = spot.map(|spot| traps.set_one(&spot, number, tids));
                    traps.each_call |= !matches!(set, Some(Ok(())));
                }
                _ => {}
            }
        }
        Ok(traps)
    }

    fn set_one(&mut self, spot: &Spot, number: u32, tids: &[i32]) -> io::Result<()> {
        for tid in tids {
            match Trap::open(*tid, spot, number) {
                Ok(trap) => self.open.push(trap),
                // It has ended.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether there are any.
    pub const fn are_set(&self) -> bool {
        !self.open.is_empty()
    }

    /// Ends them: no thread gets a signal from now on.
    pub fn end(&self) {
        self.open.iter().for_each(Trap::end);
    }
}
