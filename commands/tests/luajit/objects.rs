//! Objects: how many, what they say, what keeps them, and what LuaJIT itself counted.

use crate::{Opened, cases, harness};

/// How many objects of its class the program keeps.
const PAIRS: u64 = 1000;
/// What the collector does not list: the table of strings, calls, buffers, and what is made between the count and the end.
const SHARE: u64 = 10;

/// What `::classes` says of a class: how many objects it has, and where one is.
fn class(core: &Opened, name: &str) -> (u64, u64) {
    let records = core.records("::classes -a");
    let record = records.iter().find(|record| record["class"] == name);
    let record = record.unwrap_or_else(|| panic!("{}: {name} in {records:#?}", core.name));
    (record["count"].as_u64().expect("a count"), harness::hex(&record["example"]))
}

#[test]
fn classes_have_as_many_objects_as_the_program_made() {
    for core in cases("luajit-stack").iter().map(Opened::of) {
        let (count, example) = class(&core, "Pair");
        assert_eq!(count, PAIRS, "{}", core.name);
        let printed = harness::run_on(&core.core, &format!("{example:x}::print"));
        let number =
            printed.out.split("number = ").nth(1).and_then(|rest| rest.split([',', '}']).next());
        let number = number.unwrap_or_else(|| panic!("{}: {}", core.name, printed.errors));
        assert!(printed.out.contains(&format!("text = \"text {number}\"")), "{}", printed.out);
        let what = harness::run_on(&core.core, &format!("{:x}::whatis", example + 8)).out;
        assert!(what.contains("+0x8, Pair of "), "{}: {what}", core.name);
        let refs = harness::run_on(&core.core, &format!("{example:x}::refs")).out;
        assert!(refs.contains("(table)"), "{}: {refs}", core.name);
        let path = harness::run_on(&core.core, &format!("{example:x}::path")).out;
        assert!(path.contains("kept") || path.contains("<stack>"), "{}: {path}", core.name);
    }
}

#[test]
fn objects_are_as_large_as_luajit_counts_them() {
    for core in cases("luajit-stack").iter().map(Opened::of) {
        let told = core.told("memory.jsonl").remove(0)["bytes"].as_u64().expect("bytes");
        let records = core.records("::classes -a");
        let known: u64 = records.iter().filter_map(|record| record["bytes"].as_u64()).sum();
        println!("{}: {known} of {told}", core.name);
        assert!(known.abs_diff(told) < told / SHARE, "{}: {known} of {told}", core.name);
    }
}
