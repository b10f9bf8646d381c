//! What is wrong with the pages that people write: links that lead nowhere, commands that do not exist, and prose
//! that is hard to read.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use super::{book_pages, links, names, prose};

/// Fails with a line for each fault.
pub fn run(root: &Path) -> Result<()> {
    let pages = book_pages(root)?;
    let mut faults = links::unlisted(&root.join("docs/book/src/SUMMARY.md"), &pages);
    faults.extend(page_faults(root, &root.join("CONTRIBUTING.md"), false)?);
    for page in pages.iter().chain([&root.join("README.md")]) {
        faults.extend(page_faults(root, page, true)?);
    }
    match faults.as_slice() {
        [] => Ok(()),
        _ => bail!("faults in the documentation:\n{}", faults.join("\n")),
    }
}

fn page_faults(root: &Path, path: &PathBuf, with_prose: bool) -> Result<Vec<String>> {
    let page = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let name = path.strip_prefix(root).unwrap_or(path).display();
    let prose = if with_prose { prose::faults(&page) } else { Vec::new() };
    let all = links::faults(path, &page).into_iter().chain(names::faults(&page)).chain(prose);
    Ok(all.map(|(line, why)| format!("{name}:{line}: {why}")).collect())
}
