//! The files of the tutorial, written where kcore can open them.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::{env, process};

use anyhow::{Context, Result};
use kcore::OpenOptions;

macro_rules! embedded {
    ($name:literal) => {
        include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../testdata/workers/x86_64/",
            $name
        ))
    };
}

/// The core, and the program that it is of.
const CORE: &[u8] = embedded!("core.zst");
const PROGRAM: &[u8] = embedded!("workers");

/// Names that are tried: those of others, who may have been there before, are left alone.
const NAMES: usize = 100;

/// A folder with the files, which is removed with this value.
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Writes the files into a new folder, for the user alone.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(super) fn new() -> Result<Self> {
        let folder = Self(make(&env::temp_dir()).context("a folder for the core of the tutorial")?);
        for (name, bytes) in [("core.zst", CORE), ("workers", PROGRAM)] {
            let path = folder.0.join(name);
            fs::write(&path, bytes).with_context(|| path.display().to_string())?;
        }
        Ok(folder)
    }

    /// What the library opens.
    pub(super) fn options(&self) -> OpenOptions {
        OpenOptions {
            core: Some(self.0.join("core.zst")),
            exe: Some(self.0.join("workers")),
            ..OpenOptions::default()
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is left: it holds no secret.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Makes a folder that was not there.
fn make(parent: &Path) -> io::Result<PathBuf> {
    let names = (0..NAMES).map(|number| format!("kcore-tutorial-{}-{number}", process::id()));
    for path in names.map(|name| parent.join(name)) {
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_new_and_goes_with_its_value() {
        let folders = [Folder::new().unwrap(), Folder::new().unwrap()];
        let paths = folders.each_ref().map(|folder| folder.0.clone());
        assert_ne!(paths[0], paths[1]);
        assert!(paths.iter().all(|path| path.join("core.zst").is_file()));
        drop(folders);
        assert!(!paths.iter().any(|path| path.exists()));
    }
}
