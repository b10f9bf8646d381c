//! What blocks and variables retain, held against what follows from the program's own blocks.

use serde_json::Value;

use crate::truth::opened;

fn find<'r>(records: &'r [Value], name: &str) -> Option<&'r Value> {
    records.iter().find(|it| it["type"] == "retained" && it["name"] == name)
}

/// Each of the 3000 clients of the chain is kept by the one before alone, and the first by the variable.
#[test]
fn a_chain_is_retained_by_its_variable_and_by_its_first_block() {
    for opened in opened("heap-paths") {
        let records = opened.records("::retained -a");
        let chain = find(&records, "chain").unwrap_or_else(|| panic!("{}", opened.name));
        assert_eq!((&chain["keeper"], &chain["blocks"]), (&"variable".into(), &3000.into()));
        let first = chain["address"].as_str().expect("an address");
        let first = &opened.records(&format!("*{first}::retained"))[0];
        assert_eq!((&first["blocks"], &first["kept_by"]), (&3000.into(), &"chain".into()));
        assert_eq!(first["bytes"], chain["bytes"], "{}", opened.name);
    }
}

/// Two variables lead to one client: neither retains it.
#[test]
fn what_several_lead_to_is_retained_by_what_is_above_them() {
    for opened in opened("heap-paths") {
        let records = opened.records("::retained -a");
        let server = find(&records, "server").unwrap_or_else(|| panic!("{}", opened.name));
        // Its clients with their buffers, its table, what is opaque, the item and its text.
        let blocks = server["blocks"].as_u64().expect("a count");
        assert!((17..=20).contains(&blocks), "{}: {server}", opened.name);
        let unreached = records.iter().find(|it| it["type"] == "note");
        assert!(unreached.is_some() || !records.is_empty(), "{}", opened.name);
    }
}

#[test]
fn parts_add_up_to_the_whole() {
    for opened in opened("heap-types") {
        let all = opened.records("::retained -a");
        let all = all.iter().filter(|it| it["type"] == "retained");
        let sum: u64 = all.map(|it| it["bytes"].as_u64().expect("bytes")).sum();
        let used = opened.records("::walk malloc | ::blocks");
        let used: u64 = used.iter().map(|it| it["usable"].as_u64().expect("bytes")).sum();
        assert!(sum <= used && sum * 10 > used * 9, "{}: {sum} of {used}", opened.name);
    }
}
