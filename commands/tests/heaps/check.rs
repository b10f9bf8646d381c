//! What is torn on purpose, and what is whole.

use std::fs;

use serde_json::Value;

use crate::truth::{Opened, opened};

/// What the program says it tore, by a word.
fn told(opened: &Opened, word: &str) -> String {
    let text = fs::read_to_string(opened.dir.join("torn.txt")).expect("what is torn");
    let line = text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
    format!("0x{}", line.expect("the word"))
}

fn torn(opened: &Opened) -> Vec<Value> {
    opened.records("::heapcheck").into_iter().filter(|it| it["type"] == "heap_torn").collect()
}

#[test]
fn whole_heaps_are_whole() {
    for scenario in ["heap-glibc", "heap-glibc-sbrk", "heap-split", "threads-12", "cpp"] {
        for opened in opened(scenario) {
            assert_eq!(torn(&opened), [Value::Null; 0], "{}", opened.name);
        }
    }
}

#[test]
fn a_header_written_over_is_told_with_the_text_and_the_block_before() {
    for opened in opened("heap-torn-size") {
        let torn = torn(&opened);
        let first = &torn[0];
        assert_eq!(first["address"], told(&opened, "torn"), "{}: {torn:?}", opened.name);
        assert_eq!(first["kind"], "header", "{}", opened.name);
        assert_eq!(first["before"]["address"], told(&opened, "overflowing"), "{}", opened.name);
        assert_eq!(first["before"]["state"], "used", "{}", opened.name);
        let text = first["text"].as_str().expect("a text");
        assert!(text.contains("not-at-all-short"), "{}: {text}", opened.name);
        // One torn header hides none of the blocks behind it.
        let blocks = opened.records("::blocks -u -s 104 -S 104");
        assert!(blocks.len() > 55, "{}: {}", opened.name, blocks.len());
    }
}

#[test]
fn links_written_over_are_told() {
    for opened in opened("heap-torn-list") {
        let torn = torn(&opened);
        let wanted = told(&opened, "torn");
        let found =
            torn.iter().any(|it| it["address"] == wanted || it["block"]["address"] == wanted);
        assert!(found, "{}: {wanted} {torn:?}", opened.name);
    }
}

#[test]
fn a_block_that_is_free_twice_is_told() {
    for opened in opened("heap-torn-twice") {
        let torn = torn(&opened);
        let wanted = told(&opened, "twice");
        let found = torn.iter().find(|it| it["block"]["address"] == wanted);
        let found = found.unwrap_or_else(|| panic!("{}: {torn:?}", opened.name));
        let kind = found["kind"].as_str();
        assert!(matches!(kind, Some("loop" | "double_free")), "{}: {found:?}", opened.name);
    }
}

#[test]
fn a_torn_top_is_told_with_the_block_before() {
    for opened in opened("heap-torn-top") {
        let torn = torn(&opened);
        assert_eq!(torn[0]["address"], told(&opened, "torn"), "{}: {torn:?}", opened.name);
        assert_eq!(torn[0]["before"]["address"], told(&opened, "before"), "{}", opened.name);
        assert_eq!(torn[0]["holds"], "0x4141414141414141", "{}", opened.name);
    }
}
