//! Values as objects: how many, what they say, and what keeps them.

use crate::{Opened, cases, harness};

/// How many objects of its class the program keeps; each of its threads has a copy.
const PAIRS: u64 = 1000;

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
        let threads = u64::from(core.truth.facts.thread_count.expect("a count"));
        let (count, example) = class(&core, "Pair");
        assert_eq!(count, PAIRS * threads, "{}", core.name);
        let printed = harness::run_on(&core.core, &format!("{example:x}::print")).out;
        let number = printed.split("number => ").nth(1).and_then(|rest| rest.split(',').next());
        let number = number.unwrap_or_else(|| panic!("{}: {printed}", core.name));
        // A number that became part of a text is one too, to 5.34.
        let plain = number.trim_matches('"');
        let spelled = format!("bless({{number => {number}, text => \"text {plain}\"}}, \"Pair\")");
        assert_eq!(printed.trim_end(), spelled, "{}", core.name);
        let what = harness::run_on(&core.core, &format!("{:x}::whatis", example + 8)).out;
        assert!(what.contains("+0x8, Pair of "), "{}: {what}", core.name);
        let path = harness::run_on(&core.core, &format!("{example:x}::path")).out;
        assert!(path.contains("pairs"), "{}: {path}", core.name);
    }
}

#[test]
fn what_refers_to_an_object_is_found() {
    for core in cases().iter().map(Opened::of) {
        // The variables of the program outside of all subs lie in its pad.
        let (_, account) = class(&core, "Account");
        let refs = harness::run_on(&core.core, &format!("{account:x}::refs")).out;
        assert!(refs.contains("(scalar)"), "{}: {refs}", core.name);
        for name in ["(array)", "(hash)", "(code)", "(glob)", "(package)", "(pad)", "(scalar)"] {
            assert!(class(&core, name).0 > 10, "{}: {name}", core.name);
        }
    }
}
