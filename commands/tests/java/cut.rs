//! Cores that were cut or overwritten: what is left is shown, and what is missing is said.

use std::{fs, path::Path, sync::Arc};

use kcore::{Core, OpenOptions};

use crate::{Opened, cases, harness};

#[test]
fn a_core_that_is_cut_anywhere_shows_what_is_left() {
    let all = cases("java-threads");
    let Some(case) = all.iter().find(|case| case.name().ends_with("java25-xint")) else { return };
    let whole = Opened::of(case).listed().len();
    let bytes = fs::read(&case.core).expect("the core");
    let mut most = 0;
    // What the virtual machine keeps of itself lies at its end.
    for part in [64, 240, 250] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("java-cut-{part}"));
        fs::write(&path, &bytes[..bytes.len() / 256 * part]).expect("a copy");
        most = most.max(listed_of(&path, whole));
        fs::remove_file(path).expect("the copy goes");
    }
    assert!(most > 0, "some are left");
}

/// How many threads a damaged core lists, each with a stack, none of them twice.
fn listed_of(path: &Path, whole: usize) -> usize {
    let options = OpenOptions { core: Some(path.to_owned()), ..OpenOptions::default() };
    let core = Arc::new(Core::open(&options).expect("it opens"));
    let records = harness::json_on(&core, "::javathreads; ::walk javathread | ::stack");
    let listed = records.iter().filter(|record| record["type"] == "java_thread").count();
    let says = records.iter().any(|record| record["type"] == "error" || record["type"] == "note");
    assert!(listed == whole || says || listed < whole, "{}: {listed}", path.display());
    listed
}

#[test]
fn a_core_that_was_overwritten_panics_nowhere() {
    let all = cases("java-threads");
    let Some(case) = all.iter().find(|case| case.name().ends_with("java11-xint")) else { return };
    let bytes = fs::read(&case.core).expect("the core");
    // The tables of the library are at the end: what they lead to is hurt in the first, and they as well in the second.
    for (round, end) in [(1_usize, bytes.len() / 16 * 14), (2, bytes.len())] {
        let mut hurt = bytes.clone();
        // Headers stay, so that the core is one.
        for at in (1 << 16..end).step_by(round * 4093) {
            hurt[at] = !hurt[at];
        }
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("java-hurt-{round}"));
        fs::write(&path, hurt).expect("a copy");
        listed_of(&path, usize::MAX);
        fs::remove_file(path).expect("the copy goes");
    }
}
