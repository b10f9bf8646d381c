//! Memory that is used after it was freed: the freed block is named where the allocator's own words prove it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use gen_cores::{Program, core_of};
use serde_json::Value;

use super::{analysis, findings, gallery::runs_all};

/// The bug, how sure it is, and what the sentence holds.
const BUGS: &[(&str, &str, &[&str])] = &[
    ("key", "certain", &["read through", "its mark of a freed block", "in by_key"]),
    ("write", "certain", &["wrote through", "its mark of a freed block", "in writes"]),
    ("call", "certain", &["read through", "its mark of a freed block", "in calls"]),
    ("argument", "certain", &["read through", "its mark of a freed block", "counts"]),
    ("first", "certain", &["read through", "its mark of a freed block", "in by_first"]),
    ("other", "certain", &["read through", "its mark of a freed block", "in by_other"]),
    ("link", "likely", &["read through", "its link to the next free block", "in by_link"]),
    ("last", "likely", &["read through", "its link to the next free block", "in by_link"]),
];

/// Those of which the code, or the name of the pointer, tells the block.
const KNOWN_BLOCKS: &[&str] = &["key", "write", "call", "first", "link", "last"];

fn compiled(options: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/why/freed.c");
    let name = format!("why-freed{}-{}", options.concat(), std::process::id());
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut compiler = Command::new("cc");
    let built = compiler.args(options).arg("-o").arg(&program).arg(source).status();
    assert!(built.expect("a C compiler").success());
    program
}

#[test]
fn a_freed_block_is_named_by_what_its_allocator_left_in_it() {
    for options in [&["-g", "-O0"][..], &["-g", "-O2"], &["-O2", "-fno-plt"]] {
        let program = compiled(options);
        for (bug, sure, says) in BUGS {
            let folder = tempfile::tempdir().unwrap();
            let program = Program { path: &program, args: &[bug], stack_kib: 8192 };
            let core = core_of(&program, folder.path()).unwrap();
            let said = analysis(&core);
            let [finding] = findings(&said) else { panic!("{options:?} {bug}: {said:#}") };
            let facts = (&finding["finder"], &finding["confidence"]);
            assert_eq!(facts, (&"use-after-free".into(), &(*sure).into()), "{options:?} {bug}");
            let sentence = finding["sentence"].as_str().unwrap();
            let is_whole = says.iter().all(|part| sentence.contains(part));
            assert!(is_whole, "{options:?} {bug}: {sentence}");
            names_only_the_block(bug, options, &core, finding);
            runs_all(bug, &core, finding);
        }
        fs::remove_file(program).unwrap();
    }
}

/// Three blocks have the same mark. One is named where the code tells which, and no other ever is.
fn names_only_the_block(bug: &str, options: &[&str], core: &Path, finding: &Value) {
    let printed = fs::read_to_string(core.with_file_name("output.txt")).unwrap();
    let block = format!("into the block of 40 bytes at {}", printed.lines().next().unwrap());
    let sentence = finding["sentence"].as_str().unwrap();
    let is_named = sentence.contains("into the block");
    assert!(!is_named || sentence.contains(&block), "{options:?} {bug}: not {block}: {sentence}");
    assert!(is_named || !KNOWN_BLOCKS.contains(&bug), "{options:?} {bug}: {sentence}");
}

#[test]
fn a_block_in_use_is_not_said_to_be_freed() {
    let program = compiled(&["-g", "-O1"]);
    let folder = tempfile::tempdir().unwrap();
    let text = Program { path: &program, args: &["text"], stack_kib: 8192 };
    let said = analysis(&core_of(&text, folder.path()).unwrap());
    let [finding] = findings(&said) else { panic!("{said:#}") };
    assert_eq!(finding["finder"], "bad-pointer", "{finding:#}");
    fs::remove_file(program).unwrap();
}
