//! The scripts of a scenario in a case's folder.

use std::path::Path;

use crate::error::AtPath;
use crate::{Result, Scenario, paths};

/// Copies the scripts of a scenario, and the module by which those of its language tell the truth; gives what a person
/// would do.
///
/// # Errors
/// When one cannot be read or written.
pub(crate) fn copy(
    scenario: &Scenario,
    language: &str,
    extension: &str,
    dir: &Path,
) -> Result<Vec<String>> {
    let mut done = Vec::new();
    let source = scenario.source().parent().map(Path::to_owned);
    let mut folders = vec![scenario.dir.clone()];
    folders.extend(source.filter(|folder| *folder != scenario.dir));
    folders.push(paths::include_dir().join(language));
    for folder in folders {
        for entry in std::fs::read_dir(&folder).at(&folder)? {
            let path = entry.at(&folder)?.path();
            if path.extension().is_some_and(|kind| kind == extension) {
                let to = dir.join(path.file_name().unwrap_or_default());
                std::fs::copy(&path, &to).at(&to)?;
                done.push(format!("cp {} {}", path.display(), to.display()));
            }
        }
    }
    Ok(done)
}
