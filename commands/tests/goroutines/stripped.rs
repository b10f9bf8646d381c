//! Programs without symbols: what Go's runtime knows of all functions stands for them.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{Opened, cases, shown};

fn stripped() -> Vec<Opened> {
    let cases = cases("goroutines").into_iter().chain(cases("go-cgo"));
    let cases = cases.filter(|case| case.name().contains("stripped"));
    cases.map(|case| crate::open(&case)).collect()
}

fn address(value: &Value) -> u64 {
    let digits = value.as_str().and_then(|text| text.strip_prefix("0x")).expect("an address");
    u64::from_str_radix(digits, 16).expect("an address")
}

/// What the stacks of goroutines show comes from the memory of the process; symbols come from the file.
#[test]
fn functions_have_symbols() {
    for core in stripped() {
        let stacks = core.records("::walk goroutine | ::stack");
        let (mut checked, mut names) = (0, BTreeSet::new());
        let frames = stacks.iter().filter_map(|stack| stack["frames"].as_array()).flatten();
        for frame in frames.filter(|frame| frame["kind"] == "go" && frame["inline"] != true) {
            let (Some(name), Some(offset)) = (frame["function"].as_str(), frame["offset"].as_str())
            else {
                continue;
            };
            let offset = address(&offset.into());
            // What a generic function was made for is in its symbol, and not in what Go prints.
            if name.contains('[') || name == "panic" {
                continue;
            }
            let start = address(&frame["pc"]) - offset;
            let found = core.core.symbols().lookup(None, name);
            assert_eq!(found.map(|at| at.get()), Ok(start), "{} {name}", core.name);
            checked += 1;
            names.insert(name.to_owned());
        }
        assert!(checked > 30 && names.len() > 10, "{}: {checked} {names:?}", core.name);
    }
}

#[test]
fn they_can_be_disassembled_and_listed() {
    for core in stripped() {
        let text = shown(&core, "main.main::dis");
        assert!(text.lines().count() > 5, "{}: {text}", core.name);
        assert!(text.starts_with("main.main:"), "{}: {text}", core.name);
        let listed = core.records("::nm -t func");
        let main: Vec<&Value> = listed.iter().filter(|it| it["name"] == "main.main").collect();
        assert_eq!(main.len(), 1, "{}", core.name);
        let what = core.records("main.main::whatis").remove(0);
        assert_eq!(what["symbol"], "main.main", "{}: {what}", core.name);
    }
}
