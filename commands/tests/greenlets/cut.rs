//! Cores that were cut, memory that was overwritten, and processes without greenlets.

use std::{fs, path::Path, sync::Arc};

use gen_cores::Case;
use kcore::{Core, OpenOptions};

use crate::{Opened, cases, harness};

const LINE: &str = "::runtimes; ::status; ::greenlets; ::stacks; ::walk greenlet | ::stack";

fn opened(case: &Case, bytes: &[u8], name: &str) -> Vec<serde_json::Value> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("greenlets-{name}"));
    fs::write(&path, bytes).expect("a copy");
    let exe = Some(case.exe.clone());
    let options = OpenOptions { core: Some(path.clone()), exe, ..OpenOptions::default() };
    let core = Arc::new(Core::open(&options).expect("it opens"));
    let records = harness::json_on(&core, LINE);
    fs::remove_file(path).expect("the copy goes");
    records
}

fn case() -> Option<Case> {
    cases().into_iter().find(|case| case.name().ends_with("greenlets/python3.13"))
}

#[test]
fn a_core_that_is_cut_anywhere_shows_what_is_left() {
    let Some(case) = case() else { return };
    let bytes = fs::read(&case.core).expect("the core");
    for part in [1, 5, 9, 13] {
        let records = opened(&case, &bytes[..bytes.len() / 16 * part], &format!("cut-{part}"));
        assert!(records.iter().any(|record| record["type"] == "stack_group"), "{part}/16");
    }
}

#[test]
fn greenlets_of_a_python_that_was_not_dumped_are_not_said_to_be_none() {
    let Some(case) = case() else { return };
    let bytes = fs::read(&case.core).expect("the core");
    let records = opened(&case, &bytes[..bytes.len() / 16], "cut-away");
    let texts: Vec<_> = records.iter().filter_map(|record| record["message"].as_str()).collect();
    assert!(!texts.iter().any(|text| text.contains("no greenlets")), "{texts:?}");
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
        assert!(records.iter().any(|record| record["type"] == "stack_group"), "{turn}");
    }
}

#[test]
fn a_python_without_greenlets_says_that_it_has_none() {
    let Some(case) = crate::made("python-stack", "python3.13") else { return };
    let core = Opened::of(&case);
    let records = core.records("::greenlets");
    let texts: Vec<_> = records.iter().filter_map(|record| record["message"].as_str()).collect();
    assert!(texts.iter().any(|text| text.contains("no greenlets")), "{records:#?}");
    assert!(core.core.task_runtimes().is_empty());
}
