//! Where the names of symbols lie: in the files that they came from, or in an arena.

use std::{
    collections::BTreeMap,
    ffi::CStr,
    sync::{PoisonError, RwLock},
};

use kcore_elf::Section;

/// The length of a name that ends at the first NUL. To find the end of each of a million names means
/// to read them all.
const TO_NUL: u32 = u32::MAX;

/// Names up to this long are read anew to find their end; where longer ones end is remembered.
pub const SHORT: usize = 256;

/// A name by its place; the default is the empty name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NameAt {
    start: u32,
    len: u32,
    file: u8,
}

impl NameAt {
    /// The name at `start` of string table number `file`. A string table begins with the empty name.
    pub const fn in_table(file: u8, start: u32) -> Self {
        Self { start, len: if start == 0 { 0 } else { TO_NUL }, file }
    }

    /// Whether it is the empty name.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// The bytes that names lie in. They keep the files mapped.
#[derive(Debug, Default)]
pub struct NameStore {
    files: Vec<Section>,
    /// Bytes without a NUL among them, by file and end, with their first: any number of symbols may have one
    /// long name, or each a part of it.
    long: RwLock<BTreeMap<(u8, usize), usize>>,
}

impl NameStore {
    /// The number of the bytes that are added next.
    pub fn next_file(&self) -> u8 {
        u8::try_from(self.files.len()).unwrap_or(u8::MAX)
    }

    /// Adds bytes whose names are to be referred to; says their number.
    pub fn add(&mut self, bytes: Section) -> u8 {
        let file = self.next_file();
        self.files.push(bytes);
        file
    }

    /// Bytes in all.
    pub fn size(&self) -> usize {
        self.files.iter().fold(0, |size, file| size.saturating_add(file.len()))
    }

    /// Whether the name at a place begins with `prefix`, which holds no NUL.
    pub fn begins_with(&self, at: NameAt, prefix: &[u8]) -> bool {
        let rest = self.rest(at);
        rest.get(..at.len as usize).unwrap_or(rest).starts_with(prefix)
    }

    /// The name at a place.
    pub fn get(&self, at: NameAt) -> &[u8] {
        let rest = self.rest(at);
        if at.len == TO_NUL {
            let len = length(rest, SHORT).unwrap_or_else(|| self.long_length(at, rest));
            return rest.get(..len).unwrap_or(rest);
        }
        rest.get(..at.len as usize).unwrap_or_default()
    }

    /// The length of a name that is not short.
    fn long_length(&self, at: NameAt, rest: &[u8]) -> usize {
        let start = at.start as usize;
        let known = self.long.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(((file, end), first)) = known.range((at.file, start)..).next()
            && *file == at.file
            && *first <= start
        {
            return end.saturating_sub(start);
        }
        drop(known);
        let len = length(rest, usize::MAX).unwrap_or(rest.len());
        let mut known = self.long.write().unwrap_or_else(PoisonError::into_inner);
        let first = known.entry((at.file, start.saturating_add(len))).or_insert(start);
        *first = start.min(*first);
        len
    }

    /// The bytes from the beginning of a name on.
    pub fn rest(&self, at: NameAt) -> &[u8] {
        let bytes = self.files.get(usize::from(at.file)).map(|bytes| &bytes[..]);
        bytes.and_then(|bytes| bytes.get(at.start as usize..)).unwrap_or_default()
    }
}

/// Where the first NUL is among the first `most` bytes, or where the bytes end before that.
fn length(bytes: &[u8], most: usize) -> Option<usize> {
    let looked_at = bytes.get(..most).unwrap_or(bytes);
    let name = CStr::from_bytes_until_nul(looked_at).ok().map(CStr::count_bytes);
    name.or_else(|| (looked_at.len() == bytes.len()).then_some(bytes.len()))
}

/// Collects names that no file holds, to become one more file of a [`NameStore`].
#[derive(Debug, Default)]
pub struct Arena {
    bytes: Vec<u8>,
    file: u8,
}

impl Arena {
    /// An arena that will be file number `file`.
    pub const fn new(file: u8) -> Self {
        Self { bytes: Vec::new(), file }
    }

    /// Keeps a name; beyond 4 GiB of names they are empty.
    pub fn keep(&mut self, name: &[u8]) -> NameAt {
        let place = (u32::try_from(self.bytes.len()), u32::try_from(name.len()));
        let (Ok(start), Ok(len)) = place else { return NameAt::default() };
        self.bytes.extend_from_slice(name);
        NameAt { start, len, file: self.file }
    }

    /// The collected bytes.
    pub fn into_bytes(self) -> Section {
        Section::from(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_table_ends_at_its_nul_or_with_the_table() {
        let mut store = NameStore::default();
        let file = store.add(Section::from(b"\0main\0exit".to_vec()));
        let name = |start| store.get(NameAt::in_table(file, start));
        assert_eq!([name(0), name(1), name(3), name(6)], [&b""[..], b"main", b"in", b"exit"]);
        assert_eq!([name(10), name(99)], [&b""[..], b""]);
        assert_eq!(store.get(NameAt::in_table(7, 1)), b"");
        let begins = |start, prefix: &str| {
            store.begins_with(NameAt::in_table(file, start), prefix.as_bytes())
        };
        assert_eq!([begins(1, "ma"), begins(1, ""), begins(0, "")], [true; 3]);
        assert_eq!([begins(1, "mainx"), begins(6, "exits"), begins(99, "e")], [false; 3]);
    }

    #[test]
    fn parts_of_a_long_name_end_where_it_ends() {
        let mut store = NameStore::default();
        let text = [&b"\0"[..], &[b'a'; 1000], b"\0", &[b'b'; 700]].concat();
        let file = store.add(Section::from(text));
        for start in [500, 1, 700, 300, 800, 1000, 1001, 1002, 1500] {
            let end = if start <= 1001 { 1001 } else { 1702 };
            let len = store.get(NameAt::in_table(file, start)).len();
            assert_eq!(len, end - start as usize, "{start}");
        }
    }

    #[test]
    fn an_arena_keeps_many_names() {
        let mut arena = Arena::new(0);
        let (puts, exit) = (arena.keep(b"puts@plt"), arena.keep(b"exit@plt"));
        let mut store = NameStore::default();
        store.add(arena.into_bytes());
        assert_eq!((store.get(puts), store.get(exit)), (&b"puts@plt"[..], &b"exit@plt"[..]));
    }
}
