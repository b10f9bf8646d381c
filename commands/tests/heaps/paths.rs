//! Ways to blocks, held against what the program knows of its pointers.

use std::fs;

use crate::truth::{Opened, opened};

/// What the program says: a word, the address, how many pointers lead to it, and the last one.
fn told(opened: &Opened) -> Vec<(String, String, usize, String)> {
    let text = fs::read_to_string(opened.dir.join("paths.txt")).expect("what is held");
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let count = usize::from_str_radix(words[2], 16).expect("a count");
        (words[0].to_owned(), words[1].to_owned(), count, words[3].to_owned())
    };
    text.lines().map(line).collect()
}

#[test]
fn ways_are_the_shortest_and_have_the_names_of_the_program() {
    for opened in opened("heap-paths") {
        let told = told(&opened);
        assert_eq!(told.len(), 19, "{}", opened.name);
        for (word, at, count, name) in told {
            let records = opened.records(&format!("{at}::reachedby"));
            let steps: Vec<_> =
                records.iter().filter(|record| record["type"] == "block_pointer").collect();
            if word == "chain" {
                let depth = steps[steps.len() - 1]["depth"].as_u64();
                assert_eq!((depth, steps.len()), (Some(count as u64 - 1), 1024), "{}", opened.name);
                let names = steps.iter().filter_map(|step| step["name"].as_str());
                let longest = names.map(str::len).max();
                assert!(longest.is_some_and(|len| len < 300), "{}: {longest:?}", opened.name);
                assert_eq!(steps[1023]["address"], format!("0x{at}"), "{}", opened.name);
                continue;
            }
            assert_eq!(steps.len(), count, "{}: {at} {records:?}", opened.name);
            let Some(last) = steps.last() else {
                assert_eq!(word, "lost", "{}: {at}", opened.name);
                continue;
            };
            assert_eq!(last["address"], format!("0x{at}"), "{}", opened.name);
            let has = last["name"].as_str().unwrap_or("-");
            match word.as_str() {
                "held" => {
                    assert_eq!(records[0]["root"], "data", "{}: {at}", opened.name);
                    assert_eq!(has, name, "{}: {at}", opened.name);
                }
                "thread" => {
                    assert_eq!(records[0]["symbol"], "per_thread", "{}: {at}", opened.name);
                    assert_eq!(has, name, "{}: {at}", opened.name);
                }
                // Optimised code may keep it elsewhere as well, where it has no name.
                _ => {
                    let root = records[0]["root"].as_str().expect("a root");
                    assert!(["stack", "register"].contains(&root), "{}: {root}", opened.name);
                    assert!(has == name || !opened.name.contains("O0"), "{}: {has}", opened.name);
                }
            }
        }
    }
}

#[test]
fn what_a_block_reaches_is_what_its_pointers_lead_to() {
    for opened in opened("heap-paths") {
        let told = told(&opened);
        let of = |name: &str| &told.iter().find(|it| it.3 == name).expect("it is told").1;
        let head = of("server.clients.head");
        let records = opened.records(&format!("{head}::reaches"));
        let pointers: Vec<_> =
            records.iter().filter(|record| record["type"] == "block_pointer").collect();
        let named: Vec<_> =
            pointers.iter().map(|it| it["name"].as_str().expect("a name")).collect();
        assert_eq!(named, ["next", "out.buf"], "{}", opened.name);
        assert_eq!(pointers[0]["address"], format!("0x{}", of("server.clients.head->next")));
        // Its buffer, and three more clients with theirs.
        let note = records.iter().find(|record| record["type"] != "block_pointer");
        let note = note.map(ToString::to_string).unwrap_or_default();
        assert!(note.contains("7 blocks in use of"), "{}: {note}", opened.name);
    }
}

/// Each address of a pipe gets its own answer: a way, or that there is none.
#[test]
fn each_block_of_a_pipe_is_answered() {
    for scenario in ["heap-paths", "heap-leaks", "heap-types"] {
        for opened in opened(scenario) {
            let records = opened.records("::walk malloc | ::head -n 40 | ::reachedby");
            let answers =
                records.iter().filter(|it| it["type"] == "block_root" || it["type"] == "error");
            assert_eq!(answers.count(), 40, "{}", opened.name);
        }
    }
}
