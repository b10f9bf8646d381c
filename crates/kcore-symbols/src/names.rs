//! Where the names of symbols lie: in the files that they came from, or in an arena.

use kcore_elf::FileBytes;

/// A name by its place; the default is the empty name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NameAt {
    start: u64,
    len: u32,
    file: u8,
}

impl NameAt {
    /// Whether it is the empty name.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// The bytes that names lie in. They keep the files mapped.
#[derive(Debug, Default)]
pub struct NameStore {
    files: Vec<FileBytes>,
}

impl NameStore {
    /// The number of the file that is added next.
    pub fn next_file(&self) -> u8 {
        u8::try_from(self.files.len()).unwrap_or(u8::MAX)
    }

    /// Adds a file whose names are to be referred to; says its number.
    pub fn add(&mut self, bytes: FileBytes) -> u8 {
        let file = self.next_file();
        self.files.push(bytes);
        file
    }

    /// The place of `name`, which must be a slice of the bytes of file number `file`; `None` when
    /// it is not.
    pub fn place(&self, file: u8, name: &[u8]) -> Option<NameAt> {
        let bytes = self.files.get(usize::from(file))?;
        let start = name.as_ptr().addr().checked_sub(bytes.as_ptr().addr())?;
        let end = start.checked_add(name.len())?;
        let inside = end <= bytes.len();
        let len = u32::try_from(name.len()).ok()?;
        inside.then_some(NameAt { start: start as u64, len, file })
    }

    /// The name at a place.
    pub fn get(&self, at: NameAt) -> &[u8] {
        let bytes = self.files.get(usize::from(at.file)).map(|bytes| &bytes[..]);
        let start = usize::try_from(at.start).unwrap_or(usize::MAX);
        let end = start.saturating_add(at.len as usize);
        bytes.and_then(|bytes| bytes.get(start..end)).unwrap_or_default()
    }
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

    /// Keeps a name, cut at 4 GiB.
    pub fn keep(&mut self, name: &[u8]) -> NameAt {
        let start = self.bytes.len() as u64;
        self.bytes.extend_from_slice(name);
        NameAt { start, len: u32::try_from(name.len()).unwrap_or(u32::MAX), file: self.file }
    }

    /// The collected bytes.
    pub fn into_bytes(self) -> FileBytes {
        FileBytes::from(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_again_where_it_lies() {
        let bytes = FileBytes::from(b"\0main\0exit\0".to_vec());
        let mut store = NameStore::default();
        let file = store.add(bytes.clone());
        let at = store.place(file, &bytes[6..10]).unwrap();
        assert_eq!(store.get(at), b"exit");
    }

    #[test]
    fn a_name_from_elsewhere_has_no_place() {
        let mut store = NameStore::default();
        let file = store.add(FileBytes::from(vec![0; 16]));
        assert_eq!(store.place(file, &[1, 2, 3]), None);
        assert_eq!(store.place(7, b"x"), None);
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
