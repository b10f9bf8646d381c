//! Memory of which tests make each byte.

use std::collections::BTreeMap;

use kcore_mem::{Addr, AddressSpace, Fault, Origin, Region, Target};

/// Pieces of memory by their first addresses.
#[derive(Debug, Default)]
pub struct MadeMemory(BTreeMap<u64, Vec<u8>>);

impl MadeMemory {
    /// The same with bytes at an address.
    pub fn bytes(mut self, at: u64, bytes: &[u8]) -> Self {
        self.0.insert(at, bytes.to_vec());
        self
    }

    /// The same with words of 32 bits.
    pub fn words32(self, at: u64, words: &[u32]) -> Self {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.bytes(at, &bytes)
    }
}

impl AddressSpace for MadeMemory {
    fn target(&self) -> Target {
        Target::X86_64
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        let piece = self.0.range(..=at.get()).next_back();
        let held = piece.and_then(|(start, bytes)| bytes.get((at.get() - start) as usize..));
        held.filter(|held| !held.is_empty()).ok_or(Fault::Unmapped(at))
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.slice(at).map(|_| Origin::Core)
    }

    fn regions(&self) -> Vec<Region> {
        Vec::new()
    }
}
