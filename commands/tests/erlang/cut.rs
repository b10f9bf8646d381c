//! Cores that were cut, and memory that was overwritten.

use std::{fs, path::Path};

use serde_json::Value;

use crate::{cases, harness, open};

const LINE: &str = "::runtimes; ::status; ::erlprocesses; ::erlets; ::erlschedulers; \
                    ::erlprocesses -m 1 | ::erlmessages; ::stacks; ::walk erlprocess | ::stack";

fn shown(bytes: &[u8], name: &str) -> Option<Vec<Value>> {
    let case = cases().into_iter().next()?;
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("erlang-{name}"));
    fs::write(&path, bytes).expect("a copy");
    let records = harness::json_on(&open(path.clone(), case.exe), LINE);
    fs::remove_file(path).expect("the copy goes");
    Some(records)
}

fn core_bytes() -> Option<Vec<u8>> {
    Some(fs::read(cases().into_iter().next()?.core).expect("the core"))
}

#[test]
fn a_core_that_is_cut_shows_what_is_left() {
    let Some(bytes) = core_bytes() else { return };
    for part in [1, 7, 13] {
        let cut = &bytes[..bytes.len() / 16 * part];
        let Some(records) = shown(cut, &format!("cut-{part}")) else { return };
        assert!(records.iter().any(|record| record["type"] == "stack_group"), "{part}/16");
    }
}

#[test]
fn memory_that_lies_is_no_harm() {
    let Some(whole) = core_bytes() else { return };
    for (turn, value) in [(0, 8_u64), (1, u64::MAX), (2, 0x7fff_ffff_fff8)] {
        let mut bytes = whole.clone();
        for at in (bytes.len() / 4..bytes.len() - 32).step_by(8 * 61) {
            let at = (at + 8 * turn) & !7;
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        let Some(records) = shown(&bytes, &format!("hurt-{turn}")) else { return };
        assert!(records.iter().any(|record| record["type"] == "stack_group"), "{turn}");
    }
}
