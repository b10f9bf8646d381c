//! `docs`: the parts of the documentation that the program itself can write, and checks of what people wrote.

mod blocks;
mod check;
mod links;
mod man;
mod markdown;
mod names;
mod picture;
mod program;
mod prose;
mod reference;
mod transcript;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use program::Program;

/// A file as it should be.
struct Document {
    path: PathBuf,
    text: String,
}

/// Writes the documents; with `--check`, fails if one is not as it should be, and checks links and prose.
pub fn run(args: &[String]) -> Result<()> {
    let root = gen_cores::workspace_dir();
    match args {
        [] => documents(&root)?.iter().try_for_each(write),
        [check] if check == "--check" => {
            check::run(&root)?;
            check_all(&documents(&root)?)
        }
        _ => bail!("usage: cargo xtask docs [--check]"),
    }
}

fn documents(root: &Path) -> Result<Vec<Document>> {
    let kcore = Program::build()?;
    let run = |line: &str, typed: &str| kcore.shell(line, typed);
    let reference = root.join("docs/book/src/commands.md");
    let mut documents = vec![
        Document { text: man::text(&kcore)?, path: root.join("docs/kcore.1") },
        Document { text: picture::text(&run)?, path: root.join("docs/session.svg") },
    ];
    let written = book_pages(root)?.into_iter().filter(|page| *page != reference);
    for path in written.chain([root.join("README.md")]) {
        let text = tables(&read(&path)?).and_then(|text| transcript::refresh(&text, &run));
        documents.push(Document { text: text.with_context(|| path.display().to_string())?, path });
    }
    documents.push(Document { text: reference::text(), path: reference });
    Ok(documents)
}

/// A page with the tables that the program has.
fn tables(page: &str) -> Result<String> {
    blocks::rewrite(page, "gdb", |_| Ok(format!("\n{}\n", kcore_commands::gdb::markdown())))
}

/// The pages of the book, by name.
fn book_pages(root: &Path) -> Result<Vec<PathBuf>> {
    let folder = root.join("docs/book/src");
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let mut pages: Vec<PathBuf> =
        paths.into_iter().filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.sort();
    Ok(pages)
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
