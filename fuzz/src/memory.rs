//! Memory made of a few parts of the input.

use kcore_mem::{Addr, AddrRange, AddressSpace, Fault, Origin, Region, Target};

use crate::input::{Input, Output};

/// Parts of memory, at most.
const MAX_PARTS: u8 = 64;

/// Memory whose parts may overlap; the first one counts.
pub struct Memory(pub Vec<(u64, Vec<u8>)>);

impl Memory {
    /// A count of parts, then each with its address.
    pub fn read(input: &mut Input<'_>) -> Self {
        let count = input.byte().min(MAX_PARTS);
        Self((0..count).map(|_| (input.word(), input.part().to_vec())).collect())
    }

    /// The other way round.
    pub fn write(&self, output: Output) -> Output {
        let start = output.byte(self.0.len() as u8);
        self.0.iter().fold(start, |output, (at, bytes)| output.word(*at).part(bytes))
    }

    /// The part that holds `at`, and how far into it that is.
    fn part(&self, at: Addr) -> Option<&[u8]> {
        self.0.iter().find_map(|(start, bytes)| {
            let into = usize::try_from(at.get().checked_sub(*start)?).ok()?;
            bytes.get(into..).filter(|left| !left.is_empty())
        })
    }
}

impl AddressSpace for Memory {
    fn target(&self) -> Target {
        Target::X86_64
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        self.part(at).ok_or(Fault::Unmapped(at))
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.slice(at).map(|_| Origin::Core)
    }

    fn regions(&self) -> Vec<Region> {
        let range = |start: u64, len: usize| AddrRange::with_len(Addr::new(start), len as u64);
        let ranges = self.0.iter().map(|(start, bytes)| range(*start, bytes.len()));
        ranges.map(|range| Region { range, origin: Origin::Core }).collect()
    }
}
