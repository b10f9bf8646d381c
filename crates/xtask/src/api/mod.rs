//! `api`: what `kcore` promises to programs that embed it, as a list in the tree.
//!
//! Each line is a name with its signature. A change of the list is a change of what others build on: it stands in
//! the difference of a commit, where it can be seen. The list is read from the source and not from a build, so that
//! it costs nothing. What a macro makes, and who calls what, it does not tell.

mod items;
mod paths;
mod report;
mod source;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

/// The crate that others embed.
const NAME: &str = "kcore";

/// Writes the list; `--check` compares it.
pub fn run(args: &[String]) -> Result<()> {
    let root = gen_cores::workspace_dir();
    let lines = report::lines(&source::Sources::new(&root), NAME);
    match args {
        [] => write(&root, &lines),
        [check] if check == "--check" => compare(&root, &lines),
        _ => bail!("usage: cargo xtask api [--check]"),
    }
}

/// Where the list lies.
fn path(root: &Path) -> PathBuf {
    root.join("crates").join(NAME).join("api.txt")
}

fn write(root: &Path, lines: &BTreeSet<String>) -> Result<()> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let path = path(root);
    fs::write(&path, text).with_context(|| path.display().to_string())?;
    println!("{} lines in {}", lines.len(), path.display());
    Ok(())
}

/// Fails with what is not as the list has it.
fn compare(root: &Path, lines: &BTreeSet<String>) -> Result<()> {
    let path = path(root);
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let known: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    let difference = difference(&known, lines);
    if !difference.is_empty() {
        bail!(
            "the public API is not as crates/{NAME}/api.txt has it (`cargo xtask api` writes it):\n{}",
            difference.join("\n")
        );
    }
    println!("the public API is as crates/{NAME}/api.txt has it: {} lines", lines.len());
    Ok(())
}

/// What is gone, which breaks programs, and what is new.
fn difference(known: &BTreeSet<String>, now: &BTreeSet<String>) -> Vec<String> {
    let gone = known.difference(now).map(|line| format!("- {line}"));
    let new = now.difference(known).map(|line| format!("+ {line}"));
    gone.chain(new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_what_is_gone_and_what_is_new() {
        let set = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        let told =
            difference(&set(&["pub fn a()", "pub fn b()"]), &set(&["pub fn b()", "pub fn c()"]));
        assert_eq!(told, ["- pub fn a()", "+ pub fn c()"]);
    }
}
