//! The file behind a mapping, read without the process that maps it.

use std::{fs::File, io, ops::Range, os::unix::fs::FileExt};

use super::page_map::PAGE;
use crate::sys::holes::{Keeper, data_from, keeper_of};

/// What a part of a file has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Bytes.
    Data(Range<u64>),
    /// Nothing that anybody ever wrote: it reads as zeros.
    Hole(Range<u64>),
    /// Nothing: it lies behind the end.
    Behind(Range<u64>),
}

/// The file behind a mapping.
#[derive(Debug)]
pub struct Backing {
    file: File,
    keeper: Keeper,
    /// Its length when it was opened.
    len: u64,
}

impl Backing {
    /// Of an open file.
    ///
    /// # Errors
    /// What the system says.
    pub fn of(file: File) -> io::Result<Self> {
        let keeper = keeper_of(&file)?;
        let len = file.metadata()?.len();
        Ok(Self { file, keeper, len })
    }

    /// Whether its bytes are nowhere else than in memory, where whoever maps it may change them at any time.
    pub fn is_memory(&self) -> bool {
        self.keeper != Keeper::Disk
    }

    /// Where its last page ended when it was opened: to ask again may take a disk its time.
    pub fn end(&self) -> u64 {
        self.len.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX)
    }

    /// What a part of it has, in order and without gaps. It ends early once `is_over` says so.
    pub fn extents(&self, part: Range<u64>, is_over: &dyn Fn() -> bool) -> Vec<Extent> {
        let mut extents = Vec::new();
        let mut at = part.start;
        while at < part.end && !is_over() {
            let Some(data) = self.data_from(at, part.end) else {
                extents.extend(self.without_data(at..part.end));
                break;
            };
            let data = data.start.clamp(at, part.end)..data.end.clamp(at, part.end);
            extents.extend((data.start > at).then_some(Extent::Hole(at..data.start)));
            at = data.end;
            extents.extend((!data.is_empty()).then_some(Extent::Data(data)));
        }
        extents
    }

    /// The pages of the next data; they may lie at or behind `end`, and then their own end does not count. Where the
    /// file system knows of no holes, all up to the end of the file is data.
    fn data_from(&self, from: u64, end: u64) -> Option<Range<u64>> {
        match data_from(&self.file, from, end) {
            Ok(data) => data.map(|data| widened(&data)),
            Err(_) => Some(from..self.end_now()).filter(|data| !data.is_empty()),
        }
    }

    /// A part that has no data: up to the end of the file it reads as zeros.
    fn without_data(&self, part: Range<u64>) -> impl Iterator<Item = Extent> + use<> {
        let end = self.end_now().clamp(part.start, part.end);
        let hole = (end > part.start).then_some(Extent::Hole(part.start..end));
        let behind = (part.end > end).then_some(Extent::Behind(end..part.end));
        hole.into_iter().chain(behind)
    }

    /// Where its last page ends: a page that the end lies in can be read to its end.
    fn end_now(&self) -> u64 {
        let len = self.file.metadata().map_or(0, |data| data.len());
        len.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX)
    }

    /// Whether the page at an offset has data, or lies behind the end.
    pub fn page(&self, offset: u64) -> Option<Extent> {
        self.extents(offset..offset.checked_add(PAGE)?, &|| false).into_iter().next()
    }

    /// Reads so many bytes onto the end of `bytes`, zeros where the file ends within its last page. The
    /// answer is how many were read.
    pub fn append(&self, offset: u64, len: usize, bytes: &mut Vec<u8>) -> usize {
        let start = bytes.len();
        let all = start.saturating_add(len);
        bytes.resize(all, 0);
        let mut read: usize = 0;
        while let Some(room) =
            bytes.get_mut(start.saturating_add(read)..).filter(|it| !it.is_empty())
        {
            match self.file.read_at(room, offset.saturating_add(read as u64)) {
                Ok(0) => break,
                Ok(more) => read = read.saturating_add(more),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let page = usize::try_from(PAGE).unwrap_or(usize::MAX);
        let read = read.checked_next_multiple_of(page).unwrap_or(len).min(len);
        bytes.truncate(start.saturating_add(read));
        read
    }
}

/// The pages that a range lies in.
fn widened(data: &Range<u64>) -> Range<u64> {
    let end = data.end.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
    data.start & !(PAGE - 1)..end
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom, Write};

    use super::*;

    #[test]
    fn data_holes_and_what_lies_behind_are_told_apart() {
        let mut file = tempfile::tempfile_in("/dev/shm").unwrap();
        file.seek(SeekFrom::Start(16 * PAGE)).unwrap();
        file.write_all(&[7; 100]).unwrap();
        file.set_len(20 * PAGE + 10).unwrap();
        let backing = Backing::of(file).unwrap();
        assert!(backing.is_memory());
        let all = [
            Extent::Hole(0..16 * PAGE),
            Extent::Data(16 * PAGE..17 * PAGE),
            Extent::Hole(17 * PAGE..21 * PAGE),
            Extent::Behind(21 * PAGE..30 * PAGE),
        ];
        assert_eq!(backing.extents(0..30 * PAGE, &|| false), all);
        assert_eq!(
            backing.extents(40 * PAGE..50 * PAGE, &|| false),
            [Extent::Behind(40 * PAGE..50 * PAGE)]
        );
        assert_eq!(backing.page(16 * PAGE), Some(Extent::Data(16 * PAGE..17 * PAGE)));
        let mut bytes = vec![1];
        assert_eq!(backing.append(16 * PAGE, 4096, &mut bytes), 4096);
        assert_eq!((bytes[1], bytes[100], bytes[101], bytes.len()), (7, 7, 0, 4097));
        assert_eq!(backing.append(21 * PAGE, 4096, &mut bytes), 0);
        assert_eq!(bytes.len(), 4097);
    }
}
