//! Bubbles of `testing/synctest`, goroutines with a clock of their own (`runtime/synctest.go`, `runtime/runtime2.go`).

use kcore_mem::Addr;

use super::{Go, goroutine::Goroutine};
use crate::Host;

/// `runtime.synctestBubble`, in Go 1.24 `runtime.synctestGroup`: its `timers`, and in that the slice of them; its number,
/// since Go 1.25; and what its clock says.
pub const TIMERS: u64 = 16;
const ID: u64 = 72;
const NOW: u64 = 80;
const NOW_24: u64 = 72;
const HAS_ID_SINCE: u8 = 25;
/// What is durable in a bubble, where the reason itself does not say so (`isIdleInSynctest`).
const DURABLE: [&str; 9] = [
    "chan receive (nil chan)",
    "chan send (nil chan)",
    "select (no cases)",
    "sleep",
    "sync.Cond.Wait",
    "sync.WaitGroup.Wait",
    "coroutine",
    "synctest.Run",
    "synctest.Wait",
];

/// The bubble that a timer belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerBubble {
    /// Its number, since Go 1.25.
    pub id: Option<u64>,
    /// What its clock says, in nanoseconds since 1970: it begins with the year 2000, and stands still while a goroutine of the
    /// bubble runs.
    pub now: u64,
}

impl Go {
    /// The number of the bubble that a goroutine is in, as Go prints it.
    pub fn bubble_id(&self, host: &dyn Host, goroutine: &Goroutine) -> Option<u64> {
        let bubble = goroutine.bubble.filter(|_| self.layout.minor >= HAS_ID_SINCE)?;
        host.space().read_word(bubble.checked_add(ID)?).ok()
    }

    /// Where the bubbles lie that goroutines are in: the lowest address first, each once.
    pub(super) fn bubbles(&self, host: &dyn Host) -> Vec<Addr> {
        let all = self.goroutines(host).iter();
        let mut all: Vec<Addr> = all.filter_map(|goroutine| goroutine.bubble).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The bubble that lies at an address.
    pub(super) fn bubble(&self, host: &dyn Host, at: Addr) -> Option<TimerBubble> {
        let word = |offset: u64| host.space().read_word(at.checked_add(offset)?).ok();
        let has_id = self.layout.minor >= HAS_ID_SINCE;
        Some(TimerBubble {
            id: if has_id { Some(word(ID)?) } else { None },
            now: word(if has_id { NOW } else { NOW_24 })?,
        })
    }

    /// Whether only its bubble can end what a goroutine waits for, and its reason does not say so: Go adds that since 1.25.
    pub fn is_durable(&self, goroutine: &Goroutine) -> bool {
        let is_in_bubble = goroutine.bubble.is_some() && self.layout.minor >= HAS_ID_SINCE;
        is_in_bubble && goroutine.reason.is_some_and(|reason| DURABLE.contains(&reason))
    }
}
