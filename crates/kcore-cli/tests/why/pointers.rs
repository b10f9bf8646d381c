//! The words of the program for the pointer through which it went wrong.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use gen_cores::{Program, core_of};
use serde_json::Value;

use super::{analysis, findings, gallery::runs_all};

/// The bug, and how the sentence ends: not optimised, and optimised. A compiler may keep one of two names, or none.
const NAMED: &[(&str, &str, &str)] = &[
    (
        "member",
        ", in member: it read conn->peer->len, and conn->peer is null",
        ", in member: it read conn->peer->len, and conn->peer is null",
    ),
    (
        "passes",
        ", in argument: it read peer->len, and peer is null, which passes passed as conn->peer",
        ", in argument: it read peer->len, and peer is null, which passes passed as conn->peer",
    ),
    (
        "global",
        ", in global: it read shared->peer, and shared is null",
        ", in global: it read shared->peer, and shared is null",
    ),
    (
        "nested",
        ": it read conn->tail.last->next->len, and conn->tail.last->next is null",
        ": it read conn->tail.last->next->len, and conn->tail.last->next is null",
    ),
    ("element", ", in element", ": numbers is null"),
    ("list", ": it read peer->len, and peer is null", ": it read peer->len, and peer is null"),
    (
        "written",
        ": it wrote peer->next->len, and peer->next is null",
        ": it wrote peer->next->len, and peer->next is null",
    ),
    (
        "local",
        ": it read conn.peer->len, and conn.peer is null",
        ": it read conn.peer->len, and conn.peer is null",
    ),
    (
        "unmapped",
        ": it read conn->peer->len, and conn->peer is 0x123456789000",
        ": it read conn->peer->len, and conn->peer is 0x123456789000",
    ),
    (
        "inlines",
        ": in swapped, inlined there, it read conn->peer->len, and conn->peer is null",
        // That is what the function calls it into which the other is inlined.
        ": it read other->peer->len, and other->peer is null|: in swapped, inlined there, it read conn->peer->len, and conn->peer is null",
    ),
    ("moved", ": it read old->peer->len, and old->peer is null", ", in moved|old->peer is null"),
    (
        "two",
        ": it read (*place)->len, and *place is null",
        ": it read (*place)->len, and *place is null",
    ),
    ("array", ", in of_array", ", in of_array"),
    ("part", ", in part_of_member", ": peer is null"),
    ("far", ", in far_element", ", in far_element"),
    (
        "slot",
        ", in slot: it read table[3]->len, and table[3] is null",
        ", in slot: it read table[3]->len, and table[3] is null",
    ),
    (
        "small_index",
        ", in small_index: it read table[3]->len, and table[3] is null",
        ", in small_index: it read table[3]->len, and table[3] is null",
    ),
    (
        "row",
        ", in row: it read conns[2].peer->len, and conns[2].peer is null",
        ", in row: it read conns[2].peer->len, and conns[2].peer is null",
    ),
    (
        "of_module",
        ", in of_module: it read places[5]->len, and places[5] is null",
        ", in of_module: it read places[5]->len, and places[5] is null",
    ),
    // Which element it was cannot be told any more.
    (
        "next_slot",
        ": it read peer->len, and peer is null",
        ", in next_slot|: it read peer->len, and peer is null",
    ),
    (
        "passes_far",
        ", in later: it read peer->len, and peer is null, which passes_far passed as conn->peer",
        ", in later: it read peer->len, and peer is null, which passes_far passed as conn->peer",
    ),
    (
        "passes_row",
        ", in later: it read peer->len, and peer is null, which passes_row passed as conns[2].peer",
        // Nothing keeps the index.
        ", in later: it read peer->len, and peer is null",
    ),
    (
        "passes_another",
        ": it read peer->next, and peer is null|: it read peer->len, and peer is null",
        ": it read peer->next, and peer is null|: it read peer->len, and peer is null|, in another",
    ),
    (
        "negative",
        ", in negative: it read failed->len, and failed is -1",
        ", in negative: it read failed->len, and failed is -1",
    ),
    ("below", "through a pointer 16 bytes below null at offset 3, in below", ": member is null"),
    // Which member of the union was meant is not known.
    ("union", ", in part_of_union", ", in part_of_union"),
];

#[test]
fn a_pointer_has_the_name_that_the_program_gives_it() {
    for (level, optimised) in [("-O0", false), ("-O2", true)] {
        let program = compiled(level, "named");
        for (bug, plain, fast) in NAMED {
            let end = if optimised { fast } else { plain };
            let finding = finding_of(&program, bug);
            let sentence = finding["sentence"].as_str().unwrap();
            let is_one = end.split('|').any(|end| sentence.ends_with(end));
            assert!(is_one, "{level} {bug}: {sentence}");
        }
        fs::remove_file(program).unwrap();
    }
}

#[test]
fn what_holds_a_pointer_and_who_passed_it_are_evidence() {
    let program = compiled("-O2", "evidence");
    let texts = |bug: &str| {
        let finding = finding_of(&program, bug);
        let evidence = finding["evidence"].as_array().unwrap().iter();
        evidence.map(|fact| fact["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let passes = texts("passes");
    assert!(passes.contains(&"passes passed conn->peer".to_owned()), "{passes:?}");
    let member = texts("member");
    assert!(member.iter().any(|text| text.starts_with("conn->peer lies at 0x")), "{member:?}");
    // Of a member that was written to since, nothing is said to hold the pointer.
    let changed = texts("changed");
    assert!(!changed.iter().any(|text| text.contains("conn->peer")), "{changed:?}");
    let text = finding_of(&program, "text");
    let sentence = text["sentence"].as_str().unwrap();
    assert!(
        sentence.starts_with("the process read through conn->peer 0x4141414142424242, whose"),
        "{sentence}"
    );
    fs::remove_file(program).unwrap();
}

fn finding_of(program: &Path, bug: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let program = Program { path: program, args: &[bug], stack_kib: 8192 };
    let core = core_of(&program, folder.path()).unwrap();
    let said = analysis(&core);
    let [finding] = findings(&said) else { panic!("{bug}: {said:#}") };
    runs_all(bug, &core, finding);
    finding.clone()
}

/// The program, for one of the tests.
fn compiled(level: &str, test: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/why/pointers.c");
    let name = format!("why-pointers-{test}{level}-{}", std::process::id());
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut compiler = Command::new("cc");
    let built = compiler.args(["-g", level, "-o"]).arg(&program).arg(source).status();
    assert!(built.expect("a C compiler").success());
    program
}
