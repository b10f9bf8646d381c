//! The mappings of a process as `/proc/PID/maps` tells of them (proc(5)); a core that kcore wrote has
//! that text in a note.

use kcore_mem::{Addr, AddrRange, FileOff};

/// Mappings that are read, at most: the system's own limit is 65,530 by default.
const MAX_LINES: usize = 1 << 22;

/// One mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapLine {
    /// The addresses.
    pub range: AddrRange,
    /// As `p_flags`: 1 execute, 2 write, 4 read.
    pub flags: u32,
    /// Whether other processes see what is written to it.
    pub shared: bool,
    /// Offset in the file of the first byte.
    pub offset: FileOff,
    /// Major and minor number of the device that the file lies on.
    pub device: (u32, u32),
    /// Inode of the file; 0 where there is none.
    pub inode: u64,
    /// Path of the file with ` (deleted)` where it has no name any more, a name in brackets, or nothing.
    pub name: Vec<u8>,
}

impl MapLine {
    /// Whether a file is mapped.
    pub fn is_file(&self) -> bool {
        self.inode != 0 && self.name.first() == Some(&b'/')
    }

    /// Whether it is memory of the process' own: its pages are zeros until somebody writes to them, and no
    /// other process sees what is written.
    pub fn is_own(&self) -> bool {
        let has_no_file = self.inode == 0 && !self.name.starts_with(b"[v");
        let of_zeros = [&b"/dev/zero"[..], b"/anon_hugepage (deleted)"].contains(&&self.name[..]);
        !self.shared && (has_no_file || of_zeros)
    }
}

/// Reads the lines, in the order of addresses; one that is none is left out.
pub fn parse_maps(text: &[u8]) -> Vec<MapLine> {
    let lines = text.split(|byte| *byte == b'\n').take(MAX_LINES);
    let mut maps: Vec<MapLine> = lines.filter_map(parse_line).collect();
    maps.sort_by_key(|map| map.range.start);
    maps
}

/// `start-end perms offset dev inode name`; the name begins behind blanks and may hold blanks.
fn parse_line(line: &[u8]) -> Option<MapLine> {
    let mut words = line.splitn(6, |byte| *byte == b' ');
    let range = word(words.next()?)?;
    let (start, end) = range.split_once('-')?;
    let permissions = words.next()?;
    let offset = hex(word(words.next()?)?)?;
    let device = device(word(words.next()?)?)?;
    let inode = word(words.next()?)?.parse().ok()?;
    let name = words.next().unwrap_or_default().trim_ascii_start();
    Some(MapLine {
        range: AddrRange::new(Addr::new(hex(start)?), Addr::new(hex(end)?)),
        flags: flags_of(permissions),
        shared: permissions.get(3) == Some(&b's'),
        offset: FileOff::new(offset),
        device,
        inode,
        name: unescape(name),
    })
}

fn word(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// `major:minor`, both hexadecimal.
fn device(word: &str) -> Option<(u32, u32)> {
    let (major, minor) = word.split_once(':')?;
    Some((u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?))
}

fn hex(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok()
}

fn flags_of(permissions: &[u8]) -> u32 {
    let bit = |at: usize, letter: u8, bit: u32| match permissions.get(at) {
        Some(found) if *found == letter => bit,
        _ => 0,
    };
    bit(0, b'r', 4) | bit(1, b'w', 2) | bit(2, b'x', 1)
}

/// The kernel writes a newline in a path as `\012` (`seq_file_path`), and nothing else so.
fn unescape(name: &[u8]) -> Vec<u8> {
    const NEWLINE: &[u8] = b"\\012";
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((first, after)) = rest.split_first() {
        match rest.strip_prefix(NEWLINE) {
            Some(after) => {
                out.push(b'\n');
                rest = after;
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_range_permissions_offset_and_name() {
        let maps = parse_maps(
            b"7f1000-7f3000 r-xp 00002000 fe:01 42                    /lib/a b.so (deleted)\n\
              7f3000-7f4000 rw-s 00000000 00:00 0 \n\
              ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]\n",
        );
        assert_eq!(maps[0].range, AddrRange::with_len(Addr::new(0x7f_1000), 0x2000));
        assert_eq!((maps[0].flags, maps[0].offset.get(), maps[0].inode), (5, 0x2000, 42));
        assert_eq!((maps[0].device, maps[1].device), ((0xfe, 1), (0, 0)));
        assert_eq!([maps[0].is_own(), maps[1].is_own(), maps[2].is_own()], [false; 3]);
        assert_eq!((&maps[0].name[..], maps[0].shared), (&b"/lib/a b.so (deleted)"[..], false));
        assert_eq!((maps[1].flags, maps[1].shared, maps[1].is_file()), (6, true, false));
        assert_eq!((maps[2].flags, &maps[2].name[..]), (1, &b"[vsyscall]"[..]));
    }

    #[test]
    fn own_memory_has_no_file_but_that_of_zeros() {
        let own = |line: &str| parse_maps(line.as_bytes())[0].is_own();
        assert!(own("1000-2000 rw-p 0 0:0 0") && own("1000-2000 rw-p 0 0:0 0 [heap]"));
        assert!(own("1000-2000 rw-p 0 0:6 5 /dev/zero"));
        assert!(!own("1000-2000 rw-s 0 0:1 5 /dev/zero (deleted)"));
        assert!(!own("1000-2000 r--p 0 0:0 0 [vdso]") && !own("1000-2000 r--p 0 8:1 7 /a"));
    }

    #[test]
    fn a_newline_in_a_path_comes_back() {
        let maps = parse_maps(b"1000-2000 r--p 0 0:0 9 /a\\012b\\x\n");
        assert_eq!(maps[0].name, b"/a\nb\\x");
    }

    #[test]
    fn lines_that_are_none_are_left_out() {
        assert!(parse_maps(b"\n1000 r--p\nx-y r--p 0 0:0 9 /a\n1000-2000 r--p").is_empty());
        assert_eq!(parse_maps(b"2000-1000 r--p 0 0:0 9 /a")[0].range.len(), 0);
    }
}
