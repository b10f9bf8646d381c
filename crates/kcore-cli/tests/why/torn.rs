//! Blocks in use that were torn: none of them is said to be free.

use std::fs;

use gen_cores::{Program, core_of};

use super::{analysis, findings, gallery::runs_all, process};

#[test]
fn a_torn_block_that_is_in_use_is_not_said_to_be_free() {
    let program = process::compiled("why/torn.c");
    for bug in ["size", "large", "behind"] {
        let folder = tempfile::tempdir().unwrap();
        let program = Program { path: &program, args: &[bug], stack_kib: 8192 };
        let core = core_of(&program, folder.path()).unwrap();
        let said = analysis(&core);
        let torn: Vec<_> =
            findings(&said).iter().filter(|it| it["finder"] == "torn-heap").collect();
        let [finding] = torn[..] else { panic!("{bug}: {said:#}") };
        let sentence = finding["sentence"].as_str().unwrap();
        for word in ["free block", "the free ", "after it was freed"] {
            assert!(!sentence.contains(word), "{bug}: '{word}' in '{sentence}'");
        }
        runs_all(bug, &core, finding);
    }
    fs::remove_file(program).unwrap();
}
