//! Hashes of names that were met not long ago: the same name stands in debug information again and
//! again, and a linker puts it at one place.

use super::{
    canonical::name_hash,
    hash::{mix, of_word},
    spelled::NameHash,
};
use crate::dwarf::Which;

/// Names that are remembered: as many as a processor has at hand.
const SLOTS: usize = 1 << SLOT_BITS;
const SLOT_BITS: u32 = 15;
/// No name lies there.
const NOWHERE: usize = usize::MAX;

/// What is known of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownName {
    /// What it is looked up by.
    pub hash: NameHash,
    /// The hash of the scopes that are spelled in the name itself, 0 without any: `_Z4leafi.Frame`, `net/http.Client`.
    pub scopes: u64,
}

impl KnownName {
    /// That of a name.
    pub fn of(name: &[u8]) -> Self {
        let end = name.iter().rposition(|byte| matches!(byte, b'.' | b'/'));
        let scopes = end.and_then(|end| name.get(..end)).map_or(0, of_word);
        Self { hash: name_hash(name), scopes }
    }

    /// All of it in one number.
    pub const fn long(self) -> u64 {
        match self.scopes {
            0 => self.hash.long(),
            scopes => mix(self.hash.long(), scopes),
        }
    }
}

const UNKNOWN: KnownName = KnownName { hash: NameHash::of(0, 0), scopes: 0 };

/// Hashes of the names of one file, the later ones at the places of the earlier ones.
pub struct KnownNames {
    of: Option<Which>,
    slots: Vec<(usize, KnownName)>,
    /// Bytes of long names that were read.
    long: usize,
}

impl Default for KnownNames {
    fn default() -> Self {
        Self { of: None, slots: vec![(NOWHERE, UNKNOWN); SLOTS], long: 0 }
    }
}

impl KnownNames {
    /// The hash of the name at `offset` of the strings of that file; `make` makes it of one that is
    /// not remembered. It gets the bytes of long names that were read, to count its own, see [`is_too_much`].
    pub fn get(
        &mut self,
        of: Which,
        offset: usize,
        make: impl FnOnce(&mut usize) -> Option<KnownName>,
    ) -> Option<KnownName> {
        if self.of != Some(of) {
            self.slots.fill((NOWHERE, UNKNOWN));
            self.of = Some(of);
        }
        let place = mix(0, offset as u64) >> (u64::BITS - SLOT_BITS);
        let slot = self.slots.get_mut(usize::try_from(place).ok()?)?;
        if slot.0 != offset {
            *slot = (offset, make(&mut self.long)?);
        }
        Some(slot.1)
    }
}

/// Names up to this long are not counted.
const SHORT: usize = 256;
/// How many times the length of their section long names may be together: of each a thread reads the hash
/// several times, and linkers put names that end alike at one place.
const OVERLAP: usize = 16;

/// Counts a name of `strings` bytes of strings, and says whether long names are by far longer together than
/// that, since each is the end of another one.
pub fn is_too_much(name: &[u8], strings: usize, long: &mut usize) -> bool {
    if name.len() > SHORT {
        *long = long.saturating_add(name.len());
    }
    name.len() > SHORT && *long > strings.saturating_mul(OVERLAP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_once_and_never_taken_for_another() {
        let mut known = KnownNames::default();
        let name = |offset: usize| {
            let hash = NameHash::of((offset as u64) << 32, 7);
            KnownName { hash, scopes: 0 }
        };
        for offset in (0..SLOTS * 4).step_by(3) {
            assert_eq!(known.get(Which::Main, offset, |_| Some(name(offset))), Some(name(offset)));
            assert_eq!(known.get(Which::Main, offset, |_| None), Some(name(offset)));
        }
        assert_eq!(known.get(Which::Split(1), 3, |_| None), None);
    }

    #[test]
    fn names_with_other_scopes_in_them_are_others() {
        let long = |name: &str| KnownName::of(name.as_bytes()).long();
        assert_ne!(long("_Z4leafi.Frame"), long("_Z3midi.Frame"));
        assert_ne!(long("net/http.Client"), long("net/rpc.Client"));
        assert_eq!(long("Frame"), KnownName::of(b"Frame").hash.long());
    }
}
