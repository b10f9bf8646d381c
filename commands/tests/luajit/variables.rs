//! Variables of calls, as the program would write their values.

use crate::{Opened, cases, harness};

#[test]
fn variables_are_spelled_as_the_program_spelled_them() {
    for core in cases("luajit-stack").iter().map(Opened::of) {
        let told = core.told("locals.jsonl").remove(0);
        let function = told["function"].as_str().expect("a function");
        let tid = core.truth.crashed_tid.expect("a thread");
        let text = harness::run_on(&core.core, &format!("0t{tid}::stack -v")).out;
        let from = text.find(&format!(" {function}() ")).unwrap_or_else(|| panic!("{text}"));
        let own: Vec<&str> =
            text[from..].lines().skip(2).take_while(|it| it.contains(" = ")).collect();
        let told = told["locals"].as_object().expect("variables");
        assert_eq!(told.len(), 12, "{}: {told:?}", core.name);
        for (name, value) in told {
            let line = format!("{name} = {}", value.as_str().expect("text"));
            assert!(own.iter().any(|it| it.trim() == line), "{}: {line} in {own:#?}", core.name);
        }
    }
}

#[test]
fn arguments_are_told_apart_from_other_variables() {
    for core in cases("luajit-stack").iter().map(Opened::of) {
        let tid = core.truth.crashed_tid.expect("a thread");
        let stack = core.records(&format!("0t{tid}::stack -v")).remove(0);
        let all = stack["frames"].as_array().expect("frames");
        let frame = all.iter().find(|frame| frame["function"] == "finish").expect("its frame");
        let names = |key: &str| -> Vec<&str> {
            let list = frame[key].as_array().map(Vec::as_slice).unwrap_or_default();
            list.iter().filter_map(|it| it["name"].as_str()).collect()
        };
        assert_eq!(names("args"), ["value", "missing"], "{}: {frame:#}", core.name);
        assert!(names("locals").contains(&"pipe"), "{}: {frame:#}", core.name);
    }
}
