//! `docs`: the parts of the documentation that the program itself can write.

mod blocks;
mod man;
mod readme;
mod reference;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

/// A file as it should be.
struct Document {
    path: PathBuf,
    text: String,
}

/// Writes the documents; with `--check`, fails if one is not as it should be.
pub fn run(args: &[String]) -> Result<()> {
    let documents = documents(&gen_cores::workspace_dir())?;
    match args {
        [] => documents.iter().try_for_each(write),
        [check] if check == "--check" => check_all(&documents),
        _ => bail!("usage: cargo xtask docs [--check]"),
    }
}

fn documents(root: &Path) -> Result<Vec<Document>> {
    let (readme, reference) = (root.join("README.md"), root.join("commands/README.md"));
    let page = root.join("docs/kcore.1");
    Ok(vec![
        Document { text: readme::text(&read(&readme)?)?, path: readme },
        Document { text: reference::text(), path: reference },
        Document { text: man::text()?, path: page },
    ])
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

fn write(document: &Document) -> Result<()> {
    let path = &document.path;
    if is_current(document) {
        return Ok(());
    }
    println!("writing {}", path.display());
    fs::write(path, &document.text).with_context(|| path.display().to_string())
}

fn is_current(document: &Document) -> bool {
    fs::read_to_string(&document.path).is_ok_and(|text| text == document.text)
}

fn check_all(documents: &[Document]) -> Result<()> {
    let stale: Vec<String> = documents
        .iter()
        .filter(|document| !is_current(document))
        .map(|document| document.path.display().to_string())
        .collect();
    if !stale.is_empty() {
        bail!("not what the program says: {}; run cargo xtask docs", stale.join(", "));
    }
    Ok(())
}
