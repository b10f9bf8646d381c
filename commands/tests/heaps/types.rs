//! Likely types of blocks, held against what the programs know of them.

use std::{collections::HashMap, fs, sync::Arc};

use kcore::{Core, OpenOptions};
use serde_json::Value;

use crate::truth::{Opened, opened};

/// What the program says: the address, how its type stands there, and a part of its name. Of an address that is told more
/// than once, the last counts: it was freed between.
fn told(opened: &Opened) -> HashMap<String, (String, String)> {
    let text = fs::read_to_string(opened.dir.join("types.txt")).expect("the types");
    let line = |line: &str| {
        let mut words = line.splitn(3, ' ').map(str::to_owned);
        let mut word = || words.next().expect("a word");
        (format!("0x{}", word()), (word(), word()))
    };
    text.lines().map(line).collect()
}

/// The types that are told of addresses, all in one pipe.
fn types_of<'a>(
    opened: &Opened,
    addresses: impl Iterator<Item = &'a String>,
) -> HashMap<String, Value> {
    let lines = addresses.map(|at| format!("{at}::whatis"));
    let records = lines.flat_map(|line| opened.records(&line));
    records.map(|it| (it["address"].as_str().expect("an address").to_owned(), it)).collect()
}

/// Holds all that a program told against what is shown; `missing` of the typed ones may have no type.
fn hold(scenario: &str, missing: usize) {
    for opened in opened(scenario) {
        let told = told(&opened);
        let shown = types_of(&opened, told.keys());
        let (mut right, mut without) = (0, 0);
        for (at, (role, name)) in told.iter().filter(|(_, (role, _))| role != "freed") {
            let ty = &shown[at]["block_type"];
            if role == "-" {
                assert!(ty.is_null(), "{}: {at} has no type: {ty}", opened.name);
                continue;
            }
            if ty.is_null() {
                without += 1;
                eprintln!("{}: {at} is {role} {name}: no type", opened.name);
                continue;
            }
            let has = ty["name"].as_str().expect("a name");
            // Inline namespaces are no part of what the program says.
            let has = has.replace("__1::", "").replace("__cxx11::", "");
            let is_right = has.contains(name.as_str()) && ty["role"] == role.as_str();
            assert!(is_right, "{}: {at} is {role} {name}: {ty}", opened.name);
            right += 1;
        }
        assert!(without <= missing && right > 100, "{}: {right}, {without}", opened.name);
    }
}

#[test]
fn blocks_of_c_have_the_types_that_pointers_tell() {
    hold("heap-types", 0);
}

#[test]
fn blocks_of_cpp_belong_to_their_containers_and_classes() {
    hold("heap-types-cpp", 0);
}

#[test]
fn blocks_of_rust_belong_to_their_containers_and_boxes() {
    hold("heap-types-rust", 0);
}

#[test]
fn groups_count_what_whatis_tells() {
    for opened in opened("heap-types") {
        let told = told(&opened);
        let groups = opened.records("::malloctypes -a");
        let count = |kind: &str, name: &str| {
            let found = groups.iter().find(|it| it["kind"] == kind && it["name"] == name);
            found.map_or(0, |group| group["count"].as_u64().expect("a count"))
        };
        for (kind, role, name) in
            [("type", "object", "struct node"), ("type", "object", "struct leaf")]
        {
            let own = told.values().filter(|it| it.0 == role && it.1 == name).count();
            assert_eq!(count(kind, name), own as u64, "{}: {name}", opened.name);
        }
        assert_eq!(count("array", "struct bucket"), 1, "{}: {groups:?}", opened.name);
    }
}

#[test]
fn what_leads_to_a_block_is_told_with_its_type() {
    for opened in opened("heap-types") {
        let told = told(&opened);
        let of = |name: &str| told.iter().find(|it| it.1.1 == name).expect("it is told").0;
        let bucket = &opened.records(&format!("{}::whatis", of("struct bucket")))[0]["block_type"];
        assert_eq!(bucket["how"], "variable");
        // `store.last` leads into the block.
        assert_eq!(bucket["by"], "store.buckets");
        let mut nodes = told.iter().filter(|it| it.1.1 == "struct node").map(|it| it.0);
        let far = nodes.find_map(|at| {
            let ty = opened.records(&format!("{at}::whatis"))[0]["block_type"].clone();
            (ty["how"] == "block" && ty["by"] == "next").then_some(ty)
        });
        assert!(far.is_some(), "{}", opened.name);
    }
}

/// A copy of a core that `change` damaged, opened.
pub fn damaged(opened: &Opened, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Opened {
    let mut bytes = fs::read(opened.dir.join("core")).expect("the core");
    change(&mut bytes);
    let path = std::env::temp_dir().join(format!("kcore-types-{}-{name}", std::process::id()));
    fs::write(&path, bytes).expect("a copy");
    let options = OpenOptions { core: Some(path.clone()), ..OpenOptions::default() };
    let core = Core::open(&options).expect("the copy opens");
    // It stays mapped.
    fs::remove_file(&path).expect("the copy is there");
    Opened {
        name: format!("{} {name}", opened.name),
        dir: opened.dir.clone(),
        core: Arc::new(core),
    }
}

/// What is damaged types less, and ends.
#[test]
fn cut_and_flipped_cores_are_answered() {
    for scenario in ["heap-types", "heap-types-cpp", "heap-types-rust"] {
        for opened in opened(scenario).iter().take(1) {
            let cut = damaged(opened, "cut", |bytes| bytes.truncate(bytes.len() * 2 / 5));
            let flip = |bytes: &mut Vec<u8>| {
                bytes.iter_mut().skip(0x4000).step_by(509).for_each(|byte| *byte ^= 0x41);
            };
            let flipped = damaged(opened, "flipped", flip);
            for damaged in [cut, flipped] {
                for line in ["::malloctypes -a", "::retained", "::findleaks"] {
                    let records = damaged.records(line);
                    assert!(!records.is_empty(), "{}: {line}", damaged.name);
                }
            }
        }
    }
}
