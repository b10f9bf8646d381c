//! `::locals` and `::print NAME` in a frame of Ruby.

use crate::{Opened, cases, harness};

/// Runs lines in the frame of the function that told its variables.
fn in_frame(core: &Opened, lines: &str) -> harness::Outcomes {
    let told = core.told("locals.jsonl").remove(0);
    let tid = core.truth.crashed_tid.expect("a thread");
    let stack = core.records(&format!("0t{tid}::stack")).remove(0);
    let all = stack["frames"].as_array().expect("frames");
    let is_it = |frame: &&serde_json::Value| frame["function"] == told["function"];
    let number = all.iter().find(is_it).expect("its frame")["index"].as_u64().expect("a number");
    harness::run_on(&core.core, &format!("0t{tid}::frame {number}; {lines}"))
}

#[test]
fn a_variable_of_the_chosen_frame_is_spelled_as_the_program_spelled_it() {
    // Hashes are spelled as Ruby did it to 3.3.
    let spells_so = |core: &Opened| !core.name.contains("3.4");
    for core in cases().iter().map(Opened::of).filter(spells_so) {
        let told = core.told("locals.jsonl").remove(0);
        for (name, value) in told["locals"].as_object().expect("variables") {
            let text = in_frame(&core, &format!("::print -s 5 {name}")).out;
            let line = format!("{name} = {}", value.as_str().expect("text"));
            assert!(text.contains(&line), "{}: {line}\n{text}", core.name);
        }
    }
}

#[test]
fn paths_lead_to_keys_and_elements() {
    for core in cases().iter().map(Opened::of) {
        for (path, value) in [
            ("'table[\"a\"]'", "1"),
            ("table[:b][1]", "2.5"),
            ("wide[3]", "\"3\""),
            ("words[0]", ":plain"),
            ("words[-1]", "Shop"),
        ] {
            let text = in_frame(&core, &format!("::print {path}")).out;
            assert!(text.contains(&format!(" = {value}\n")), "{}: {path}\n{text}", core.name);
        }
        let missing = in_frame(&core, "::print table[:none]");
        assert!(
            missing.errors.contains("table[:none]: there is no member or key none"),
            "{}",
            missing.errors
        );
    }
}

#[test]
fn all_variables_of_a_frame_are_listed() {
    for core in cases().iter().map(Opened::of) {
        let text = in_frame(&core, "::locals").out;
        for line in ["self = #<Shop::Helper", "count = 0", "small = -7", "opt = \"größe\""] {
            assert!(text.contains(line), "{}: {line}\n{text}", core.name);
        }
        let one = in_frame(&core, "::locals small").out;
        assert!(one.contains("small = -7") && !one.contains("count"), "{}: {one}", core.name);
        let wrong = in_frame(&core, "::locals nosuch").errors;
        assert!(wrong.contains("has no variable nosuch"), "{}: {wrong}", core.name);
    }
}

#[test]
fn variables_of_the_object_whose_method_runs_need_no_self() {
    for core in cases().iter().map(Opened::of) {
        let tid = core.truth.crashed_tid.expect("a thread");
        let stack = core.records(&format!("0t{tid}::stack")).remove(0);
        let of_run = |frame: &&serde_json::Value| frame["function"] == "Shop::Account#run";
        let all = stack["frames"].as_array().expect("frames");
        let number = all.iter().find(of_run).expect("it runs")["index"].as_u64().expect("a number");
        let print = |path: &str| {
            let line = format!("0t{tid}::frame {number}; ::print {path}");
            harness::run_on(&core.core, &line).out
        };
        let name = print("@name");
        assert!(name.contains(" = \"savings\"\n"), "{}: {name}", core.name);
        assert_eq!(name, print("self.@name"), "{}", core.name);
    }
}
