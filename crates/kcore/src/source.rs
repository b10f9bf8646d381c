//! The text of source files round a line.

use std::path::{Path, PathBuf};

use kcore_files::{SourceText, Why};

use crate::FileView;

/// The text of a source file was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no source file {path}")]
#[non_exhaustive]
pub struct SourceError {
    /// The path that debug information has.
    pub path: String,
    /// The files that were looked at, and why each was refused.
    pub tried: Vec<(PathBuf, Why)>,
}

impl SourceError {
    /// The files that were looked at, and why each was refused, a line each.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.tried.iter().map(|(path, why)| format!("{}: {why}", shown(path)))
    }
}

impl FileView<'_> {
    /// The lines from `first` to `last` of the source file that debug information of a module calls
    /// `path`.
    ///
    /// # Errors
    /// When there is no such file that may be read.
    pub fn source(self, path: &str, first: u64, last: u64) -> Result<SourceText, SourceError> {
        let exe = self.core.modules().exe().and_then(|exe| exe.file_path());
        let found = self.core.finder.source(path, exe, first, last);
        found.map_err(|tried| SourceError { path: path.to_owned(), tried })
    }
}

/// A path of the core may hold line ends, which would look like lines of ours.
fn shown(path: &Path) -> String {
    path.display().to_string().replace('\n', "\\n")
}
