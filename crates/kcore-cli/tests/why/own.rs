//! Bugs that no scenario has: what is claimed of them.

use std::fs;

use gen_cores::{Program, core_of};

use super::{analysis, findings, gallery::runs_all, process};

/// The bug, the finder, the word for how sure it is, and what the sentence holds.
const BUGS: &[(&str, &str, &str, &str)] = &[
    ("unmapped", "unmapped-access", "certain", ", where nothing is mapped, in follow"),
    (
        "pattern",
        "bad-pointer",
        "likely",
        "0xdeadbeefdeadbeef, a pattern that memory is filled with",
    ),
    ("text", "bad-pointer", "likely", "whose bytes are the text 'AAAABB', in follow"),
    ("none", "execution", "certain", "a mapping that allows no access, called from main"),
];

#[test]
fn a_bug_has_its_finding_and_no_other() {
    let program = process::compiled("why/ends.c");
    for (bug, finder, sure, says) in BUGS {
        let folder = tempfile::tempdir().unwrap();
        let program = Program { path: &program, args: &[bug], stack_kib: 8192 };
        let core = core_of(&program, folder.path()).unwrap();
        let said = analysis(&core);
        let [finding] = findings(&said) else { panic!("{bug}: {said:#}") };
        assert_eq!(
            (&finding["finder"], &finding["confidence"]),
            (&(*finder).into(), &(*sure).into()),
            "{bug}"
        );
        let sentence = finding["sentence"].as_str().unwrap();
        assert!(sentence.contains(says), "{bug}: {sentence}");
        runs_all(bug, &core, finding);
        if *bug == "unmapped" {
            let address = fs::read_to_string(folder.path().join("output.txt")).unwrap();
            assert!(sentence.contains(address.trim()), "{address} {sentence}");
        }
    }
    fs::remove_file(program).unwrap();
}
