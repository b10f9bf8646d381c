//! Objects, arrays and strings: how many, what they say, what keeps them, and what PHP itself counted.

use crate::{Opened, cases, harness};

/// How many of them the program keeps.
const PAIRS: u64 = 1000 + 1;
const SPELLED: &str = "Pair {left: 1, right: [2, \"three\" => 3.5], none: null}";
/// What the program needs for itself between its count and its end.
const SLACK: u64 = 64 << 10;

/// What `::classes` says of a class: how many objects it has, and where one is.
fn class(core: &Opened, name: &str) -> (u64, u64) {
    let records = core.records("::classes -a");
    let record = records.iter().find(|record| record["class"] == name);
    let record = record.unwrap_or_else(|| panic!("{}: {name} in {records:#?}", core.name));
    (record["count"].as_u64().expect("a count"), harness::hex(&record["example"]))
}

#[test]
fn classes_have_as_many_objects_as_the_program_made() {
    for core in cases().iter().map(Opened::of) {
        let (count, example) = class(&core, "Pair");
        assert_eq!(count, PAIRS, "{}", core.name);
        let printed = harness::run_on(&core.core, &format!("{example:x}::print"));
        assert_eq!(printed.out.trim_end(), SPELLED, "{}: {}", core.name, printed.errors);
        let what = harness::run_on(&core.core, &format!("{:x}::whatis", example + 8)).out;
        assert!(what.contains("+0x8, Pair of "), "{}: {what}", core.name);
        let path = harness::run_on(&core.core, &format!("{example:x}::path")).out;
        assert!(path.contains("$kept") || path.contains("$pair"), "{}: {path}", core.name);
    }
}

#[test]
fn what_is_known_and_what_is_not_is_what_php_counts() {
    for core in cases().iter().map(Opened::of) {
        let told = core.told("usage.jsonl").remove(0)["bytes"].as_u64().expect("bytes");
        let records = core.records("::classes -a");
        let known: u64 = records.iter().filter_map(|record| record["bytes"].as_u64()).sum();
        let shown = harness::run_on(&core.core, "::classes -a");
        let words = shown.out + &shown.errors;
        let unknown = words.split("has in use, ").nth(1).and_then(|rest| rest.split(' ').next());
        let unknown: u64 =
            unknown.and_then(|it| it.parse().ok()).unwrap_or_else(|| panic!("{words}"));
        assert!(
            (known + unknown).abs_diff(told) < SLACK,
            "{}: {known} {unknown} {told}",
            core.name
        );
        assert!(known > told / 8, "{}: {known} of {told}", core.name);
    }
}
