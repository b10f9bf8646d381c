//! Stacks that go from Go to C and back, held against what the program told of each: its own frames, of both languages,
//! innermost first.

use std::{collections::BTreeMap, fs, path::Path};

use gen_cores::Case;
use serde_json::Value;

use crate::{Opened, cases, frames, harness, number, open};

/// What a stack is made of: the goroutine, the thread if it stays on one, and functions.
pub struct Joined {
    pub goroutine: u64,
    thread: Option<u64>,
    functions: Vec<String>,
}

pub fn told(dir: &Path) -> Vec<Joined> {
    let text = fs::read_to_string(dir.join("joined.txt")).expect("what it told");
    let line = |line: &str| {
        let mut words = line.split(' ');
        let mut number = || words.next().and_then(|word| word.parse().ok());
        let (goroutine, thread) = (number().expect("a goroutine"), number());
        Joined { goroutine, thread, functions: words.map(str::to_owned).collect() }
    };
    text.lines().map(line).collect()
}

/// A function as the program spells it: without the hash of its package, and the part that gcc split off.
fn spelled(function: &str) -> String {
    let exported = function.strip_prefix("_cgoexp_").and_then(|rest| rest.split_once('_'));
    let function = exported.map_or_else(|| function.to_owned(), |(_, it)| format!("_cgoexp_{it}"));
    function.split(".cold").next().unwrap_or_default().to_owned()
}

/// Whether a stripped program has the name: only Go's functions are in tables of their own.
fn is_named(function: &str, is_stripped: bool) -> bool {
    !is_stripped || function.starts_with("main.") || function.starts_with("_cgoexp_")
}

fn by_goroutine(core: &Opened) -> BTreeMap<u64, Value> {
    let stacks = core.records("::walk goroutine | ::stack");
    stacks.into_iter().filter_map(|stack| Some((number(&stack)?, stack))).collect()
}

/// Holds the stacks of a core against what was told of them.
pub fn check(core: &Opened, told: Vec<Joined>, is_stripped: bool) {
    let stacks = by_goroutine(core);
    for joined in told {
        let name = format!("{} {}", core.name, joined.goroutine);
        // In 1.21 and 1.22 a signal may be handled with another goroutine on the same thread.
        let on_thread = || stacks.values().find(|it| it["tid"].as_u64() == joined.thread);
        let of_thread = joined.thread.and_then(|_| on_thread());
        let stack = stacks.get(&joined.goroutine).or(of_thread);
        let stack = stack.unwrap_or_else(|| panic!("{name}"));
        let wanted: Vec<&String> =
            joined.functions.iter().filter(|function| is_named(function, is_stripped)).collect();
        let own: Vec<String> =
            frames(stack).into_iter().map(|(function, _)| spelled(&function)).collect();
        let own: Vec<&String> = own.iter().filter(|own| wanted.contains(own)).collect();
        assert_eq!(own, wanted, "{name}: {stack}");
        assert_eq!(stack["end"]["reason"], "outermost", "{name}: {stack}");
        let frames = stack["frames"].as_array().expect("frames");
        let guess = frames.iter().find(|frame| frame["guess"] == true);
        assert_eq!(guess, None, "{name}");
        if let Some(thread) = joined.thread {
            assert_eq!(stack["tid"], thread, "{name}: {stack}");
        }
    }
}

#[test]
fn frames_of_both_languages_stand_in_their_order() {
    for case in cases("go-cgo") {
        let (core, told) = (open(&case), told(&case.dir));
        assert_eq!(told.len(), 7, "{}", core.name);
        check(&core, told, case.name().contains("stripped"));
    }
}

/// Once a panic passed calls of C, their stack is used again: Go's own traces lead past the C, and so does kcore.
#[test]
fn a_panic_in_go_that_c_called_has_all_frames_of_go() {
    for case in cases("go-callback") {
        let core = open(&case);
        let text = fs::read_to_string(case.dir.join("output.txt")).expect("what it printed");
        let (_, trace) = text.split_once("\n\n").expect("a trace");
        let printed = crate::trace::parse(trace).remove(0);
        let printed = printed.frames.into_iter().map(|(function, _)| spelled(&function));
        let wanted: Vec<String> =
            printed.filter(|function| crate::trace::is_shown(function)).collect();
        assert_eq!(wanted.iter().filter(|it| *it == "main.outer").count(), 3, "{wanted:?}");
        let stack = core.records("0t1::stack").remove(0);
        let own = frames(&stack).into_iter().map(|(function, _)| spelled(&function));
        let own: Vec<String> = own.filter(|function| crate::trace::is_shown(function)).collect();
        assert!(own.ends_with(&wanted), "{}: {own:?}, not {wanted:?}", core.name);
        assert_eq!(stack["end"]["reason"], "outermost", "{}", core.name);
        let notes = stack["notes"].as_array().expect("notes");
        let gaps = notes.iter().filter(|note| note.to_string().contains("frames of C"));
        assert_eq!(gaps.count(), 1, "{}: {notes:?}", core.name);
    }
}

/// Where C takes part in a program, Go has it make its threads: all but the first one begin in C.
#[test]
fn threads_that_c_made_for_go_begin_in_c() {
    for case in cases("go-cgo") {
        let core = open(&case);
        let stacks = core.records("::walk thread | ::stack");
        let behind = |stack: &Value| -> Option<Vec<Value>> {
            let frames = stack["frames"].as_array()?;
            let start = frames.iter().position(|frame| frame["function"] == "runtime.mstart")?;
            Some(frames[start + 1..].to_vec())
        };
        let begun: Vec<_> = stacks.iter().filter_map(|it| Some((it, behind(it)?))).collect();
        assert!(begun.len() > 1, "{}: {stacks:?}", core.name);
        for (stack, behind) in &begun {
            let first = stack["tid"] == case.truth().expect("a truth").pid;
            assert_eq!(stack["end"]["reason"], "outermost", "{}: {stack}", core.name);
            let is_of_c = |frame: &Value| {
                frame["module"].as_str().is_some_and(|name| name.starts_with("libc.so"))
            };
            assert!(first || behind.last().is_some_and(is_of_c), "{}: {stack}", core.name);
        }
    }
}

#[test]
fn goroutines_in_c_are_said_to_be_there() {
    for case in cases("go-cgo") {
        let core = open(&case);
        let sleeping = told(&case.dir).into_iter().filter(|it| it.functions[0] == "c_sleep");
        let mut sleeping: Vec<u64> = sleeping.map(|joined| joined.goroutine).chain([1]).collect();
        let listed = core.records("::goroutines");
        let in_c = listed.iter().filter(|record| record["in_c"] == true);
        let mut in_c: Vec<u64> = in_c.filter_map(|record| record["id"].as_u64()).collect();
        sleeping.sort_unstable();
        in_c.sort_unstable();
        assert_eq!(in_c, sleeping, "{}", core.name);
    }
}

/// The goroutines of a library, by what its own runtime printed.
fn told_by(case: &Case, file: &str) -> Vec<crate::trace::Told> {
    crate::trace::parse(&fs::read_to_string(case.dir.join(file)).expect("what it told"))
}

#[test]
fn each_library_of_go_has_its_own_goroutines() {
    for case in cases("go-shared") {
        let core = open(&case);
        let listed = core.records("::goroutines");
        let stacks = core.records("::walk goroutine | ::stack");
        for (module, file) in
            [("libfirst.so", "trace-first.txt"), ("libsecond.so", "trace-second.txt")]
        {
            let own: Vec<&Value> = listed.iter().filter(|it| it["module"] == module).collect();
            let parked: Vec<crate::trace::Told> = told_by(&case, file)
                .into_iter()
                .filter(|told| told.state.starts_with("chan receive"))
                .collect();
            assert!(parked.len() >= 4, "{} {module}: {}", core.name, parked.len());
            for told in parked {
                let name = format!("{} {module} {}", core.name, told.id);
                let record = own.iter().find(|record| record["id"] == told.id);
                let record = record.unwrap_or_else(|| panic!("{name}: {own:?}"));
                assert_eq!(record["reason"], "chan receive", "{name}");
                let task = [told.id, hex(&record["g"])];
                let stack = stacks.iter().find(|stack| {
                    let of_library = |frame: &Value| frame["module"] == module;
                    let frames = stack["frames"].as_array().expect("frames");
                    number(stack).is_some_and(|id| task.contains(&id))
                        && frames.iter().any(of_library)
                });
                let stack = stack.unwrap_or_else(|| panic!("{name}"));
                let functions: Vec<String> =
                    frames(stack).into_iter().map(|(function, _)| function).collect();
                let count = |all: &mut dyn Iterator<Item = &str>| {
                    all.filter(|function| *function == "main.parked").count()
                };
                let wanted = count(&mut told.frames.iter().map(|(function, _)| &**function));
                assert_eq!(count(&mut functions.iter().map(String::as_str)), wanted, "{name}");
            }
        }
        let dying = core.records("::stack").remove(0);
        let names: Vec<String> = frames(&dying).into_iter().map(|(function, _)| function).collect();
        let wanted =
            ["c_ends", "main.callNative", "main.callBack", "callBack", "c_begins_end", "main"];
        let shown: Vec<&String> = names.iter().filter(|name| wanted.contains(&&***name)).collect();
        assert_eq!(shown, wanted, "{}: {names:?}", core.name);
    }
}

fn hex(value: &Value) -> u64 {
    let digits = value.as_str().and_then(|text| text.strip_prefix("0x")).expect("an address");
    u64::from_str_radix(digits, 16).expect("an address")
}

#[test]
fn a_thread_of_c_shows_the_go_that_it_waits_in() {
    for case in cases("go-shared") {
        let core = open(&case);
        let stacks = harness::json_on(&core.core, "::walk thread | ::stack");
        let waiting = stacks.iter().filter(|stack| {
            let names: Vec<String> = frames(stack).into_iter().map(|(name, _)| name).collect();
            let at = |wanted: &str| names.iter().position(|name| name == wanted);
            matches!((at("main.parked"), at("c_thread")), (Some(go), Some(c)) if go < c)
        });
        assert_eq!(waiting.count(), 2, "{}", core.name);
    }
}

#[test]
fn code_of_plugins_and_of_the_race_detector_is_as_go_prints_it() {
    for scenario in ["go-plugin", "go-race"] {
        for case in cases(scenario) {
            let core = Opened::of(&case);
            let stacks = by_goroutine(&core);
            let parked: Vec<_> =
                core.told.iter().filter(|told| told.state.starts_with("chan receive")).collect();
            assert!(parked.len() >= 3, "{}: {}", core.name, parked.len());
            for told in parked {
                let stack =
                    stacks.get(&told.id).unwrap_or_else(|| panic!("{} {}", core.name, told.id));
                let shown: Vec<_> = frames(stack)
                    .into_iter()
                    .filter(|(function, _)| crate::trace::is_shown(function))
                    .collect();
                assert_eq!(shown, told.frames, "{} {}: {stack}", core.name, told.id);
            }
        }
    }
}
