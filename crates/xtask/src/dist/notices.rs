//! The licences of the crates that are in the program: their authors want them to go with it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::Value;

use super::target::TARGETS;
use crate::cargo;

const HEAD: &str = "\
kcore contains the Rust standard library (MIT OR Apache-2.0), musl (MIT, Copyright 2005-2020
Rich Felker, et al.), and these crates with the libraries in them. Their licences follow.

";

/// How the names of such files begin, in capital letters.
const NAMES: &[&str] = &["LICENSE", "LICENCE", "UNLICENSE", "COPYING", "COPYRIGHT", "NOTICE"];
/// Of a file with this in its name, a program that is not used is subject: the tools of xz.
const OTHERS: &str = "GPL";

/// All crates, and the texts, each once.
pub fn text() -> Result<String> {
    let folders = folders()?;
    let mut text = HEAD.to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, licence) in used()? {
        writeln!(text, "  {name}: {licence}")?;
        let folder = folders.get(&name).with_context(|| format!("no folder of {name}"))?;
        for licence in licences(folder)? {
            texts.entry(licence).or_default().push(name.clone());
        }
    }
    for (licence, names) in texts {
        writeln!(text, "\n{}\n{}:\n\n{licence}", "-".repeat(80), names.join(", "))?;
    }
    Ok(text)
}

/// The crates of others in the program, with their licences in the words of SPDX.
fn used() -> Result<BTreeSet<(String, String)>> {
    let tree = ["tree", "--locked", "-p", "kcore-cli", "--edges", "normal,no-proc-macro"];
    let shape = ["--prefix", "none", "--format", "{p}|{l}"];
    let targets = TARGETS.iter().flat_map(|target| ["--target", target.triple]);
    let lines = cargo::output(cargo::command(env!("CARGO"), &tree).args(shape).args(targets))?;
    Ok(lines.lines().filter_map(used_crate).collect())
}

/// A crate of the tree itself has its path behind its version.
fn used_crate(line: &str) -> Option<(String, String)> {
    let (name, licence) = line.trim_end_matches(" (*)").split_once('|')?;
    (!name.contains('(')).then(|| (name.replace(" v", " "), licence.to_owned()))
}

/// The folder of each crate, by name and version.
fn folders() -> Result<BTreeMap<String, PathBuf>> {
    let args = ["metadata", "--format-version", "1", "--locked"];
    let text = cargo::output(&mut cargo::command(env!("CARGO"), &args))?;
    let metadata: Value = serde_json::from_str(&text).context("output of cargo metadata")?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let folder = |package: &Value| {
        let name = format!("{} {}", package["name"].as_str()?, package["version"].as_str()?);
        Some((name, Path::new(package["manifest_path"].as_str()?).parent()?.to_owned()))
    };
    Ok(packages.iter().filter_map(folder).collect())
}

/// The texts in a folder and in those right below it, where the sources of C libraries are.
fn licences(folder: &Path) -> Result<BTreeSet<String>> {
    let below = entries(folder)?.into_iter().filter(|path| path.is_dir());
    let folders = below.chain([folder.to_owned()]);
    let files = folders.map(|folder| entries(&folder)).collect::<Result<Vec<_>>>()?.concat();
    let licences = files.iter().filter(|path| path.is_file() && is_licence(path));
    licences
        .map(|path| {
            let bytes = fs::read(path).with_context(|| path.display().to_string())?;
            Ok(String::from_utf8_lossy(&bytes).replace('\r', "").trim_end().to_owned())
        })
        .collect()
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

fn is_licence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    NAMES.iter().any(|start| name.starts_with(start)) && !name.contains(OTHERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_of_others_are_listed_with_their_licences() {
        let found = used_crate("libc v0.2.191|MIT OR Apache-2.0 (*)");
        assert_eq!(found, Some(("libc 0.2.191".to_owned(), "MIT OR Apache-2.0".to_owned())));
        assert_eq!(used_crate("kcore v0.1.0 (/tree/crates/kcore)|MIT"), None);
        assert_eq!(used_crate(""), None);
    }

    #[test]
    fn licences_are_known_by_their_names() {
        for (name, expected) in [
            ("LICENSE-MIT", true),
            ("Copying.0BSD", true),
            ("COPYING.GPLv2", false),
            ("lib.rs", false),
        ] {
            assert_eq!(is_licence(Path::new(name)), expected, "{name}");
        }
    }
}
