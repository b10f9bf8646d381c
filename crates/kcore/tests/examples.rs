//! The examples, run on committed cores: what they print is what the programs knew.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What an example prints. Cargo builds the examples when it runs all tests of the crate; for this one alone, they
/// have to be built before: `cargo build -p kcore --examples`.
fn output(example: &str, args: &[&Path]) -> String {
    let own = std::env::current_exe().expect("a path");
    let target = own.ancestors().nth(2).expect("tests lie in target/PROFILE/deps");
    let program = target.join("examples").join(example);
    let output = Command::new(&program).args(args).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{example}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// The folder of a committed core.
fn folder(scenario: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(scenario).join("x86_64")
}

fn core(scenario: &str) -> PathBuf {
    folder(scenario).join("core.zst")
}

#[test]
fn stacks_are_printed_once_with_all_their_threads() {
    let text = output("stacks", &[&core("workers")]);
    let truth = fs::read_to_string(folder("workers").join("truth.json")).expect("the truth");
    let truth: serde_json::Value = serde_json::from_str(&truth).expect("JSON");
    let threads = truth["threads"].as_array().expect("threads");
    for tid in threads.iter().map(|thread| thread["tid"].to_string()) {
        let heads = text.lines().filter(|line| !line.starts_with(' '));
        let with_it = heads.filter(|head| head.split(' ').any(|word| word == tid));
        assert_eq!(with_it.count(), 1, "{tid}\n{text}");
    }
    for known in ["accept_loop+0x", "main.c:131 (by cfi)", "  -- outermost frame", " in accept"] {
        assert!(text.contains(known), "{known}\n{text}");
    }
}

#[test]
fn a_variable_is_printed_by_its_type() {
    let of = |name: &str| output("variable", &[&core("nodes"), Path::new(name)]);
    let first = of("first");
    for known in [
        "struct node first = {n_id = 42, n_name = 0x",
        "\"first\"",
        "n_kind = NODE_LINK, n_mode = READ|WRITE",
        "n_tag = \"leaf\", n_vals = {1, 2, 3, 0}",
        "n_sub = {s_count = 7, s_ratio = 0.5}",
        ", from core",
    ] {
        assert!(first.contains(known), "{known}\n{first}");
    }
    assert!(of("depth").starts_with("int depth = 3\n"), "a thread-local one");
    assert!(of("greeting").contains("= \"hello, core\"\n"));
}

#[test]
fn files_are_found_in_a_store_of_the_program() {
    let alone = tempfile::tempdir().expect("a folder");
    let path = alone.path().join("core.zst");
    fs::copy(core("workers"), &path).expect("a copy");
    let text = output("finder", &[&path, &folder("workers")]);
    let found = format!("workers: {}\n", folder("workers").join("workers").display());
    assert!(text.contains(&found), "{text}");
    assert!(text.contains("(folder of the core): not found"), "{text}");
    let text = output("finder", &[&path, &folder("nodes")]);
    assert!(text.contains("workers: no file\n") && text.contains("(store): not found"), "{text}");
    let wrong = tempfile::tempdir().expect("a folder");
    fs::copy(folder("abort").join("abort"), wrong.path().join("workers")).expect("a copy");
    let text = output("finder", &[&path, wrong.path()]);
    assert!(text.contains("workers: no file\n"), "a file of another program is refused\n{text}");
}

#[test]
fn a_runtime_of_the_program_names_its_frames() {
    let text = output("probe", &[&core("nodes")]);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("get at handlers.toy:7 [toy]"), "{text}");
    assert!(lines.next().is_some_and(|line| line.starts_with("serve+0x")), "{text}");
    assert!(!text.contains("handle_get"), "{text}");
}

#[test]
fn objects_of_a_runtime_are_counted() {
    let case = match gen_cores::ensure("node-heap", "node24").expect("the core is made") {
        gen_cores::Outcome::Made(case) | gen_cores::Outcome::Fresh(case) => case,
        gen_cores::Outcome::Skipped(skipped) => return gen_cores::not_tested(&skipped),
    };
    let text = output("objects", &[&case.core, &case.exe]);
    let count = |class: &str| {
        let words = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let mut found = words.filter(|words| words.last() == Some(&class));
        found.next().map(|words| words[0].to_owned())
    };
    let told = fs::read_to_string(case.dir.join("values.jsonl")).expect("lines");
    for line in told.lines() {
        let told: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let Some(class) = told["class"].as_str() else { continue };
        let wanted = told["count"].as_u64().filter(|count| *count > 0);
        assert_eq!(count(class), wanted.map(|count| count.to_string()), "{class}");
    }
}
