//! Cores that were cut or overwritten: what is left is shown, and what is missing is said.

use std::{collections::HashSet, fs, path::Path, sync::Arc};

use kcore::{Core, OpenOptions};

use crate::{Opened, cases, harness};

#[test]
fn a_core_that_is_cut_anywhere_shows_what_is_left() {
    let all = cases("java-threads");
    let Some(case) = all.iter().find(|case| case.name().ends_with("java25-xint")) else { return };
    let opened = Opened::of(case);
    let whole = opened.listed().len();
    let bytes = fs::read(&case.core).expect("the core");
    for part in [64, 128, 240, 250] {
        let listed = listed_of_cut(&bytes, bytes.len() / 256 * part, whole);
        assert!(listed <= whole, "{part}/256: {listed} of {whole}");
    }
    // What is loaded last lies lowest: the virtual machine and all that it keeps below the C library.
    let end = held_below(&bytes, base_of(&opened, "libc.so.6"));
    assert_eq!(listed_of_cut(&bytes, end, whole), whole, "cut below the C library");
}

/// How many threads are listed of a core of which these bytes are left.
fn listed_of_cut(bytes: &[u8], left: usize, whole: usize) -> usize {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("java-cut-{left}"));
    fs::write(&path, &bytes[..left]).expect("a copy");
    let listed = listed_of(&path, whole);
    fs::remove_file(path).expect("the copy goes");
    listed
}

fn base_of(opened: &Opened, library: &str) -> u64 {
    let objects = opened.records("::objects");
    let library = objects.iter().find(|object| object["name"] == library).expect("the library");
    let base = library["base"].as_str().expect("an address");
    u64::from_str_radix(base.trim_start_matches("0x"), 16).expect("an address")
}

/// How much of a core of 64 bits one has to keep for the memory below an address: segments are in the order of addresses.
fn held_below(bytes: &[u8], limit: u64) -> usize {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let count = usize::from(u16::from_le_bytes([bytes[56], bytes[57]]));
    let headers = (0..count).map(|index| 64 + index * 56);
    let below = headers.filter(|&at| (1..limit).contains(&word(at + 16)));
    let ends = below.map(|at| word(at + 8) + word(at + 32));
    ends.max().expect("segments") as usize
}

/// How many threads a damaged core lists, none of them twice. It says so where that is less than the whole.
fn listed_of(path: &Path, whole: usize) -> usize {
    let options = OpenOptions { core: Some(path.to_owned()), ..OpenOptions::default() };
    let core = Arc::new(Core::open(&options).expect("it opens"));
    let records = harness::json_on(&core, "::javathreads; ::walk javathread | ::stack");
    let threads = records.iter().filter(|record| record["type"] == "java_thread");
    let addresses: Vec<String> = threads.map(|thread| thread["java_thread"].to_string()).collect();
    let different: HashSet<&String> = addresses.iter().collect();
    assert_eq!(different.len(), addresses.len(), "{}: {addresses:?}", path.display());
    let says = records.iter().any(|record| record["type"] == "error" || record["type"] == "note");
    assert!(addresses.len() >= whole || says, "{}: less without a word", path.display());
    addresses.len()
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
        listed_of(&path, 0);
        fs::remove_file(path).expect("the copy goes");
    }
}
