//! Whole files of the target that are found as its source files are.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use crate::{Finder, regular};

impl Finder {
    /// The files that may be the one which the target has at `path`, where [`Finder::source`] looks, one after the
    /// other until `take` has what it wanted. Those of more than `most` bytes are left out.
    pub fn files_of_target(
        &self,
        path: &Path,
        exe: Option<&Path>,
        most: u64,
        take: &mut dyn FnMut(&Path, Vec<u8>) -> bool,
    ) -> bool {
        let found = |candidate: PathBuf| {
            let file = self.paths.open(&candidate).ok()?;
            let bytes = read(file, most).ok()??;
            Some((candidate, bytes))
        };
        let candidates = self.source_candidates(path, exe).into_iter();
        candidates.filter_map(found).any(|(path, bytes)| take(&path, bytes))
    }
}

/// All bytes of a file; `None` of a longer one.
fn read(file: impl Read, most: u64) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// All bytes of a regular file that a user named.
///
/// # Errors
/// Where it cannot be read, is no regular file, or has more than `most` bytes.
pub fn read_regular(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let too_long = || std::io::Error::new(std::io::ErrorKind::FileTooLarge, "file too large");
    read(regular::open_regular(path)?, most)?.ok_or_else(too_long)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SearchPaths;

    #[test]
    fn files_are_taken_where_sources_are_found_and_long_ones_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let paths =
            SearchPaths { core_dir: Some(folder.path().to_owned()), ..SearchPaths::default() };
        let finder = Finder::new(paths);
        std::fs::create_dir(folder.path().join("gone")).unwrap();
        std::fs::write(folder.path().join("gone/a.map"), "below").unwrap();
        std::fs::write(folder.path().join("a.map"), "beside").unwrap();
        let taken = |most, wanted: &str| {
            let mut seen = Vec::new();
            let path = Path::new("/gone/a.map");
            let found = finder.files_of_target(path, None, most, &mut |_, bytes| {
                seen.push(String::from_utf8(bytes).unwrap());
                seen.last().is_some_and(|last| last == wanted)
            });
            (found, seen)
        };
        assert_eq!(taken(9, "below"), (true, vec!["below".to_owned()]));
        assert_eq!(taken(9, "none"), (false, vec!["below".to_owned(), "beside".to_owned()]));
        assert_eq!(taken(5, "none"), (false, vec!["below".to_owned()]));
        assert!(read_regular(&folder.path().join("a.map"), 5).is_err());
        assert_eq!(read_regular(&folder.path().join("a.map"), 6).unwrap(), b"beside");
    }
}
