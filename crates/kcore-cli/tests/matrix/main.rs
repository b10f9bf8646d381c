//! Every dcmd on every committed core, healthy and damaged: what it shows, and its records.
//!
//! The files beside this one are read by people when they change. `KCORE_BLESS=1 cargo test -p
//! kcore-cli --test matrix` writes them anew; the difference is then what is to be reviewed.
//!
//! An entry is a line of input, its text, its lines of standard error behind `! `, and the first
//! record of each type. What is long is cut, with a checksum of the rest. A damaged core has only
//! the entries that differ from the healthy one's.

mod entry;
mod state;
#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::path::{Path, PathBuf};

use kcore_commands::DCMDS;

use crate::entry::Entry;
use crate::state::{Damage, Opened};

/// Dcmds that do something outside of the session, or tell of the machine.
const LEFT_OUT: &[&str] = &["quit", "log", "cat", "term"];

/// The lines to run: each dcmd alone, and its examples. A shell's output goes past the session.
fn lines() -> Vec<String> {
    let mut lines = Vec::new();
    for spec in DCMDS.iter().map(|dcmd| dcmd.spec()) {
        if !LEFT_OUT.contains(&spec.name) {
            let prefix = if spec.name.starts_with(char::is_alphabetic) { "::" } else { "" };
            lines.push(format!("{prefix}{}", spec.name));
            lines.extend(spec.examples.iter().map(|example| example.line.to_owned()));
        }
    }
    lines.retain(|line| !line.contains('!'));
    lines.sort();
    lines.dedup();
    lines
}

fn entries(core: &Opened) -> Vec<Entry> {
    lines().iter().map(|line| entry::of(core, line)).collect()
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/matrix").join(format!("{name}.txt"))
}

/// Compares a file with what is shown now, or writes it.
fn check(name: &str, entries: &[Entry]) {
    let path = golden(name);
    let got: String = entries.iter().map(Entry::to_string).collect();
    if std::env::var_os("KCORE_BLESS").is_some() {
        fs::write(path, got).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let differing: Vec<_> = blocks(&got).filter(|block| !expected.contains(block)).collect();
    let (is, was) = (blocks(&got).count(), blocks(&expected).count());
    assert!(
        got == expected,
        "{name}: {is} entries, were {was}; new ones:\n\n{}",
        differing.concat()
    );
}

fn blocks(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive("\n\n")
}

fn matrix(scenario: &str) {
    let healthy = entries(&state::open(scenario, None));
    check(&format!("{scenario}-healthy"), &healthy);
    for damage in Damage::ALL {
        let damaged = entries(&state::open(scenario, Some(damage)));
        let differing: Vec<_> =
            damaged.into_iter().filter(|entry| !healthy.contains(entry)).collect();
        check(&format!("{scenario}-{}", damage.name()), &differing);
    }
}

#[test]
fn the_server_with_many_threads() {
    matrix("workers");
}

#[test]
fn the_program_that_gave_up() {
    matrix("abort");
}
