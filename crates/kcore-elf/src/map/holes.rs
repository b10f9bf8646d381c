//! Holes of sparse files: parts that no disk holds and that read as zeros. The kernel leaves one in a
//! core wherever a page was zeros.

use std::{fs::File, io, ops::Range, os::fd::AsRawFd};

/// The first part of `range` that is no hole; `None` when all of it is. A file system that knows no
/// holes, and a file that is shorter by now, have none. Moves the place in the file.
pub fn first_data(file: &File, range: Range<usize>) -> Option<Range<usize>> {
    match seek(file, range.start, libc::SEEK_DATA) {
        Ok(start) if start >= range.end => None,
        Ok(start) => {
            let end = seek(file, start, libc::SEEK_HOLE).unwrap_or(range.end);
            Some(start..end.min(range.end))
        }
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {
            let len = file.metadata().map_or(0, |metadata| metadata.len());
            ((len as usize) < range.end).then_some(range)
        }
        Err(_) => Some(range),
    }
}

fn seek(file: &File, to: usize, whence: libc::c_int) -> io::Result<usize> {
    let to = libc::off_t::try_from(to).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the descriptor is open as long as the file lives; nothing is written to memory.
    let at = unsafe { libc::lseek(file.as_raw_fd(), to, whence) };
    usize::try_from(at).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    const MIB: usize = 1 << 20;

    #[test]
    fn data_is_found_behind_and_between_holes() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4 * MIB as u64).unwrap();
        file.write_all_at(&[1; 16], MIB as u64).unwrap();
        let first = first_data(&file, 0..4 * MIB);
        if first == Some(0..4 * MIB) {
            return; // This file system knows no holes.
        }
        let first = first.unwrap();
        assert!(first.contains(&MIB) && first.start > 0 && first.end < 2 * MIB, "{first:?}");
        assert_eq!(first_data(&file, 0..MIB / 2), None);
        assert_eq!(first_data(&file, MIB + 1..MIB + 9), Some(MIB + 1..MIB + 9));
        assert_eq!(first_data(&file, 2 * MIB..4 * MIB), None);
    }

    /// Bytes of a map that stand in memory.
    fn in_memory(bytes: &[u8]) -> usize {
        let mut pages = vec![0; bytes.len().div_ceil(4096)];
        // SAFETY: the map is as long as `bytes`, and `pages` has a byte for each of its pages.
        let told = unsafe {
            libc::mincore(bytes.as_ptr().cast_mut().cast(), bytes.len(), pages.as_mut_ptr())
        };
        assert_eq!(told, 0, "{}", io::Error::last_os_error());
        pages.iter().filter(|page| *page & 1 != 0).map(|_| 4096).sum()
    }

    #[test]
    fn a_look_into_a_hole_does_not_fill_it() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(64 * MIB as u64).unwrap();
        let map = crate::FileBytes::map_sparse(&file).unwrap();
        for at in 0..8 {
            assert_eq!(map[at * 8 * MIB + MIB], 0);
        }
        assert!(in_memory(&map) <= MIB, "{} bytes of the hole are in memory", in_memory(&map));
        crate::will_need(&map[3..MIB]);
    }

    #[test]
    fn what_a_file_lost_is_no_hole() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(8).unwrap();
        assert_eq!(first_data(&file, 0..16), Some(0..16));
    }
}
