//! Arguments as words, held against those that Go printed when the program died.

use std::{collections::BTreeMap, fs};

use gen_cores::Maker;

use crate::{cases, open};

/// What was printed of each goroutine's frames: function and arguments.
fn printed(text: &str) -> BTreeMap<u64, Vec<(String, String)>> {
    let mut found = BTreeMap::new();
    for part in text.split("\n\n") {
        let part = part.trim_start_matches('\n');
        let Some((head, rest)) = part.split_once('\n') else { continue };
        let id =
            head.strip_prefix("goroutine ").and_then(|rest| rest.split(' ').next()?.parse().ok());
        let Some(id) = id else { continue };
        let frame = |line: &str| {
            let from = line.rfind('(')?;
            let arguments = line[from..].strip_prefix('(')?.strip_suffix(')')?;
            Some((line[..from].to_owned(), arguments.to_owned()))
        };
        let lines = rest.lines().step_by(2).take_while(|line| !line.starts_with("created by "));
        found.insert(id, lines.filter_map(frame).collect());
    }
    found
}

#[test]
fn arguments_are_those_that_go_printed() {
    for case in cases("goroutines").iter().filter(|case| case.maker == Maker::Kernel) {
        let core = open(case);
        let text = fs::read_to_string(case.dir.join("output.txt")).expect("what it printed");
        let mut own: BTreeMap<u64, Vec<(String, String)>> = BTreeMap::new();
        for record in core.records("::goroutines -s waiting | ::goroutine -t") {
            if record["type"] == "goroutine_trace_frame" && record["creator"] == false {
                let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
                let id = record["goroutine"].as_u64().expect("an id");
                own.entry(id).or_default().push((text("function"), text("arguments")));
            }
        }
        let mut compared = 0;
        for (id, told) in printed(&text) {
            let Some(own) = own.get(&id) else { continue };
            // The innermost frames differ: the goroutine may be parked by a function that is inlined there.
            // Frames that are shown at all are compared elsewhere: when it dies, Go shows wrappers too.
            let is_shown = |function: &str| own.iter().any(|(own, _)| own == function);
            let told = told.iter().filter(|(function, _)| function.starts_with("main."));
            for (function, arguments) in told.filter(|(function, _)| is_shown(function)) {
                let name = format!("{} {id} {function}({arguments})", core.name);
                let same = own.iter().any(|(own, words)| own == function && words == arguments);
                assert!(same, "{name}: {own:?}");
                compared += usize::from(!arguments.is_empty() && arguments != "...");
            }
        }
        assert!(compared > 40, "{}: {compared}", core.name);
    }
}

#[test]
fn stacks_have_the_same_words_where_no_debug_information_has_arguments() {
    for case in cases("goroutines").iter().filter(|case| case.maker == Maker::Kernel) {
        let core = open(case);
        let text = fs::read_to_string(case.dir.join("output.txt")).expect("what it printed");
        let mut compared = 0;
        for (id, told) in printed(&text) {
            let stacks = core.records(&format!("0t{id}::stack"));
            let waiting = stacks.iter().filter(|stack| stack["task"]["state"] == "waiting");
            let frames = waiting.flat_map(|stack| stack["frames"].as_array().expect("frames"));
            for frame in frames.filter(|frame| frame["arg_words"].is_string()) {
                assert!(frame["args"].as_array().is_none_or(Vec::is_empty), "{frame}");
                let function = frame["function"].as_str().unwrap_or_default();
                let mut same = told.iter().filter(|(told, _)| told == function).peekable();
                if same.peek().is_some() {
                    let is_told = same.any(|(_, words)| frame["arg_words"] == words.as_str());
                    assert!(is_told, "{} {id}: {frame}", core.name);
                    compared += 1;
                }
            }
        }
        let is_stripped = case.variant.contains("stripped");
        assert!(!is_stripped || compared > 40, "{}: {compared}", core.name);
    }
}
