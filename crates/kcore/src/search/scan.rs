//! The innermost loop: passes over blocks of bytes at the speed of memory, and looks closer only
//! where a block holds something.

use kcore_elf::will_need;
use kcore_mem::{Addr, AddrRange, AddressSpace, Target};

use super::{Match, UnitSize, ValuePattern, pattern::Sieve};

/// Bytes that are sieved at a time. A multiple of every unit.
const BLOCK: usize = 256;
type Block = [u8; BLOCK];
/// Matches after which the scan of a chunk rests, so that what is kept of a search is bounded.
const REST: usize = 4096;

/// What is looked for, made ready for the loop.
#[derive(Clone, Copy, Debug)]
pub struct Scanner {
    wanted: ValuePattern,
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
    pub fn new(wanted: ValuePattern, unit: UnitSize, target: Target) -> Self {
        Self { wanted, unit, sieve: Sieve::new(wanted, unit, target), target }
    }

    /// Scans the units that begin in a range, the first of which is aligned.
    pub fn scan(&self, space: &dyn AddressSpace, range: AddrRange) -> Scanned {
        let mut scanned = Scanned::default();
        let mut left = range;
        while scanned.rest.is_none()
            && let Some(part) = self.first_part(space, left)
        {
            self.scan_part(space, part, &mut scanned);
            left.start = part.end;
        }
        scanned
    }

    /// The next units that may hold what is wanted: what is known to be zeros is not touched, unless
    /// zeros are wanted.
    fn first_part(&self, space: &dyn AddressSpace, left: AddrRange) -> Option<AddrRange> {
        if left.is_empty() || self.wanted.holds(0) {
            return (!left.is_empty()).then_some(left);
        }
        let data = space.first_data(left)?;
        let unit = self.unit.bytes() as u64;
        let start = data.start.get().saturating_sub(data.start.get() % unit);
        let end = data.end.get().checked_next_multiple_of(unit).unwrap_or(u64::MAX);
        AddrRange::new(Addr::new(start), Addr::new(end)).intersection(&left)
    }

    fn scan_part(&self, space: &dyn AddressSpace, part: AddrRange, scanned: &mut Scanned) {
        let mut at = part.start;
        while at < part.end && scanned.rest.is_none() {
            at = match space.slice(at) {
                Ok(bytes) => self.scan_held(space, at, clip(bytes, at, part), scanned),
                // Its file was cut off meanwhile.
                Err(_) => part.end,
            };
        }
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
        will_need(bytes);
        let sieve = self.sieve;
        match self.unit {
            UnitSize::One => self.scan_blocks(at, bytes, scanned, |block| any_u8(block, sieve)),
            UnitSize::Two => self.scan_blocks(at, bytes, scanned, |block| any_u16(block, sieve)),
            UnitSize::Four => self.scan_blocks(at, bytes, scanned, |block| any_u32(block, sieve)),
            UnitSize::Eight if sieve.upper_half_tells_more() => {
                self.scan_blocks(at, bytes, scanned, |block| any_half::<32>(block, sieve));
            }
            UnitSize::Eight => {
                self.scan_blocks(at, bytes, scanned, |block| any_half::<0>(block, sieve));
            }
        }
        at.saturating_add(whole as u64)
    }

    fn scan_blocks(
        &self,
        at: Addr,
        bytes: &[u8],
        scanned: &mut Scanned,
        may_hold: impl Fn(&Block) -> bool,
    ) {
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        let mut block_at = at;
        for block in blocks {
            if may_hold(block) {
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

// Whether a unit of the block passes the sieve. Masks of a unit's own width, joined without a branch,
// are what compilers make good vector instructions of; counting, or stopping at the first, is not.
macro_rules! any {
    ($name:ident, $word:ty) => {
        fn $name(block: &Block, sieve: Sieve) -> bool {
            const SIZE: usize = size_of::<$word>();
            let word = |bytes: [u8; 8]| {
                bytes.first_chunk::<SIZE>().map_or(0, |bytes| <$word>::from_ne_bytes(*bytes))
            };
            let (value, mask) = (word(sieve.value), word(sieve.mask));
            let (units, _) = block.as_chunks::<SIZE>();
            let passes = |unit: &[u8; SIZE]| <$word>::from_ne_bytes(*unit) & mask == value;
            let any = units.iter().map(|unit| <$word>::from(passes(unit)).wrapping_neg());
            any.fold(0, |any, one| any | one) != 0
        }
    };
}

any!(any_u8, u8);
any!(any_u16, u16);
any!(any_u32, u32);

/// The same by one half of units of eight bytes: twice as many fit into a vector, and machines that
/// cannot compare eight bytes at once are common.
fn any_half<const SHIFT: u32>(block: &Block, sieve: Sieve) -> bool {
    let half = |bytes: [u8; 8]| (u64::from_ne_bytes(bytes) >> SHIFT) as u32;
    let (value, mask) = (half(sieve.value), half(sieve.mask));
    let (units, _) = block.as_chunks();
    let any = units.iter().map(|unit| u32::from(half(*unit) & mask == value).wrapping_neg());
    any.fold(0, |any, one| any | one) != 0
}
