//! The folder of the usual client (elfutils 0.192, `debuginfod-client.c`): `BUILD-ID/executable` and
//! `BUILD-ID/debuginfo`. An empty file says that no server had it when it was made.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::Duration,
};

use tempfile::{Builder, NamedTempFile};

/// For how long a miss is believed: `cache_miss_s` of the usual client.
const MISS: Duration = Duration::from_secs(600);
/// A file of the user's own in the folder may say another number of seconds.
const MISS_FILE: &str = "cache_miss_s";

/// The folder of fetched files.
#[derive(Debug)]
pub struct DebuginfodCache(PathBuf);

/// What the folder has of a file.
pub enum Cached {
    /// The file.
    File(PathBuf),
    /// The remembrance that no server had it.
    Missed(PathBuf),
    /// Nothing.
    Nothing,
}

impl DebuginfodCache {
    pub const fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    pub fn folder(&self) -> &Path {
        &self.0
    }

    pub fn find(&self, id: &str, kind: &str) -> Cached {
        let path = self.0.join(id).join(kind);
        let Ok(metadata) = fs::metadata(&path) else { return Cached::Nothing };
        if !metadata.is_file() {
            return Cached::Nothing;
        }
        if metadata.len() > 0 {
            return Cached::File(path);
        }
        let age = metadata.modified().ok().and_then(|time| time.elapsed().ok());
        match age.is_some_and(|age| age < self.believed()) {
            true => Cached::Missed(path),
            false => Cached::Nothing,
        }
    }

    fn believed(&self) -> Duration {
        let said = fs::read_to_string(self.0.join(MISS_FILE)).ok();
        let said = said.and_then(|said| said.trim().parse().ok());
        said.map_or(MISS, Duration::from_secs)
    }

    /// A file beside those of a build, which has no name of theirs yet.
    pub fn new_file(&self, id: &str) -> io::Result<NamedTempFile> {
        let folder = self.0.join(id);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        Builder::new().prefix("kcore.").tempfile_in(folder)
    }

    /// Gives a fetched file its name. Nobody writes to it any more.
    pub fn keep(&self, id: &str, kind: &str, file: NamedTempFile) -> io::Result<PathBuf> {
        let path = self.0.join(id).join(kind);
        file.persist(&path).map_err(|error| error.error)?;
        Ok(path)
    }

    /// A folder that cannot be written remembers nothing.
    pub fn remember_miss(&self, id: &str, kind: &str) {
        let path = self.0.join(id).join(kind);
        if let Ok(file) = File::create(path) {
            let _ = file.set_modified(std::time::SystemTime::now());
        }
    }
}
