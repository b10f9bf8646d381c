//! Where timers lie, and their fields, in bytes (`runtime/time.go`, `runtime.timer` and `runtime.timers`), from the debug
//! information of the same programs as [`super::layout`].

/// The layouts of one minor version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerLayout {
    /// `runtime.p`: `mcache`.
    pub cache: u64,
    /// The same: the slice of timers, which is a heap.
    pub heap: u64,
    /// Bytes of an element of that, of which the timer is the first word.
    pub element: u64,
    /// `runtime.timer`: `when`; the period, the function and its argument follow it.
    pub when: u64,
    /// What says whether a timer of the heap is one that was stopped.
    pub state: TimerState,
}

/// How a timer says that it was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerState {
    /// `status`, a number of 32 bits; when it is next due lies in the word before that while it was changed.
    Number(u64),
    /// `state`, a byte of flags, since Go 1.23.
    Flags(u64),
}

impl TimerLayout {
    /// The layouts of a minor version that [`super::layout::Layout`] knows.
    pub const fn of(minor: u8) -> Self {
        let (cache, heap) = match minor {
            18 | 20 => (64, 8832),
            ..=21 => (64, 8840),
            22 => (64, 8872),
            23 | 24 => (56, 8848),
            25 => (56, 9400),
            _ => (56, 13_680),
        };
        let (element, when, state) = match minor {
            ..=22 => (8, 8, TimerState::Number(64)),
            23 | 24 => (16, 16, TimerState::Flags(9)),
            _ => (16, 24, TimerState::Flags(9)),
        };
        Self { cache, heap, element, when, state }
    }
}
