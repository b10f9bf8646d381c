//! A core whose end is missing: fewer findings, and none that the whole core does not have.

use std::{fs, path::Path};

use gen_cores::{Program, core_of};

use super::{analysis, case, findings, kcore, process};

#[test]
fn a_core_that_was_cut_has_no_finding_that_the_whole_one_lacks() {
    for scenario in ["leaf", "null-call", "wild-call", "stack-overflow", "assert", "write-fault"] {
        let Some(case) = case(scenario, "O2-pie") else { continue };
        let whole = analysis(&case.core);
        let finders = |it: &serde_json::Value| it["finder"].as_str().unwrap().to_owned();
        let known: Vec<String> = findings(&whole).iter().map(finders).collect();
        let bytes = fs::read(&case.core).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for part in 1..8 {
            let path = folder.path().join(format!("core.{part}"));
            fs::write(&path, &bytes[..bytes.len() / 8 * part]).unwrap();
            let said = analysis(&path);
            let left: Vec<String> = findings(&said).iter().map(finders).collect();
            // Where the stack is gone, all that is left of an abort is who sent the signal.
            assert!(
                left.iter().all(|it| it == "ended" || known.contains(it)),
                "{scenario} {part}/8: {said:#}"
            );
        }
    }
}

/// Bytes that are changed in a copy of a core, one in each.
const FLIPS: usize = 48;

/// What may be said of a core with a damage: what is said of the whole one, or less. `weaker` are finders that know less.
pub fn says_no_more(core: &Path, finder: &str, weaker: &[&str]) {
    let whole = analysis(core);
    let [known] = findings(&whole) else { panic!("{whole:#}") };
    assert_eq!(known["finder"], finder, "{whole:#}");
    let bytes = fs::read(core).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("core");
    let mut is_kept = 0;
    for (how, damaged) in cuts(&bytes).chain(flips(&bytes)) {
        fs::write(&path, damaged).unwrap();
        let said = analysis(&path);
        for finding in findings(&said) {
            let name = finding["finder"].as_str().unwrap();
            assert!(name == finder || weaker.contains(&name), "{how}: {said:#}");
            is_kept += usize::from(finding["sentence"] == known["sentence"]);
        }
    }
    assert!(is_kept > FLIPS / 2, "{is_kept} of all damaged cores tell it");
}

fn cuts(bytes: &[u8]) -> impl Iterator<Item = (String, Vec<u8>)> + '_ {
    (1..16).map(|part| (format!("{part}/16"), bytes[..bytes.len() / 16 * part].to_vec()))
}

/// The first half of the places lie among the notes, which have the registers.
fn flips(bytes: &[u8]) -> impl Iterator<Item = (String, Vec<u8>)> + '_ {
    let notes = bytes.len().min(16 << 10);
    (0..FLIPS).map(move |turn| {
        let range = if turn % 2 == 0 { notes } else { bytes.len() };
        let at = (turn + 1).wrapping_mul(0x9e37_79b9) % range;
        let mut damaged = bytes.to_vec();
        damaged[at] ^= 0xff;
        (format!("byte {at:#x}"), damaged)
    })
}

#[test]
fn a_damaged_core_of_a_freed_block_says_no_more() {
    let program = process::compiled("why/freed.c");
    let folder = tempfile::tempdir().unwrap();
    let program = Program { path: &program, args: &["key"], stack_kib: 8192 };
    let core = core_of(&program, folder.path()).unwrap();
    says_no_more(&core, "use-after-free", &["bad-pointer", "unmapped-access", "ended"]);
    fs::remove_file(program.path).unwrap();
}

#[test]
fn a_damaged_core_of_a_librarys_end_says_no_more() {
    let weaker: &[(&str, &[&str])] = &[
        ("why-glib-assert", &["abort", "ended"]),
        ("why-glib-critical", &["trap", "ended"]),
        ("why-glib-error", &["trap", "ended"]),
        ("why-glog", &["abort", "ended"]),
    ];
    for (scenario, weaker) in weaker {
        let Some(case) = case(scenario, "O2-pie") else { continue };
        says_no_more(&case.core, "last-words", weaker);
    }
}

#[test]
fn a_core_without_threads_is_not_said_to_be_healthy() {
    let Some(case) = case("leaf", "O2-pie") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("core");
    // The notes, with the threads, lie behind the program headers.
    fs::write(&path, &fs::read(&case.core).unwrap()[..500]).unwrap();
    let output = kcore(&["why"], &path);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("there are no threads to tell what happened: ::status"), "{text}");
}
