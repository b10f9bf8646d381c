//! The text of source files round a line.

use std::path::Path;

use kcore_files::SourceText;

use crate::Core;

impl Core {
    /// The lines from `first` to `last` of the source file that debug information of a module calls
    /// `path`.
    ///
    /// # Errors
    /// What was tried, and why each was refused, a line each.
    pub fn source(&self, path: &str, first: u64, last: u64) -> Result<SourceText, Vec<String>> {
        let exe = self.modules().exe().and_then(|exe| exe.file_path());
        let found = self.finder.source(path, exe, first, last);
        found.map_err(|tried| {
            tried.iter().map(|(path, why)| format!("{}: {why}", shown(path))).collect()
        })
    }
}

/// A path of the core may hold line ends, which would look like lines of ours.
fn shown(path: &Path) -> String {
    path.display().to_string().replace('\n', "\\n")
}
