//! Notes: the records of a PT_NOTE segment.
//!
//! Kernels of some architectures leave words of zeros between notes.
//!
//! Layout: `namesz u32, descsz u32, type u32`, the name padded to 4, the descriptor padded to 4,
//! in 64-bit cores too, whatever `p_align` says (gABI; Linux `fs/binfmt_elf.c`).

use std::ops::Range;

use kcore_mem::{Cursor, Target};

use crate::BuildId;

/// Notes read of one segment, at most: far above a note for each of a million threads.
const MAX_NOTES: usize = 1 << 23;

/// One note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note<'a> {
    /// Who defined the type: `CORE`, `LINUX`, `GNU`, `GDB`. The NUL at its end is cut.
    pub owner: &'a [u8],
    /// The type, unique only together with the owner.
    pub kind: u32,
    /// The descriptor.
    pub desc: &'a [u8],
    /// Offset of the descriptor in the bytes that were read.
    pub desc_at: usize,
}

/// The system that writes notes of this owner: NetBSD (`sys/exec_elf.h`), OpenBSD and FreeBSD.
pub fn other_system(owner: &[u8]) -> Option<&'static str> {
    match owner {
        _ if owner.starts_with(b"NetBSD-CORE") => Some("NetBSD"),
        _ if owner.starts_with(b"OpenBSD") => Some("OpenBSD"),
        b"FreeBSD" => Some("FreeBSD"),
        _ => None,
    }
}

/// The notes in `bytes`. It ends at the end of the bytes or at the first note that they do not
/// hold whole: [`Notes::cut_at`] then says where.
#[derive(Clone, Debug)]
pub struct Notes<'a> {
    cursor: Cursor<'a>,
    cut_at: Option<usize>,
    left: usize,
}

impl<'a> Notes<'a> {
    /// Starts at the first note.
    pub const fn new(bytes: &'a [u8], target: Target) -> Self {
        Self { cursor: Cursor::new(bytes, target), cut_at: None, left: MAX_NOTES }
    }

    /// After the last note: the offset of a note that is there only in part.
    pub const fn cut_at(&self) -> Option<usize> {
        self.cut_at
    }

    /// Skips words of zeros, where a note follows them.
    fn skip_zeros(&mut self) {
        let zeros = self.cursor.rest().chunks_exact(4).take_while(|word| **word == [0; 4]).count();
        let mut behind = self.cursor;
        // No note has an owner without a name.
        if zeros > 0 && behind.skip(zeros.saturating_mul(4)).is_ok() && !behind.is_empty() {
            self.cursor = behind;
        }
    }

    fn read(&mut self) -> Option<Note<'a>> {
        let name_size = usize::try_from(self.cursor.u32().ok()?).ok()?;
        let desc_size = usize::try_from(self.cursor.u32().ok()?).ok()?;
        let kind = self.cursor.u32().ok()?;
        let name = self.cursor.bytes(name_size).ok()?;
        self.cursor.align(4);
        let desc_at = self.cursor.position();
        let desc = self.cursor.bytes(desc_size).ok()?;
        self.cursor.align(4);
        Some(Note { owner: name.strip_suffix(b"\0").unwrap_or(name), kind, desc, desc_at })
    }
}

impl<'a> Iterator for Notes<'a> {
    type Item = Note<'a>;

    fn next(&mut self) -> Option<Note<'a>> {
        if self.cursor.is_empty() || self.cut_at.is_some() || self.left == 0 {
            return None;
        }
        self.left = self.left.saturating_sub(1);
        self.skip_zeros();
        let start = self.cursor.position();
        let note = self.read();
        if note.is_none() {
            self.cut_at = Some(start);
        }
        note
    }
}

/// The build-id among the notes of a module (`GNU`, type 3).
pub fn build_id(bytes: &[u8], target: Target) -> Option<BuildId> {
    Notes::new(bytes, target)
        .find(|note| note.owner == b"GNU" && note.kind == 3)
        .and_then(|note| BuildId::new(note.desc))
}

/// Where a note's descriptor lies in the file, when its segment begins at `segment_start`.
pub fn desc_range(note: &Note<'_>, segment_start: u64) -> Option<Range<u64>> {
    let start = segment_start.checked_add(note.desc_at as u64)?;
    Some(start..start.checked_add(note.desc.len() as u64)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(owner: &[u8], kind: u32, desc: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&(owner.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&(desc.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&kind.to_le_bytes());
        for part in [owner, desc] {
            bytes.extend_from_slice(part);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    #[test]
    fn names_and_descriptors_are_padded_to_four() {
        let mut bytes = note(b"CORE\0", 1, b"abcde");
        bytes.extend(note(b"LINUX\0", 0x202, b"xy"));
        let all: Vec<_> = Notes::new(&bytes, Target::X86_64).collect();
        assert_eq!((all[0].owner, all[0].kind, all[0].desc), (&b"CORE"[..], 1, &b"abcde"[..]));
        assert_eq!((all[1].owner, all[1].kind, all[1].desc), (&b"LINUX"[..], 0x202, &b"xy"[..]));
    }

    #[test]
    fn zeros_between_notes_are_no_note() {
        let mut bytes = note(b"CORE\0", 1, b"abcd");
        bytes.extend([0; 12]);
        bytes.extend(note(b"LINUX\0", 0x202, b"xy"));
        let kinds: Vec<_> = Notes::new(&bytes, Target::X86_64).map(|note| note.kind).collect();
        assert_eq!(kinds, [1, 0x202]);
    }

    #[test]
    fn a_note_cut_in_the_middle_leaves_those_before_it() {
        let mut bytes = note(b"CORE\0", 1, b"abcd");
        let whole = bytes.len();
        bytes.extend(note(b"CORE\0", 2, &[7; 100]));
        bytes.truncate(whole + 40);
        let mut notes = Notes::new(&bytes, Target::X86_64);
        assert_eq!(notes.by_ref().count(), 1);
        assert_eq!(notes.cut_at(), Some(whole));
    }

    #[test]
    fn sizes_that_overflow_are_a_cut_note() {
        let bytes = [0xff; 64];
        let mut notes = Notes::new(&bytes, Target::X86_64);
        assert_eq!(notes.next(), None);
        assert_eq!(notes.cut_at(), Some(0));
    }

    #[test]
    fn the_build_id_is_the_gnu_note_of_type_three() {
        let mut bytes = note(b"GNU\0", 5, b"propertyproperty");
        bytes.extend(note(b"GNU\0", 3, &[0xab, 0xcd]));
        assert_eq!(build_id(&bytes, Target::X86_64).unwrap().to_string(), "abcd");
        assert_eq!(build_id(&note(b"Go\0\0", 3, b"x"), Target::X86_64), None);
    }
}
