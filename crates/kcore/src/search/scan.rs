//! The innermost loop: passes over blocks of bytes at the speed of memory, and looks closer only
//! where a block holds something.

use std::ops::BitAnd;

use kcore_mem::{Addr, AddrRange, AddressSpace, Target};

use super::{Match, UnitSize, Wanted, pattern::Sieve};

/// Bytes that are sieved at a time. A multiple of every unit.
const BLOCK: usize = 256;
/// Matches after which the scan of a chunk rests, so that what is kept of a search is bounded.
const REST: usize = 4096;

/// What is looked for, made ready for the loop.
#[derive(Clone, Copy, Debug)]
pub struct Scanner {
    wanted: Wanted,
    unit: UnitSize,
    sieve: Sieve,
    target: Target,
}

/// What a scan found.
#[derive(Debug, Default)]
pub struct Scanned {
    /// The matches, lowest address first.
    pub matches: Vec<Match>,
    /// Where it rests; `None` when it came to its end.
    pub rest: Option<Addr>,
}

impl Scanner {
    pub fn new(wanted: Wanted, unit: UnitSize, target: Target) -> Self {
        Self { wanted, unit, sieve: Sieve::new(wanted, unit, target), target }
    }

    /// Scans the units that begin in a range, the first of which is aligned.
    pub fn scan(&self, space: &dyn AddressSpace, range: AddrRange) -> Scanned {
        let mut scanned = Scanned::default();
        let mut at = range.start;
        while at < range.end && scanned.rest.is_none() {
            at = match space.slice(at) {
                Ok(bytes) => self.scan_held(space, at, clip(bytes, at, range), &mut scanned),
                // Its file was cut off meanwhile.
                Err(_) => range.end,
            };
        }
        scanned
    }

    /// Scans bytes that lie behind one another; answers the address of the next unit.
    fn scan_held(
        &self,
        space: &dyn AddressSpace,
        at: Addr,
        bytes: &[u8],
        scanned: &mut Scanned,
    ) -> Addr {
        let unit = self.unit.bytes();
        let whole = bytes.len().saturating_sub(bytes.len() % unit);
        let Some(bytes) = bytes.get(..whole).filter(|bytes| !bytes.is_empty()) else {
            // A unit whose bytes lie in two places.
            if let Ok(value) = space.read_uint(at, unit) {
                self.take(at, value, scanned);
            }
            return at.saturating_add(unit as u64);
        };
        match self.unit {
            UnitSize::One => self.scan_words::<u8>(at, bytes, scanned),
            UnitSize::Two => self.scan_words::<u16>(at, bytes, scanned),
            UnitSize::Four => self.scan_words::<u32>(at, bytes, scanned),
            UnitSize::Eight => self.scan_words::<u64>(at, bytes, scanned),
        }
        at.saturating_add(whole as u64)
    }

    fn scan_words<W: Word>(&self, at: Addr, bytes: &[u8], scanned: &mut Scanned) {
        let (value, mask) = (W::load(&self.sieve.value), W::load(&self.sieve.mask));
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        let mut block_at = at;
        for block in blocks {
            if may_hold(block, value, mask) {
                self.look(block_at, block, scanned);
                if scanned.matches.len() >= REST {
                    scanned.rest = Some(block_at.saturating_add(BLOCK as u64));
                    return;
                }
            }
            block_at = block_at.saturating_add(BLOCK as u64);
        }
        self.look(block_at, rest, scanned);
    }

    /// Takes what is wanted of a few units.
    fn look(&self, at: Addr, bytes: &[u8], scanned: &mut Scanned) {
        let unit = self.unit.bytes();
        let mut at = at;
        for bytes in bytes.chunks_exact(unit) {
            self.take(at, self.target.uint(bytes), scanned);
            at = at.saturating_add(unit as u64);
        }
    }

    fn take(&self, addr: Addr, value: u64, scanned: &mut Scanned) {
        if self.wanted.holds(value) {
            scanned.matches.push(Match { addr, value });
        }
    }
}

/// The bytes at `at` that lie in the range.
fn clip(bytes: &[u8], at: Addr, range: AddrRange) -> &[u8] {
    let len = range.end.offset_from(at).and_then(|len| usize::try_from(len).ok());
    bytes.get(..len.unwrap_or(usize::MAX)).unwrap_or(bytes)
}

/// Whether a unit of the block passes the sieve. Counting all of them is what compilers make vector
/// instructions of; stopping at the first is not.
fn may_hold<W: Word>(block: &[u8; BLOCK], value: W, mask: W) -> bool {
    let units = block.chunks_exact(size_of::<W>());
    units.filter(|unit| W::load(unit) & mask == value).count() > 0
}

/// An unsigned integer in the byte order of this machine: only equality is asked of it.
trait Word: Copy + PartialEq + BitAnd<Output = Self> {
    fn load(bytes: &[u8]) -> Self;
}

macro_rules! word {
    ($($word:ty)*) => {$(
        impl Word for $word {
            fn load(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or(0, |bytes| Self::from_ne_bytes(*bytes))
            }
        }
    )*};
}

word!(u8 u16 u32 u64);
