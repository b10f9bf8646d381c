//! Addresses by kind.

use std::fmt;

macro_rules! address_kind {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[repr(transparent)]
        pub struct $name(u64);

        impl $name {
            /// Wraps a raw value.
            pub const fn new(value: u64) -> Self {
                Self(value)
            }

            /// The raw value.
            pub const fn get(self) -> u64 {
                self.0
            }

            /// This address plus `bytes`, or `None` past the end of the address space.
            pub const fn checked_add(self, bytes: u64) -> Option<Self> {
                match self.0.checked_add(bytes) {
                    Some(value) => Some(Self(value)),
                    None => None,
                }
            }

            /// This address plus `bytes`, stopping at the end of the address space.
            pub const fn saturating_add(self, bytes: u64) -> Self {
                Self(self.0.saturating_add(bytes))
            }

            /// This address plus a signed displacement, modulo 2^64, as machines compute it.
            pub const fn wrapping_offset(self, displacement: i64) -> Self {
                Self(self.0.wrapping_add_signed(displacement))
            }

            /// Bytes from `base` to this address, or `None` when it lies below `base`.
            pub const fn offset_from(self, base: Self) -> Option<u64> {
                self.0.checked_sub(base.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:#x})"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:#x}", self.0)
            }
        }

        impl fmt::LowerHex for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::LowerHex::fmt(&self.0, f)
            }
        }
    };
}

address_kind! {
    /// An address in the process that the core (or snapshot) shows.
    Addr
}
address_kind! {
    /// A stated virtual memory address: as written in a module's file, before the module was
    /// placed. Only the module, which knows its bias, converts it.
    Svma
}
address_kind! {
    /// An offset in a file.
    FileOff
}

/// A half-open range of process addresses, `start..end`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct AddrRange {
    /// First address inside.
    pub start: Addr,
    /// First address after it.
    pub end: Addr,
}

impl AddrRange {
    /// The range `start..end`; empty when `end` is not above `start`.
    pub const fn new(start: Addr, end: Addr) -> Self {
        Self { start, end }
    }

    /// The `len` bytes at `start`, cut at the end of the address space.
    pub const fn with_len(start: Addr, len: u64) -> Self {
        Self { start, end: start.saturating_add(len) }
    }

    /// Whether `at` lies inside.
    pub fn contains(&self, at: Addr) -> bool {
        self.start <= at && at < self.end
    }

    /// Bytes inside.
    pub const fn len(&self) -> u64 {
        self.end.get().saturating_sub(self.start.get())
    }

    /// Whether there is no address inside.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The addresses that both ranges hold, if there are any.
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let both = Self::new(self.start.max(other.start), self.end.min(other.end));
        (!both.is_empty()).then_some(both)
    }

    /// Ranges in any order as few of the same addresses, lowest first: those that touch or overlap are one.
    pub fn merged(ranges: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut ranges: Vec<Self> = ranges.into_iter().collect();
        ranges.sort_unstable();
        let mut merged: Vec<Self> = Vec::new();
        for range in ranges {
            match merged.last_mut().filter(|last| range.start <= last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => merged.push(range),
            }
        }
        merged
    }
}

impl fmt::Display for AddrRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{:x},{:x})", self.start, self.end)
    }
}

/// An address of code, and how it is to be looked up.
///
/// A return address belongs to the instruction *before* it: after a call that never returns, the
/// next byte is already another function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CodeAddr {
    /// The instruction that runs or was interrupted.
    Pc(Addr),
    /// The instruction after a call.
    Return(Addr),
}

impl CodeAddr {
    /// The address as the machine holds it.
    pub const fn addr(self) -> Addr {
        match self {
            Self::Pc(at) | Self::Return(at) => at,
        }
    }

    /// The address by which functions, lines and unwind rows are found.
    pub const fn lookup(self) -> Addr {
        match self {
            Self::Pc(at) => at,
            Self::Return(at) => at.wrapping_offset(-1),
        }
    }

    /// Whether this is a return address.
    pub const fn is_return(self) -> bool {
        matches!(self, Self::Return(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_return_address_is_looked_up_one_byte_before() {
        let at = Addr::new(0x1000);
        assert_eq!(CodeAddr::Return(at).lookup(), Addr::new(0xfff));
        assert_eq!(CodeAddr::Pc(at).lookup(), at);
        assert_eq!(CodeAddr::Return(at).addr(), at);
    }

    #[test]
    fn ranges_are_half_open_and_never_negative() {
        let range = AddrRange::with_len(Addr::new(0x10), 0x10);
        assert!(range.contains(Addr::new(0x1f)) && !range.contains(Addr::new(0x20)));
        assert!(AddrRange::new(Addr::new(2), Addr::new(1)).is_empty());
        let top = AddrRange::with_len(Addr::new(u64::MAX - 1), 100);
        assert_eq!(top.len(), 1);
    }

    #[test]
    fn disjoint_ranges_have_no_intersection() {
        let low = AddrRange::with_len(Addr::new(0), 0x10);
        let high = AddrRange::with_len(Addr::new(0x10), 0x10);
        assert_eq!(low.intersection(&high), None);
        let over = AddrRange::with_len(Addr::new(8), 0x10);
        assert_eq!(low.intersection(&over), Some(AddrRange::with_len(Addr::new(8), 8)));
    }

    #[test]
    fn ranges_that_touch_are_one() {
        let range = |start, end| AddrRange::new(Addr::new(start), Addr::new(end));
        let merged = AddrRange::merged([range(1, 3), range(8, 9), range(3, 5), range(2, 4)]);
        assert_eq!(merged, [range(1, 5), range(8, 9)]);
    }
}
