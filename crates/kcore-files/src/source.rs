//! Finding the source file of a line that debug information names.

use std::{
    ffi::OsStr,
    fs::File,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use crate::{Finder, Why, regular, sysroot};

/// Bytes of a source file that are read, at most.
const MAX_FILE: u64 = 64 << 20;
/// Bytes of a line that are kept, at most.
const MAX_LINE: usize = 4096;

/// Lines of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// Where the file was found.
    pub path: PathBuf,
    /// Number of the first line, from 1.
    pub first: u64,
    /// The lines without their ends, invalid UTF-8 replaced, long ones cut.
    pub lines: Vec<String>,
}

impl Finder {
    /// The lines from `first` to `last`, as many as there are, of the source file that debug
    /// information calls `path`: where the user said that its folder is, below the system's root if one was given, as it is, in the folder of
    /// the core, in that of the executable.
    ///
    /// # Errors
    /// What was tried, and why each was refused.
    pub fn source(
        &self,
        path: &str,
        exe: Option<&Path>,
        first: u64,
        last: u64,
    ) -> Result<SourceText, Vec<(PathBuf, Why)>> {
        let mut tried = Vec::new();
        for candidate in self.source_candidates(Path::new(path), exe) {
            let file = self.paths.open(&candidate);
            match file.and_then(|file| read_lines(file, first, last)) {
                Ok(lines) => return Ok(SourceText { path: candidate, first, lines }),
                Err(why) => tried.push((candidate, why)),
            }
        }
        Err(tried)
    }

    pub(crate) fn source_candidates(&self, path: &Path, exe: Option<&Path>) -> Vec<PathBuf> {
        let root = self.paths.sysroot.as_deref().map(|root| sysroot::resolve(root, path));
        let folders = [self.paths.core_dir.as_deref(), exe.and_then(Path::parent)];
        let relative: PathBuf =
            path.components().skip_while(|part| part.as_os_str() == "/").collect();
        let beside = folders.into_iter().flatten().flat_map(|folder| {
            let name = path.file_name().map(|name: &OsStr| folder.join(name));
            [Some(folder.join(&relative)), name].into_iter().flatten()
        });
        let mut candidates: Vec<PathBuf> = Vec::new();
        let mapped = self.paths.mapped(path);
        for candidate in mapped.chain(root).chain([path.to_owned()]).chain(beside) {
            if !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        }
        candidates
    }
}

fn read_lines(file: File, first: u64, last: u64) -> Result<Vec<String>, Why> {
    let mut reader = BufReader::new(file.take(MAX_FILE));
    let mut lines = Vec::new();
    for number in 1..=last {
        let Some(line) = read_line(&mut reader).map_err(regular::why)? else { break };
        if number >= first {
            lines.push(line);
        }
    }
    Ok(lines)
}

/// The next line without its end; `None` at the end of the file.
fn read_line(reader: &mut impl BufRead) -> std::io::Result<Option<String>> {
    let mut kept = Vec::new();
    let mut any = false;
    loop {
        let held = reader.fill_buf()?;
        let end = held.iter().position(|byte| *byte == b'\n');
        let part = held.get(..end.unwrap_or(held.len())).unwrap_or_default();
        let room = MAX_LINE.saturating_sub(kept.len()).min(part.len());
        kept.extend_from_slice(part.get(..room).unwrap_or_default());
        let used = end.map_or(held.len(), |end| end.saturating_add(1));
        any |= used > 0;
        reader.consume(used);
        if end.is_some() || used == 0 {
            break;
        }
    }
    let text = kept.strip_suffix(b"\r").unwrap_or(&kept);
    Ok(any.then(|| String::from_utf8_lossy(text).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SearchPaths;

    fn finder(core_dir: &Path) -> Finder {
        Finder::new(SearchPaths { core_dir: Some(core_dir.to_owned()), ..SearchPaths::default() })
    }

    #[test]
    fn lines_are_those_of_the_file_beside_the_core() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("main.c"), "one\ntwo\r\n\nfour").unwrap();
        let found = finder(folder.path()).source("gone/main.c", None, 2, 9).unwrap();
        assert_eq!(found.path, folder.path().join("main.c"));
        assert_eq!(
            (found.first, found.lines),
            (2, vec!["two".into(), String::new(), "four".into()])
        );
    }

    #[test]
    fn what_was_tried_is_told_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let tried = finder(folder.path()).source("gone/main.c", None, 1, 2).unwrap_err();
        let paths: Vec<_> = tried.iter().map(|(path, _)| path.clone()).collect();
        let below = |path: &str| folder.path().join(path);
        assert_eq!(paths, [PathBuf::from("gone/main.c"), below("gone/main.c"), below("main.c")]);
        assert!(tried.iter().all(|(_, why)| *why == Why::NotFound));
    }

    #[test]
    fn devices_are_not_read_and_long_lines_are_cut() {
        let folder = tempfile::tempdir().unwrap();
        let finder = finder(folder.path());
        let tried = finder.source("/dev/zero", None, 1, 2).unwrap_err();
        assert_eq!(tried[0].1, Why::NotRegular);
        std::fs::write(folder.path().join("long.c"), vec![b'x'; 1 << 20]).unwrap();
        let found = finder.source("long.c", None, 1, 2).unwrap();
        assert_eq!((found.lines.len(), found.lines[0].len()), (1, MAX_LINE));
    }
}
