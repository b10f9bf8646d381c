//! A core whose end is missing: fewer findings, and none that the whole core does not have.

use std::fs;

use super::{analysis, case, findings, kcore};

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
