//! Bytes of files: mapped or owned, counted, and shared without a lifetime.
//!
//! The only room of the crate with `unsafe`: mapping a file, outliving its loss, and promising that
//! a counted slice stays where it is.

#![allow(unsafe_code)]

mod guard;
mod holes;

use std::{
    fmt,
    fs::File,
    io,
    ops::{Deref, Range},
    sync::Arc,
};

use memmap2::Mmap;
use stable_deref_trait::{CloneStableDeref, StableDeref};

use guard::GuardedMap;
pub use guard::leave_signal_alone;

/// The bytes of one file (or of an image that was copied out of memory).
#[derive(Clone)]
pub struct FileBytes(Arc<Inner>);

enum Inner {
    Mapped {
        map: GuardedMap,
        /// The file, where its holes may be asked for.
        file: Option<File>,
    },
    Owned(Vec<u8>),
}

impl FileBytes {
    /// Maps `file` for reading. An empty file is no bytes. The first map installs a handler of
    /// SIGBUS, which passes on what is not about a map of this type.
    ///
    /// # Errors
    /// What the system says, for a directory, a pipe, or a file that may not be read.
    pub fn map(file: &File) -> io::Result<Self> {
        Self::map_and_keep(file, None)
    }

    /// Maps `file` for reading, and keeps it open to ask it for its holes: see [`FileBytes::first_data`].
    /// Of such a file little is read, here and there: the kernel is asked not to read on behind it,
    /// which in a hole takes memory and much time. Who reads on says so: see [`will_need`].
    ///
    /// # Errors
    /// As [`FileBytes::map`].
    pub fn map_sparse(file: &File) -> io::Result<Self> {
        let bytes = Self::map_and_keep(file, Some(file.try_clone()?))?;
        if let Inner::Mapped { map, .. } = &*bytes.0 {
            map.read_here_and_there();
        }
        Ok(bytes)
    }

    fn map_and_keep(file: &File, kept: Option<File>) -> io::Result<Self> {
        if file.metadata()?.len() == 0 {
            return Ok(Self::from(Vec::new()));
        }
        // SAFETY: the map is private and read-only. Another process may still write or shrink the
        // file, as with any mapped file; kcore reads it as untrusted bytes and never as `str` or
        // as a type with invalid values.
        let map = unsafe { Mmap::map(file)? };
        Ok(Self(Arc::new(Inner::Mapped { map: GuardedMap::new(map), file: kept })))
    }

    /// Bytes at its beginning of which none was lost since it was mapped, because the file shrank
    /// or its disk failed, as far as that was noticed. Lost bytes read as zeros.
    pub fn intact_len(&self) -> usize {
        match &*self.0 {
            Inner::Mapped { map, .. } => map.intact_len(),
            Inner::Owned(bytes) => bytes.len(),
        }
    }

    /// The bytes of `range`, up to the first that was lost since the file was mapped; `None` when
    /// that is the first one, or the file does not hold them.
    pub fn intact(&self, range: Range<usize>) -> Option<&[u8]> {
        let bytes = self.get(range.start..range.end.min(self.intact_len()))?;
        // The first look at a byte may be the one that notices its loss.
        std::hint::black_box(*bytes.first()?);
        (range.start < self.intact_len()).then_some(bytes)
    }

    /// The first part of `range` that may hold anything but zeros; `None` when the file has a hole
    /// there. Nothing is read: a hole of a mapped file takes memory once it is touched.
    pub fn first_data(&self, range: Range<usize>) -> Option<Range<usize>> {
        match &*self.0 {
            Inner::Mapped { file: Some(file), .. } => holes::first_data(file, range),
            _ => Some(range),
        }
    }

    /// Whether bytes were lost since it was mapped.
    pub fn is_lost(&self) -> bool {
        self.intact_len() < self.len()
    }

    /// The whole as a section.
    pub fn whole(&self) -> Section {
        Section { owner: self.clone(), range: 0..self.len() }
    }

    /// The bytes in `range`; `None` when the file does not hold all of them, or not any more.
    pub fn section(&self, range: Range<u64>) -> Option<Section> {
        let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
        self.get(range.clone()).filter(|_| range.end <= self.intact_len())?;
        Some(Section { owner: self.clone(), range })
    }
}

/// Tells the kernel that these bytes are read next, so that it reads them from a disk together.
pub fn will_need(bytes: &[u8]) {
    const PAGE: usize = 4096;
    let in_page = bytes.as_ptr().addr() % PAGE;
    let start = bytes.as_ptr().wrapping_sub(in_page).cast_mut();
    let len = bytes.len().saturating_add(in_page);
    // SAFETY: this advice changes no memory; the pages hold `bytes`, and where the address is none of
    // a page the kernel refuses.
    let _ = unsafe { libc::madvise(start.cast(), len, libc::MADV_WILLNEED) };
}

impl From<Vec<u8>> for FileBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Inner::Owned(bytes)))
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &*self.0 {
            Inner::Mapped { map, .. } => map.bytes(),
            Inner::Owned(bytes) => bytes,
        }
    }
}

impl fmt::Debug for FileBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileBytes({} bytes)", self.len())
    }
}

/// A counted slice of a file: it keeps the file mapped as long as it lives.
#[derive(Clone)]
pub struct Section {
    owner: FileBytes,
    range: Range<usize>,
}

impl Section {
    /// No bytes.
    pub fn empty() -> Self {
        Self::from(Vec::new())
    }

    /// A part of it; `None` when it does not hold all of `range`.
    pub fn slice(&self, range: Range<usize>) -> Option<Self> {
        self.get(range.clone())?;
        let start = self.range.start.checked_add(range.start)?;
        let end = self.range.start.checked_add(range.end)?;
        Some(Self { owner: self.owner.clone(), range: start..end })
    }
}

impl From<Vec<u8>> for Section {
    fn from(bytes: Vec<u8>) -> Self {
        FileBytes::from(bytes).whole()
    }
}

impl Default for Section {
    fn default() -> Self {
        Self::empty()
    }
}

impl Deref for Section {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.owner.get(self.range.clone()).unwrap_or_default()
    }
}

impl AsRef<[u8]> for Section {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Section({:#x?})", self.range)
    }
}

// SAFETY: the bytes lie in a map or in a vector behind an `Arc`, neither of which moves, grows or
// is written while the `Arc` lives; moving the `Section` moves neither.
unsafe impl StableDeref for Section {}

// SAFETY: a clone counts the same `Arc` and has the same range, so it derefs to the same address.
unsafe impl CloneStableDeref for Section {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_outlives_the_name_of_its_file() {
        let section = FileBytes::from(vec![1, 2, 3, 4]).section(1..3).unwrap();
        assert_eq!(&section[..], &[2, 3]);
        assert_eq!(section.as_ptr(), section.clone().as_ptr());
    }

    #[test]
    fn a_section_beyond_the_file_does_not_exist() {
        let file = FileBytes::from(vec![0; 4]);
        assert!(file.section(2..5).is_none());
        assert!(file.section(u64::MAX - 1..u64::MAX).is_none());
        assert_eq!(file.section(4..4).unwrap().len(), 0);
    }
}
