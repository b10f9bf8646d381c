//! A stack of which a part was moved away: whoever switches stacks by copying keeps the bytes elsewhere meanwhile.

use crate::{Addr, AddrRange, AddressSpace, Fault, Origin, Region, Target};

/// Bytes that belong to some addresses, and lie at others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MovedBytes {
    /// The addresses that they belong to, half-open: what lies there now is somebody else's.
    pub home: AddrRange,
    /// Where they lie.
    pub at: Addr,
}

/// Memory as it is when moved bytes are at home. Searches ([`AddressSpace::regions`]) see it as it is.
pub struct WithMoved<'a> {
    space: &'a dyn AddressSpace,
    moved: MovedBytes,
    /// The moved bytes, as far as they lie in one run: nearly all reads are of them.
    held: &'a [u8],
}

impl<'a> WithMoved<'a> {
    /// A memory with moved bytes at home.
    pub fn new(space: &'a dyn AddressSpace, moved: MovedBytes) -> Self {
        let held = space.slice(moved.at).unwrap_or_default();
        let len = usize::try_from(moved.home.len()).unwrap_or(usize::MAX);
        let held = held.get(..len).unwrap_or(held);
        Self { space, moved, held }
    }

    /// The bytes at an address that are at home there.
    fn held_at(&self, at: Addr) -> Option<&[u8]> {
        let offset = usize::try_from(at.offset_from(self.moved.home.start)?).ok()?;
        self.held.get(offset..).filter(|held| !held.is_empty())
    }

    /// Where the byte lies that belongs to `at`, and how many from there on belong together, if that has a limit.
    fn place(&self, at: Addr) -> (Addr, Option<u64>) {
        let MovedBytes { home, at: moved } = self.moved;
        match at.offset_from(home.start).filter(|_| at < home.end) {
            Some(offset) => (moved.saturating_add(offset), home.end.offset_from(at)),
            None => (at, home.start.offset_from(at).filter(|ahead| *ahead > 0)),
        }
    }
}

impl AddressSpace for WithMoved<'_> {
    fn target(&self) -> Target {
        self.space.target()
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        if let Some(held) = self.held_at(at) {
            return Ok(held);
        }
        let (place, limit) = self.place(at);
        let held = self.space.slice(place)?;
        let limit = limit.and_then(|limit| usize::try_from(limit).ok());
        Ok(limit.and_then(|limit| held.get(..limit)).unwrap_or(held))
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.space.origin(self.place(at).0)
    }

    fn regions(&self) -> Vec<Region> {
        self.space.regions()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The addresses from 0 to 255, each of which holds itself.
    struct Own;

    const BYTES: [u8; 256] = {
        let mut bytes = [0; 256];
        let mut index = 0;
        while index < 256 {
            bytes[index] = index as u8;
            index += 1;
        }
        bytes
    };

    impl AddressSpace for Own {
        fn target(&self) -> Target {
            Target::X86_64
        }

        fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
            let bytes = usize::try_from(at.get()).ok().and_then(|at| BYTES.get(at..));
            bytes.filter(|bytes| !bytes.is_empty()).ok_or(Fault::Unmapped(at))
        }

        fn origin(&self, at: Addr) -> Result<Origin, Fault> {
            self.slice(at).map(|_| Origin::Core)
        }

        fn regions(&self) -> Vec<Region> {
            Vec::new()
        }
    }

    fn with(start: u64, end: u64, at: u64) -> WithMoved<'static> {
        let home = AddrRange::new(Addr::new(start), Addr::new(end));
        WithMoved::new(&Own, MovedBytes { home, at: Addr::new(at) })
    }

    #[test]
    fn moved_bytes_are_read_at_home_and_all_others_where_they_are() {
        let space = with(16, 20, 100);
        assert_eq!(space.read_held(Addr::new(14), 8), [14, 15, 100, 101, 102, 103, 20, 21]);
        assert_eq!(
            space.read_uint(Addr::new(18), 4),
            Ok(u64::from_le_bytes([102, 103, 20, 21, 0, 0, 0, 0]))
        );
        assert_eq!(space.read_held(Addr::new(100), 2), [100, 101]);
    }

    #[test]
    fn bytes_that_lie_nowhere_are_a_fault_at_home_too() {
        assert_eq!(with(16, 20, 254).read_held(Addr::new(16), 4), [254, 255]);
        assert!(with(16, 20, u64::MAX).slice(Addr::new(17)).is_err());
        assert_eq!(with(16, 16, 100).read_held(Addr::new(16), 2), [16, 17]);
    }
}
