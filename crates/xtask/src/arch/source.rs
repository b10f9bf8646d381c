//! Words of source code that belong in few rooms.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use super::lexer::code_only;

/// A word, and the files and folders in which it may stand.
struct Word {
    word: &'static str,
    allowed: &'static [&'static str],
}

/// Where results and notes may be printed: the front ends.
const PRINTERS: &[&str] =
    &["crates/kcore-cli/src", "crates/xtask/src", "gen-cores/src/main.rs", "benches/src"];

const WORDS: &[Word] = &[
    // The maps of files, and system calls: see what the files say of their safety.
    Word {
        word: "unsafe",
        allowed: &[
            "crates/kcore-elf/src/map/",
            "crates/kcore-live/src/sys/",
            "crates/kcore-agent/src/",
        ],
    },
    Word { word: "println!", allowed: PRINTERS },
    Word { word: "print!", allowed: PRINTERS },
    Word { word: "eprintln!", allowed: PRINTERS },
    Word { word: "eprint!", allowed: PRINTERS },
    Word { word: "dbg!", allowed: &[] },
];

/// A file of source code.
pub struct Source {
    /// Its path from the root of the workspace.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// The source of every crate, in the order of paths.
pub fn sources(root: &Path) -> Result<Vec<Source>> {
    let mut files = Vec::new();
    for folder in source_folders(root)? {
        collect_files(&folder, &mut files)?;
    }
    files.sort();
    let read = |file: &PathBuf| {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let path = file.strip_prefix(root).unwrap_or(file).display().to_string();
        Ok(Source { path, text })
    };
    files.iter().map(read).collect()
}

/// Words that stand where they must not: `path:line: word`.
pub fn words_off_plan(sources: &[Source]) -> Vec<String> {
    sources.iter().flat_map(|source| words_of(&source.path, &source.text)).collect()
}

/// The `src` folder of every crate.
fn source_folders(root: &Path) -> Result<Vec<PathBuf>> {
    let crates = root.join("crates");
    let entries = fs::read_dir(&crates).with_context(|| crates.display().to_string())?;
    let mut packages: Vec<PathBuf> =
        entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    packages.extend(["commands", "gen-cores", "benches"].map(|name| root.join(name)));
    Ok(packages.into_iter().map(|package| package.join("src")).collect())
}

fn collect_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            collect_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn words_of(path: &str, text: &str) -> Vec<String> {
    let code = code_only(text);
    let forbidden = WORDS.iter().filter(|word| !is_allowed(word, path));
    forbidden
        .flat_map(|word| {
            let lines = (1..).zip(code.lines()).filter(|(_, line)| has_word(line, word.word));
            lines.map(|(number, _)| format!("{path}:{number}: {}", word.word)).collect::<Vec<_>>()
        })
        .collect()
}

fn is_allowed(word: &Word, path: &str) -> bool {
    word.allowed.iter().any(|allowed| Path::new(path).starts_with(allowed))
}

/// Whether a line has a word that is no part of a longer one.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !before.ends_with(is_part) && (word.ends_with('!') || !after.starts_with(is_part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_in_code_and_where_it_is_not_allowed() {
        let text = "// unsafe\nlet text = \"unsafe\";\nunsafe { println!() }\n";
        let found = words_of("crates/kcore/src/code.rs", text);
        assert_eq!(
            found,
            ["crates/kcore/src/code.rs:3: unsafe", "crates/kcore/src/code.rs:3: println!"]
        );
        assert_eq!(
            words_of("crates/kcore-elf/src/map/mod.rs", text),
            ["crates/kcore-elf/src/map/mod.rs:3: println!"]
        );
        assert_eq!(words_of("gen-cores/src/main.rs", text), ["gen-cores/src/main.rs:3: unsafe"]);
    }

    #[test]
    fn parts_of_longer_words_do_not_count() {
        assert!(!has_word("#![deny(unsafe_code)]", "unsafe"));
        assert!(!has_word("eprintln!()", "println!"));
        assert!(has_word("std::println!()", "println!"));
    }
}
