//! Cores that were cut, and memory that was overwritten: what is left is shown, and native stacks stay what they were.

use std::{fs, path::Path, sync::Arc};

use gen_cores::Case;
use kcore::{Core, OpenOptions};

use crate::{cases, harness};

const LINE: &str = "::runtimes; ::status; ::walk thread | ::stack -v; ::stacks";

fn opened(case: &Case, bytes: &[u8], name: &str) -> Vec<serde_json::Value> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("php-{name}"));
    fs::write(&path, bytes).expect("a copy");
    let exe = Some(case.exe.clone());
    let options = OpenOptions { core: Some(path.clone()), exe, ..OpenOptions::default() };
    let core = Arc::new(Core::open(&options).expect("it opens"));
    let records = harness::json_on(&core, LINE);
    fs::remove_file(path).expect("the copy goes");
    records
}

fn case() -> Option<Case> {
    cases().into_iter().find(|case| case.name().ends_with("php8.4"))
}

#[test]
fn a_core_that_is_cut_anywhere_shows_what_is_left() {
    let Some(case) = case() else { return };
    let bytes = fs::read(&case.core).expect("the core");
    for part in [1, 5, 9, 13] {
        let records = opened(&case, &bytes[..bytes.len() / 16 * part], &format!("cut-{part}"));
        assert!(records.iter().any(|record| record["type"] == "stack"), "{part}/16: {records:?}");
    }
}

#[test]
fn memory_that_lies_is_no_harm() {
    let Some(case) = case() else { return };
    let whole = fs::read(&case.core).expect("the core");
    // Every so many words something else: what looks like a value, an address, a big number.
    for (turn, value) in [(0, 8_u64), (1, u64::MAX), (2, 0x7fff_ffff_fff8)] {
        let mut bytes = whole.clone();
        let first = bytes.len() / 4;
        for at in (first..bytes.len() - 8).step_by(8 * 1021) {
            let at = (at + 8 * turn) & !7;
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        let records = opened(&case, &bytes, &format!("hurt-{turn}"));
        assert!(records.iter().any(|record| record["type"] == "stack"), "{turn}: {records:?}");
    }
}
