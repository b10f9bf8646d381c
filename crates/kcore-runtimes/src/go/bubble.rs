//! Bubbles of `testing/synctest`, goroutines with a clock of their own (`runtime/synctest.go`, `runtime/runtime2.go`).

use super::{Go, goroutine::Goroutine};
use crate::Host;

/// `runtime.synctestBubble`: its number, since Go 1.25.
const ID: u64 = 72;
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

impl Go {
    /// The number of the bubble that a goroutine is in, as Go prints it.
    pub fn bubble_id(&self, host: &dyn Host, goroutine: &Goroutine) -> Option<u64> {
        let bubble = goroutine.bubble.filter(|_| self.layout.minor >= HAS_ID_SINCE)?;
        host.space().read_word(bubble.checked_add(ID)?).ok()
    }

    /// Whether only its bubble can end what a goroutine waits for, and its reason does not say so: Go adds that since 1.25.
    pub fn is_durable(&self, goroutine: &Goroutine) -> bool {
        let is_in_bubble = goroutine.bubble.is_some() && self.layout.minor >= HAS_ID_SINCE;
        is_in_bubble && goroutine.reason.is_some_and(|reason| DURABLE.contains(&reason))
    }
}
