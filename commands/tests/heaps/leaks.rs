//! Leaks, held against what the program knows it leaked.

use std::{collections::BTreeMap, fs};

use serde_json::Value;

use crate::truth::{Opened, opened};

/// What the program says: a word, the address, and how many blocks it leads to.
fn told(opened: &Opened) -> Vec<(String, String, u64)> {
    let text = fs::read_to_string(opened.dir.join("leaks.txt")).expect("what was leaked");
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let count = u64::from_str_radix(words[2], 16).expect("a count");
        (words[0].to_owned(), format!("0x{}", words[1]), count)
    };
    text.lines().map(line).collect()
}

#[test]
fn leaks_are_those_of_the_program_and_what_is_held_is_none() {
    for opened in ["heap-leaks", "heap-leaks-asan"].into_iter().flat_map(opened) {
        let leaks = opened.records("::findleaks -a");
        let leaks: BTreeMap<&str, &Value> = leaks
            .iter()
            .filter(|record| record["type"] == "leak")
            .map(|record| (record["address"].as_str().expect("an address"), record))
            .collect();
        let (mut missed, mut rings) = (0, 0);
        for (word, at, count) in told(&opened) {
            let found = leaks.get(at.as_str());
            match word.as_str() {
                "live" => assert!(found.is_none(), "{}: {at} is held", opened.name),
                "ring" => rings += usize::from(found.is_some()),
                _ => match found {
                    Some(leak) => assert_eq!(leak["blocks"], count, "{}: {at}", opened.name),
                    // Its address may still stand in a register or in a frame of a call.
                    None => missed += 1,
                },
            }
        }
        assert!(missed <= 2, "{}: {missed} were not found", opened.name);
        assert!(rings <= 1, "{}: a ring is one leak", opened.name);
        let own = leaks.len();
        assert!(own <= 45, "{}: {own} leaks", opened.name);
    }
}

#[test]
fn leaks_of_one_size_and_beginning_are_one_group() {
    for opened in opened("heap-leaks") {
        let groups = opened.records("::findleaks");
        let texts = groups.iter().find(|group| group["begins"] == "\"leaked text\"");
        let texts = texts.unwrap_or_else(|| panic!("{}: {groups:?}", opened.name));
        let leaks = texts["leaks"].as_u64().expect("a count");
        assert!((38..=40).contains(&leaks), "{}: {leaks}", opened.name);
        assert_eq!(texts["usable"], 504, "{}", opened.name);
    }
}

#[test]
fn a_heap_in_two_mappings_is_read_whole() {
    for opened in opened("heap-split") {
        let leaks = opened.records("::findleaks -a");
        let found: Vec<&str> = leaks.iter().filter_map(|leak| leak["address"].as_str()).collect();
        let told = told(&opened);
        let of =
            |word: &'static str| told.iter().filter(move |told| told.0 == word).map(|told| &told.1);
        let lost = of("leak").filter(|at| !found.contains(&at.as_str())).count();
        assert!(lost <= 1, "{}: {lost}", opened.name);
        assert!(of("live").all(|at| !found.contains(&at.as_str())), "{}", opened.name);
    }
}
