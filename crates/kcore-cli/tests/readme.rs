//! The lines that the book offers run as they stand there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The lines of the table of idioms.
fn idioms() -> Vec<String> {
    let page = std::fs::read_to_string(root().join("docs/book/src/language.md")).unwrap();
    let (_, table) = page.split_once("<!-- begin: idioms -->").expect("the table begins");
    let (table, _) = table.split_once("<!-- end: idioms -->").expect("the table ends");
    let rows = table.lines().filter_map(|row| row.strip_prefix("| `"));
    // A bar within a cell is written with a backslash.
    rows.filter_map(|row| row.split_once("` |")).map(|(line, _)| line.replace("\\|", "|")).collect()
}

fn run(line: &str) -> Output {
    let core = root().join("testdata/workers/x86_64/core.zst");
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    kcore.args(["--no-rc", "-c", line]).arg(core).env("SHELL", "/bin/sh").output().unwrap()
}

#[test]
fn each_idiom_answers() {
    let idioms = idioms();
    assert!(idioms.len() >= 10, "{idioms:?}");
    for line in idioms {
        let output = run(&line);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {errors}");
        assert!(!output.stdout.is_empty(), "{line} shows nothing: {errors}");
    }
}
