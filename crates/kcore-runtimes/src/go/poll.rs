//! The file descriptor that a goroutine waits for (`runtime/netpoll.go`, `runtime.pollDesc`).
//!
//! `runtime.netpollblock` keeps a pointer to the field that holds the waiting goroutine on the stack of that. The structure
//! around the field points to itself, which tells it from other words that lead back to the goroutine.

use std::fmt;

use kcore_mem::{Addr, AddressSpace};

use super::{Go, goroutine::Goroutine, semaphore::words};
use crate::Host;

/// What a goroutine waits for that waits for a file descriptor.
const REASON: &str = "IO wait";
/// Fields of `runtime.pollDesc` that lie alike in all versions: the file descriptor, and, from `rg` on, `wg`.
pub const DESCRIPTOR: u64 = 8;
const TO_WRITE: u64 = 8;
/// File descriptors are less, whatever the kernel's limits are.
const MAX_DESCRIPTOR: u64 = 1 << 31;

/// A file descriptor that a goroutine waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AwaitedIo {
    /// The file descriptor.
    pub descriptor: u64,
    /// Whether it waits until it can write; else until it can read.
    pub to_write: bool,
}

impl AwaitedIo {
    /// What it waits to do: `read` or `write`.
    pub const fn side(self) -> &'static str {
        if self.to_write { "write" } else { "read" }
    }
}

impl fmt::Display for AwaitedIo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fd {} {}", self.descriptor, self.side())
    }
}

/// Where the fields of `runtime.pollDesc` lie, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollLayout {
    /// `rg`: who waits to read.
    pub reader: u64,
    /// `self`.
    pub itself: u64,
}

impl PollLayout {
    /// The layout of a minor version that [`super::layout::Layout`] knows.
    pub const fn of(minor: u8) -> Self {
        let (reader, itself) = match minor {
            ..=20 => (24, 232),
            21 | 22 => (32, 240),
            23 | 24 => (32, 272),
            _ => (32, 288),
        };
        Self { reader, itself }
    }
}

impl Go {
    /// The file descriptor that a goroutine waits for, if it does and its stack still leads to it.
    pub fn awaited_io(&self, host: &dyn Host, goroutine: &Goroutine) -> Option<AwaitedIo> {
        (goroutine.reason? == REASON).then_some(())?;
        let space = host.space();
        let holds = |field: &Addr| space.read_addr(*field).ok() == Some(goroutine.at);
        words(space, goroutine)
            .filter(holds)
            .find_map(|field| awaited(space, PollLayout::of(self.layout.minor), field))
    }
}

/// What the field at an address is a part of, if that is a `runtime.pollDesc`.
fn awaited(space: &dyn AddressSpace, layout: PollLayout, field: Addr) -> Option<AwaitedIo> {
    [false, true].into_iter().find_map(|to_write| {
        let behind = layout.reader.checked_add(if to_write { TO_WRITE } else { 0 })?;
        let at = Addr::new(field.get().checked_sub(behind)?);
        (space.read_addr(at.checked_add(layout.itself)?).ok()? == at).then_some(())?;
        let descriptor = space.read_word(at.checked_add(DESCRIPTOR)?).ok()?;
        (descriptor < MAX_DESCRIPTOR).then_some(AwaitedIo { descriptor, to_write })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anchor::made_host::MadeHost;

    const AT: u64 = 0x1000;

    fn found(itself: u64, field: u64, descriptor: u64) -> Option<(u64, bool)> {
        let layout = PollLayout::of(27);
        let mut host = MadeHost::new(&[AT]);
        host.put(AT + DESCRIPTOR, &descriptor.to_le_bytes());
        host.put(AT + layout.itself, &itself.to_le_bytes());
        let found = awaited(host.space(), layout, Addr::new(field))?;
        Some((found.descriptor, found.to_write))
    }

    #[test]
    fn the_side_goes_by_the_field() {
        let reader = AT + PollLayout::of(27).reader;
        assert_eq!(found(AT, reader, 7), Some((7, false)));
        assert_eq!(found(AT, reader + 8, 7), Some((7, true)));
        assert_eq!(found(AT, reader + 16, 7), None, "another field");
    }

    #[test]
    fn what_does_not_hold_together_is_none() {
        let reader = AT + PollLayout::of(27).reader;
        assert_eq!(found(AT + 8, reader, 7), None, "it points elsewhere");
        assert_eq!(found(AT, reader, u64::MAX), None, "no descriptor");
    }
}
