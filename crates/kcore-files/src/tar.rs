//! What lies where in a tar archive: POSIX.1-2017 `pax`, «ustar Interchange Format» and «pax Header Block», and the
//! long names and big numbers of GNU tar («Basic Tar Format» of its manual).
//!
//! Only headers are read. The files of an archive are read from the archive, wherever they are wanted.

use std::{fs::File, io, ops::Range, os::unix::fs::FileExt};

/// Bytes of a header, and what the bytes of a file are padded to.
const BLOCK: u64 = 512;
/// Files of one archive that are looked at, at most.
const MAX_ENTRIES: usize = 1 << 20;
/// Bytes of a name, at most: Linux has no longer paths.
const MAX_NAME: u64 = 4096;
/// Bytes of a pax header that are read, at most.
const MAX_PAX: u64 = 64 << 10;

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TarEntry {
    /// Its path, without `/` or `./` before it.
    pub name: Vec<u8>,
    /// Where its bytes lie in the archive.
    pub bytes: Range<u64>,
    /// The path of the file that it is another name of.
    pub link: Option<Vec<u8>>,
}

/// Whether bytes that begin a file begin a tar archive; [`MAGIC_END`] of them are looked at.
pub fn is_tar(bytes: &[u8]) -> bool {
    bytes.get(257..262) == Some(b"ustar")
}

/// The end of what tells a tar archive from other files.
pub const MAGIC_END: usize = 262;

/// The regular files, and the hard links to such, of the archive that lies in `range` of `file`. An archive that is cut
/// has those whose bytes are all there.
///
/// # Errors
/// When the file cannot be read, or a header is damaged before the first file.
pub fn entries(file: &File, range: Range<u64>) -> io::Result<Vec<TarEntry>> {
    let listed = list(file, range);
    match listed.error {
        Some(error) if listed.entries.is_empty() => Err(error),
        _ => Ok(listed.entries),
    }
}

/// What is in an archive.
#[derive(Debug, Default)]
pub struct TarListing {
    /// The files whose bytes are all there.
    pub entries: Vec<TarEntry>,
    /// The file in which the archive is cut, with the bytes that are left.
    pub cut: Option<TarEntry>,
    /// Why there are no more files, if there should be.
    pub error: Option<io::Error>,
}

/// The same with what is left of an archive that is cut or damaged.
pub fn list(file: &File, range: Range<u64>) -> TarListing {
    let (at, end) = (range.start, range.end);
    let mut reader = Reader { file, at, end, long: Long::default(), cut: None };
    let mut listed = TarListing::default();
    loop {
        match reader.next() {
            Ok(Some(Some(entry))) if listed.entries.len() < MAX_ENTRIES => {
                listed.entries.push(entry);
            }
            Ok(Some(None)) => {}
            Ok(_) => return listed,
            Err(error) => {
                return TarListing { cut: reader.cut, error: Some(error), ..listed };
            }
        }
    }
}

/// What a header says of the one behind it.
#[derive(Default)]
struct Long {
    name: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
}

struct Reader<'a> {
    file: &'a File,
    at: u64,
    end: u64,
    long: Long,
    /// The file whose bytes are not all there.
    cut: Option<TarEntry>,
}

impl Reader<'_> {
    /// The next file; `Some(None)`: something else; `None`: the end.
    fn next(&mut self) -> io::Result<Option<Option<TarEntry>>> {
        let mut header = [0_u8; BLOCK as usize];
        let start = self.at.checked_add(BLOCK).filter(|start| *start <= self.end);
        let Some(start) = start else { return Ok(None) };
        self.file.read_exact_at(&mut header, self.at)?;
        if header.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        check_sum(&header)?;
        let kind = header.get(156).copied().unwrap_or_default();
        let is_about_next = matches!(kind, b'L' | b'K' | b'x' | b'g');
        let size = self.long.size.filter(|_| !is_about_next);
        let size = size.map_or_else(|| number(field(&header, 124..136)), Ok)?;
        let end = start.checked_add(size).filter(|end| *end <= self.end);
        let Some(end) = end else {
            self.cut = self.entry(&header, kind, start..self.end).filter(|_| !is_about_next);
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        self.at = end.checked_next_multiple_of(BLOCK).unwrap_or(self.end);
        match kind {
            b'L' => self.long.name = Some(self.text(start..end, MAX_NAME)?),
            b'K' => self.long.link = Some(self.text(start..end, MAX_NAME)?),
            b'x' => self.take_pax(start..end)?,
            b'g' => {}
            _ => return Ok(Some(self.entry(&header, kind, start..end))),
        }
        Ok(Some(None))
    }

    /// The file of a header; `None` of what is none.
    fn entry(&mut self, header: &[u8], kind: u8, bytes: Range<u64>) -> Option<TarEntry> {
        let long = std::mem::take(&mut self.long);
        let name = long.name.unwrap_or_else(|| short_name(header));
        let link = long.link.unwrap_or_else(|| until_nul(field(header, 157..257)).to_vec());
        let link = match kind {
            b'0' | 0 | b'7' => None,
            b'1' => Some(relative(&link).to_vec()),
            _ => return None,
        };
        Some(TarEntry { name: relative(&name).to_vec(), bytes, link })
    }

    fn text(&self, bytes: Range<u64>, most: u64) -> io::Result<Vec<u8>> {
        let read = self.read(bytes, most)?;
        Ok(until_nul(&read).to_vec())
    }

    fn read(&self, bytes: Range<u64>, most: u64) -> io::Result<Vec<u8>> {
        let len = bytes.end.saturating_sub(bytes.start).min(most);
        let mut read = vec![0; usize::try_from(len).unwrap_or_default()];
        self.file.read_exact_at(&mut read, bytes.start)?;
        Ok(read)
    }

    /// Records of a pax header: `LENGTH KEY=VALUE\n`, the length that of the whole record.
    fn take_pax(&mut self, bytes: Range<u64>) -> io::Result<()> {
        let read = self.read(bytes, MAX_PAX)?;
        let mut rest = read.as_slice();
        while let Some((key, value, behind)) = pax_record(rest) {
            match key {
                b"path" => self.long.name = Some(value.to_vec()),
                b"linkpath" => self.long.link = Some(value.to_vec()),
                b"size" => self.long.size = decimal(value),
                _ => {}
            }
            rest = behind;
        }
        Ok(())
    }
}

/// Key and value of the first record, and what follows it.
fn pax_record(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = bytes.iter().position(|byte| *byte == b' ')?;
    let len = usize::try_from(decimal(bytes.get(..space)?)?).ok()?;
    let record = bytes.get(space.checked_add(1)?..len)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|byte| *byte == b'=')?;
    Some((record.get(..equals)?, record.get(equals.checked_add(1)?..)?, bytes.get(len..)?))
}

fn decimal(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Name and prefix. GNU tar has other things in the place of the prefix, and says so by its magic.
fn short_name(header: &[u8]) -> Vec<u8> {
    let name = until_nul(field(header, 0..100));
    let is_posix = header.get(257..263) == Some(b"ustar\0");
    match until_nul(field(header, 345..500)) {
        [] => name.to_vec(),
        _ if !is_posix => name.to_vec(),
        prefix => [prefix, b"/", name].concat(),
    }
}

fn field(header: &[u8], range: Range<usize>) -> &[u8] {
    header.get(range).unwrap_or_default()
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

fn relative(mut name: &[u8]) -> &[u8] {
    while let Some(rest) = name.strip_prefix(b"/").or_else(|| name.strip_prefix(b"./")) {
        name = rest;
    }
    name
}

/// Octal digits, or a binary number whose first bit is set.
fn number(field: &[u8]) -> io::Result<u64> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "a damaged header of tar");
    if let [first @ 0x80..=0xff, rest @ ..] = field {
        let bytes = std::iter::once(first & 0x7f).chain(rest.iter().copied());
        let sum = bytes
            .into_iter()
            .try_fold(0_u64, |sum, byte| sum.checked_mul(256)?.checked_add(u64::from(byte)));
        return sum.ok_or_else(damaged);
    }
    let text = std::str::from_utf8(field).map_err(|_| damaged())?;
    let digits = text.trim_matches(|c: char| c == '\0' || c == ' ');
    if digits.is_empty() {
        return Ok(0);
    }
    u64::from_str_radix(digits, 8).map_err(|_| damaged())
}

/// The sum of all bytes of a header, its own taken for spaces.
fn check_sum(header: &[u8]) -> io::Result<()> {
    let bytes = header.iter().enumerate();
    let sum: u64 = bytes
        .map(|(at, byte)| u64::from(if (148..156).contains(&at) { b' ' } else { *byte }))
        .sum();
    match number(field(header, 148..156)) {
        Ok(said) if said == sum => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "a damaged header of tar")),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, process::Command};

    use super::*;

    /// An archive that tar itself made of a folder, in one of its formats.
    fn archive(folder: &Path, format: &str) -> File {
        let path = folder.join(format!("{format}.tar"));
        let words = ["--format", format, "-cf"];
        let mut tar = Command::new("tar");
        tar.args(words).arg(&path).arg("-C").arg(folder).arg("in");
        assert!(tar.status().unwrap().success());
        File::open(path).unwrap()
    }

    fn listed(file: &File) -> Vec<TarEntry> {
        entries(file, 0..file.metadata().unwrap().len()).unwrap()
    }

    #[test]
    fn what_tar_packed_is_found_in_each_of_its_formats() {
        let folder = tempfile::tempdir().unwrap();
        let deep = format!("in/{}", "long-name-".repeat(9));
        fs::create_dir_all(folder.path().join(&deep)).unwrap();
        let long = format!("{deep}/{}", "x".repeat(120));
        for (name, text) in [("in/short", "one"), (&long, "two words"), ("in/empty", "")] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        fs::hard_link(folder.path().join("in/short"), folder.path().join("in/zlink")).unwrap();
        std::os::unix::fs::symlink("short", folder.path().join("in/soft")).unwrap();
        for format in ["gnu", "pax", "oldgnu"] {
            let file = archive(folder.path(), format);
            let mut found = listed(&file);
            found.sort_by(|one, two| one.name.cmp(&two.name));
            let text = |entry: &TarEntry| {
                let mut bytes =
                    vec![0; usize::try_from(entry.bytes.end - entry.bytes.start).unwrap()];
                file.read_exact_at(&mut bytes, entry.bytes.start).unwrap();
                String::from_utf8(bytes).unwrap()
            };
            let names: Vec<_> =
                found.iter().map(|it| String::from_utf8(it.name.clone()).unwrap()).collect();
            assert_eq!(names, ["in/empty", long.as_str(), "in/short", "in/zlink"], "{format}");
            let linked = found.iter().filter(|entry| entry.link.is_some()).count();
            assert_eq!(linked, 1, "{format}");
            let texts: Vec<_> = found.iter().filter(|it| it.link.is_none()).map(text).collect();
            assert_eq!(texts, ["", "two words", "one"], "{format}");
        }
    }

    #[test]
    fn damage_ends_an_archive_and_loops_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("in")).unwrap();
        fs::write(folder.path().join("in/one"), "one").unwrap();
        fs::write(folder.path().join("in/two"), "two").unwrap();
        let whole = {
            archive(folder.path(), "gnu");
            fs::read(folder.path().join("gnu.tar")).unwrap()
        };
        let path = folder.path().join("hurt");
        let found = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            let file = File::open(&path).unwrap();
            entries(&file, 0..bytes.len() as u64).map(|found| found.len())
        };
        assert_eq!(found(&whole).unwrap(), 2);
        for len in 0..4096.min(whole.len()) {
            assert!(found(&whole[..len]).unwrap_or_default() <= 2);
        }
        assert!(found(&[b'x'; 1024]).is_err());
        // A size that leads out of the file, and one that is no number.
        for size in
            [&b"77777777777\0"[..], b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", b"9"]
        {
            let mut bytes = whole.clone();
            bytes[512 + 124..512 + 124 + size.len()].copy_from_slice(size);
            bytes[512 + 148..512 + 156].fill(b' ');
            let sum: u32 = bytes[512..1024].iter().map(|byte| u32::from(*byte)).sum();
            bytes[512 + 148..512 + 156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
            assert!(found(&bytes).is_err(), "{size:?}");
        }
    }

    #[test]
    fn records_of_pax_are_read_as_far_as_they_are_sound() {
        assert_eq!(
            pax_record(b"12 path=abc\nrest"),
            Some((&b"path"[..], &b"abc"[..], &b"rest"[..]))
        );
        for damaged in
            ["", " ", "12 path=abc", "3 path=abc\n", "99 path=abc\n", "x path=abc\n", "8 pathab\n"]
        {
            assert_eq!(pax_record(damaged.as_bytes()), None, "{damaged}");
        }
    }
}
