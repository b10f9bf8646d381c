//! Variables of calls, as the program would write their values.

use serde_json::Value;

use crate::{Opened, cases, harness};

#[test]
fn variables_are_spelled_as_the_program_spelled_them() {
    for core in cases().iter().map(Opened::of) {
        let told = core.told("variables.jsonl").remove(0);
        let function = told["function"].as_str().expect("a function");
        let tid = core.truth.crashed_tid.expect("a thread");
        let text = harness::run_on(&core.core, &format!("0t{tid}::stack -v")).out;
        let from = text.find(&format!(" {function}() ")).unwrap_or_else(|| panic!("{text}"));
        let lines = text[from..].lines().skip_while(|it| !it.contains(" = "));
        let own: Vec<&str> = lines.take_while(|it| it.contains(" = ")).collect();
        let told = told["variables"].as_object().expect("variables");
        assert_eq!(told.len(), 12, "{}: {told:?}", core.name);
        for (name, value) in told {
            let line = format!("{name} = {}", value.as_str().expect("text"));
            assert!(own.iter().any(|it| it.trim() == line), "{}: {line} in {own:#?}", core.name);
        }
        // What functions keep or give, of which nothing in the value tells.
        let magical = [
            "%tied = <tied>",
            "@slots = <tied>",
            "%around = (inside => <tied>)",
            "$part_of = \\ <what a function gives>",
            "$place = \\ <what a function gives>",
        ];
        for line in magical {
            assert!(own.iter().any(|it| it.trim() == line), "{}: {line} in {own:#?}", core.name);
        }
        // What is not seen there, and what is known no more.
        assert!(!own.iter().any(|it| it.trim().starts_with("$gone")), "{}: {own:#?}", core.name);
    }
}

fn frame(core: &Opened, function: &str) -> Value {
    let tid = core.truth.crashed_tid.expect("a thread");
    let stack = core.records(&format!("0t{tid}::stack -v")).remove(0);
    let all = stack["frames"].as_array().expect("frames");
    all.iter().find(|frame| frame["function"] == function).expect("its frame").clone()
}

fn names<'f>(frame: &'f Value, key: &str) -> Vec<&'f str> {
    let list = frame[key].as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|it| it["name"].as_str()).collect()
}

#[test]
fn arguments_are_those_that_were_passed() {
    for core in cases().iter().map(Opened::of) {
        let finish = frame(&core, "main::finish");
        assert_eq!(
            names(&finish, "args"),
            ["$_[0]", "$_[1]", "$_[2]"],
            "{}: {finish:#}",
            core.name
        );
        // Of one object and four numbers, and nothing was shifted.
        let deposit = frame(&core, "Account::deposit");
        assert_eq!(names(&deposit, "args").len(), 5, "{}: {deposit:#}", core.name);
    }
}

#[test]
fn what_was_shifted_is_told_by_number_and_what_is_left_by_its_own() {
    for core in cases().iter().map(Opened::of) {
        let plus = frame(&core, "main::plus");
        assert_eq!(names(&plus, "args"), ["$_[0]", "@_"], "{}: {plus:#}", core.name);
        let tid = core.truth.crashed_tid.expect("a thread");
        let text = harness::run_on(&core.core, &format!("0t{tid}::stack -v")).out;
        assert!(text.contains("$_[0] = \"left\""), "{}: {text}", core.name);
        assert!(text.contains("@_ = <1 shifted>"), "{}: {text}", core.name);
    }
}

#[test]
fn variables_of_packages_are_seen_where_they_were_named() {
    for core in cases().iter().map(Opened::of) {
        let main = frame(&core, "main program");
        for name in ["$limit", "@pairs"] {
            assert!(names(&main, "locals").contains(&name), "{}: {main:#}", core.name);
        }
        let sorted = frame(&core, "main::sorted");
        assert!(names(&sorted, "locals").contains(&"$limit"), "{}: {sorted:#}", core.name);
        let tid = core.truth.crashed_tid.expect("a thread");
        let number = main["index"].as_u64().expect("a number");
        let line =
            format!("0t{tid}::frame {number}; ::print '$limit'; ::print '$pairs[2]->{{number}}'");
        let shown = harness::run_on(&core.core, &line).out;
        assert!(shown.contains(" = 3\n"), "{}: {shown}", core.name);
    }
}

#[test]
fn closures_and_text_see_the_variables_around_them() {
    for core in cases().iter().map(Opened::of) {
        let searched = frame(&core, "main::searched");
        assert!(names(&searched, "locals").contains(&"$name"), "{}: {searched:#}", core.name);
        let main = frame(&core, "main program");
        assert!(names(&main, "locals").contains(&"$kept"), "{}: {main:#}", core.name);
        let tid = core.truth.crashed_tid.expect("a thread");
        let text = harness::run_on(&core.core, &format!("0t{tid}::stack -v")).out;
        // Of the text that was compiled, of the sub around it.
        assert!(
            text.contains("$part = 1") && text.contains("$number = 1"),
            "{}: {text}",
            core.name
        );
    }
}

#[test]
fn elements_are_addressed_as_the_program_writes_them() {
    for core in cases().iter().map(Opened::of) {
        let tid = core.truth.crashed_tid.expect("a thread");
        let number = frame(&core, "main::finish")["index"].as_u64().expect("a number");
        for (path, value) in [
            ("'$list[0]'", "1"),
            ("'$list[-2]'", "\"two\""),
            ("'$list[2][0]'", "3"),
            ("'$member{name}'", "\"x\""),
            ("'$member{list}[1]'", "\"three\""),
            ("'$account->{total}'", "7"),
        ] {
            let line = format!("0t{tid}::frame {number}; ::print {path}");
            let shown = harness::run_on(&core.core, &line);
            let all = format!("{}{}", shown.out, shown.errors);
            assert!(shown.out.contains(&format!(" = {value}\n")), "{}: {path}\n{all}", core.name);
        }
    }
}
