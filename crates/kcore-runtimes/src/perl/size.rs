//! Bytes of values: of heads and bodies (`bodies_by_type` of `sv_inline.h`), texts, arrays and hashes.

use kcore_mem::Addr;

use super::{
    arenas::HEAD,
    memory::{ARRAY, GLOB, HASH, Memory},
};

/// Bytes of the bodies of all types that are the same from 5.30 to 5.42, by the numbers of the types. Numbers have no
/// body of their own. Those of patterns and objects of `class`, which differ, are not counted.
const BODIES: [u64; 16] = [0, 0, 0, 16, 40, 24, 32, 48, 0, 48, 80, 40, 32, 104, 104, 136];
/// The types that have text: `SVt_PV` to `SVt_PVMG`.
const FIRST_TEXT: u8 = 3;
const LAST_TEXT: u8 = 7;
/// `xpv_len`: bytes of its own text; none of a text that is a shared name.
const TEXT_SIZE: u64 = 24;
/// `xav_max` and `xav_alloc`; `xhv_keys` and `xhv_max`.
const ARRAY_MOST: u64 = 24;
const ARRAY_START: u64 = 32;
const KEYS: u64 = 16;
const PLACES: u64 = 24;
/// Bytes of an entry of a hash (`HE`), and of what a glob has (`GP`).
const ENTRY: u64 = 24;
const OF_GLOB: u64 = 80;
/// `SVf_ROK`: what it refers to stands in the place of text.
const REFERENCE: u64 = 0x800;

impl Memory<'_> {
    /// The bytes of a value of a type, with those that belong to nothing else. What cannot be read counts as none.
    pub fn size_of(&self, value: Addr, kind: u8) -> u64 {
        let body = BODIES.get(usize::from(kind)).copied().unwrap_or_default();
        let more = match kind {
            FIRST_TEXT..=LAST_TEXT => self.text_size(value),
            ARRAY => self.array_size(value),
            HASH => self.hash_size(value),
            GLOB => self.is_first_glob(value).then_some(OF_GLOB),
            _ => None,
        };
        HEAD.saturating_add(body).saturating_add(more.unwrap_or_default())
    }

    fn text_size(&self, value: Addr) -> Option<u64> {
        self.held(value).filter(|_| self.flags(value).is_some_and(|it| it & REFERENCE == 0))?;
        self.word(self.body(value)?, TEXT_SIZE)
    }

    fn array_size(&self, array: Addr) -> Option<u64> {
        let body = self.body(array)?;
        let first = self.pointer(body, ARRAY_START)?;
        let before = self.held(array)?.offset_from(first)?;
        let most = self.word(body, ARRAY_MOST)?.cast_signed().checked_add(1)?;
        u64::try_from(most).ok()?.checked_mul(8)?.checked_add(before)
    }

    fn hash_size(&self, hash: Addr) -> Option<u64> {
        self.held(hash)?;
        let body = self.body(hash)?;
        let places = self.word(body, PLACES)?.checked_add(1)?.checked_mul(8)?;
        self.word(body, KEYS)?.checked_mul(ENTRY)?.checked_add(places)
    }

    /// Whether what a glob has is its own, and not that of the one that it was made of.
    fn is_first_glob(&self, glob: Addr) -> bool {
        /// `gp_egv`.
        const FIRST: u64 = 56;
        self.held(glob).and_then(|own| self.pointer(own, FIRST)) == Some(glob)
    }
}
