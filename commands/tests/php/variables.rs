//! Variables of calls, as the program would write their values.

use crate::harness;
use crate::{Opened, cases};

#[test]
fn variables_are_spelled_as_the_program_spelled_them() {
    for core in cases().iter().map(Opened::of) {
        let told = core.told("locals.jsonl").remove(0);
        let tid = core.truth.crashed_tid.expect("a thread");
        let text = harness::run_on(&core.core, &format!("0t{tid}::stack -v")).out;
        let from = text.find(" Account->finish() ").unwrap_or_else(|| panic!("{text}"));
        let own: Vec<&str> =
            text[from..].lines().skip(2).take_while(|it| it.contains(" = ")).collect();
        let told = told["locals"].as_object().expect("variables");
        assert_eq!(told.len(), 17, "{}: {told:?}", core.name);
        for (name, value) in told {
            let line = format!("{name} = {}", value.as_str().expect("text"));
            assert!(own.iter().any(|it| it.trim() == line), "{}: {line} in {own:#?}", core.name);
        }
    }
}

#[test]
fn objects_have_what_their_class_hides_and_say_what_is_not_told() {
    for core in cases().iter().map(Opened::of) {
        let tid = core.truth.crashed_tid.expect("a thread");
        let text = harness::run_on(&core.core, &format!("0t{tid}::stack -v")).out;
        for told in [
            "$below = Below {Above::own: \"above\", own: \"below\"}",
            "$stored = ArrayObject {<not told: internal state>}",
        ] {
            assert!(
                text.lines().any(|line| line.trim() == told),
                "{}: {told} in {text}",
                core.name
            );
        }
    }
}

#[test]
fn arguments_are_told_apart_from_other_variables() {
    for core in cases().iter().map(Opened::of) {
        let tid = core.truth.crashed_tid.expect("a thread");
        let stack = core.records(&format!("0t{tid}::stack -v")).remove(0);
        let all = stack["frames"].as_array().expect("frames");
        let names = |function: &str, key: &str| -> Vec<String> {
            let frame = all.iter().find(|frame| frame["function"] == function).expect("its frame");
            let list = frame[key].as_array().map(Vec::as_slice).unwrap_or_default();
            list.iter().filter_map(|it| it["name"].as_str().map(str::to_owned)).collect()
        };
        let finish = names("Account->finish", "args");
        assert_eq!(finish, ["$value", "$rest", "$this"], "{}: {stack:#}", core.name);
        assert!(names("Account->finish", "locals").contains(&"$pipe".to_owned()), "{}", core.name);
        let (old, new) = (vec!["$fp", "$length"], vec!["$stream", "$length"]);
        let wanted = if core.release() == "7.4" { old } else { new };
        assert_eq!(names("fread", "args"), wanted, "{}: {stack:#}", core.name);
    }
}

#[test]
fn variables_of_files_and_of_arrays_are_those_of_the_call_that_takes_them() {
    for core in cases().iter().map(Opened::of) {
        let tid = core.truth.crashed_tid.expect("a thread");
        let stack = core.records(&format!("0t{tid}::stack")).remove(0);
        let all = stack["frames"].as_array().expect("frames");
        for function in ["included", "include"] {
            let frame = all.iter().find(|frame| frame["function"] == function).expect("its frame");
            let number = frame["index"].as_u64().expect("a number");
            let line = format!("0t{tid}::frame {number}; ::locals");
            let shown = harness::run_on(&core.core, &line).out;
            for told in ["$own = 6", "$taken = \"from an array\"", "$new = \"of the file\""] {
                assert!(
                    shown.lines().any(|line| line.trim() == told),
                    "{}: {function}: {told} in {shown}",
                    core.name
                );
            }
        }
    }
}

#[test]
fn functions_of_one_expression_have_the_object_around_them() {
    for core in cases().iter().map(Opened::of) {
        let tid = core.truth.crashed_tid.expect("a thread");
        let stack = core.records(&format!("0t{tid}::stack -v")).remove(0);
        let all = stack["frames"].as_array().expect("frames");
        let is_it = |frame: &&serde_json::Value| {
            let next = frame["index"].as_u64().expect("a number") + 1;
            let name = frame["function"].as_str().unwrap_or_default();
            let around = all.iter().find(|frame| frame["index"] == next);
            name.contains("{closure") && around.is_some_and(|it| it["function"] == "Account->__get")
        };
        let frame = all.iter().find(is_it).unwrap_or_else(|| panic!("{}: {stack:#}", core.name));
        let args = frame["args"].as_array().expect("arguments");
        assert!(args.iter().any(|it| it["name"] == "$this"), "{}: {frame:#}", core.name);
    }
}
