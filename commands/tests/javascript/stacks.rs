//! `::jsstack` and `::jsframe` against the stacks that programs told.

use gen_cores::{Call, Thread};
use serde_json::Value;

use crate::{Opened, cores, told};

/// The scenarios whose stacks are compared.
const SCENARIOS: [&str; 6] =
    ["node-stack", "node-waiting", "node-async", "node-esm", "node-callback", "node-baseline"];

fn js_frames(core: &Opened, line: &str) -> Vec<Value> {
    let stack = core.one(line);
    let frames = stack["frames"].as_array().expect("frames");
    frames.iter().filter(|frame| frame["kind"] == "js").cloned().collect()
}

/// Whether a frame is where a call is: scripts without a name have none.
fn is_at(frame: &Value, call: &Call) -> bool {
    let file = frame["file"].as_str().and_then(|file| file.rsplit('/').next());
    file == call.file.as_deref()
        && frame["line"].as_u64() == call.line.map(u64::from)
        && call.scripted.column.is_none_or(|column| frame["column"] == column)
}

/// What a trace shows of a call, without its place.
fn shown(call: &Call) -> Option<&str> {
    let shown = call.scripted.shown.as_deref()?;
    Some(shown.split_once(" (").map_or("<anonymous>", |(name, _)| name))
}

#[test]
fn frames_are_those_that_the_program_told() {
    let mut compared = 0;
    for core in SCENARIOS.iter().flat_map(|scenario| cores(scenario)) {
        for thread in &core.truth.threads {
            let frames = js_frames(&core, &format!("0t{}::jsstack", thread.tid));
            let mut rest = frames.iter();
            for call in thread.calls().filter(|call| call.mark.is_none()) {
                let found = rest.find(|frame| is_at(frame, call) || call.file.is_none());
                let found = found.unwrap_or_else(|| panic!("{}: no {call:?}", core.name));
                let name = found["function"].as_str();
                let is_named = shown(call).is_none_or(|shown| name == Some(shown))
                    || found["inline"] == true
                    || call.file.is_none();
                assert!(is_named, "{}: {name:?} for {:?}", core.name, shown(call));
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "{compared} frames");
}

#[test]
fn receivers_and_arguments_are_those_that_the_program_told() {
    let (mut differences, mut count) = (Vec::new(), 0);
    for core in SCENARIOS.iter().flat_map(|scenario| cores(scenario)) {
        for thread in &core.truth.threads {
            let frames = js_frames(&core, &format!("0t{}::jsstack", thread.tid));
            let mut rest = frames.iter();
            for call in thread.calls().filter(|call| call.mark.is_none()) {
                let Some(frame) = rest.find(|frame| is_at(frame, call)) else { continue };
                if frame["inline"] == true || frame["tier"] == "turbofan" {
                    continue;
                }
                let told = call.scripted.args.iter().flatten();
                let operands = frame["arguments"].as_array().expect("arguments").iter();
                let pairs =
                    operands.zip(told).chain([&frame["this"]].into_iter().zip(&call.scripted.this));
                for (operand, told) in pairs {
                    count += 1;
                    let at = operand["address"].as_str().expect("an address");
                    let tree = core.one(&format!("{at}::jsprint -d 3"));
                    let what = told::differ(&tree["values"][0]["value"], told);
                    // An object of the embedder, or the global one, has the class that V8 gives it.
                    let what = what.filter(|_| operand["js_type"] != "JSGlobalProxy: global");
                    differences.extend(what.map(|what| {
                        format!("{} {:?} {}: {what}", core.name, call.function, operand["name"])
                    }));
                }
            }
        }
    }
    assert!(count > 100, "{count} values");
    assert!(
        differences.is_empty(),
        "{} of {count}:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
fn a_stack_of_all_languages_has_what_frames_of_javascript_were_called_on_and_with() {
    let (mut count, mut told_too) = (0, 0);
    for core in SCENARIOS.iter().flat_map(|scenario| cores(scenario)) {
        for thread in &core.truth.threads {
            let stack = core.one(&format!("0t{}::stack", thread.tid));
            let frames = stack["frames"].as_array().expect("frames").iter();
            let frames: Vec<&Value> = frames.filter(|frame| frame["kind"] == "js").collect();
            let known = js_frames(&core, &format!("0t{}::jsstack", thread.tid));
            assert_eq!(frames.len(), known.len(), "{} {}", core.name, thread.role);
            for (frame, known) in frames.iter().zip(&known) {
                let (of_stack, of_js) = (operands(frame), operands_of_js(known));
                assert_eq!(of_stack, of_js, "{} {}", core.name, known["function"]);
                count += of_js.len();
            }
            let mut rest = frames.iter().zip(&known);
            for call in thread.calls().filter(|call| call.mark.is_none()) {
                let Some((frame, known)) = rest.find(|(_, known)| is_at(known, call)) else {
                    continue;
                };
                if known["inline"] == true || known["tier"] == "turbofan" {
                    continue;
                }
                let args = frame["args"].as_array().expect("arguments").iter();
                let args = args.filter(|it| it["name"] != "this");
                for (own, told) in args.zip(call.scripted.args.iter().flatten()) {
                    let kinds = ["number", "boolean", "null", "undefined"];
                    if kinds.iter().any(|kind| told["type"] == *kind) {
                        assert_eq!(told::differ(&own["value"], told), None, "{}", core.name);
                        told_too += 1;
                    }
                }
            }
        }
    }
    assert!(count > 200 && told_too > 20, "{count} operands, {told_too} told by programs");
}

/// Names and addresses of the arguments that a frame of `::stack` has.
fn operands(frame: &Value) -> Vec<(String, Value)> {
    let args = frame["args"].as_array().into_iter().flatten();
    let operand = |it: &Value| {
        let name = it["name"].as_str().expect("a name").to_owned();
        (name, it["value"]["address"].clone())
    };
    args.map(operand).collect()
}

/// The same of a frame of `::jsstack`.
fn operands_of_js(frame: &Value) -> Vec<(String, Value)> {
    let arguments = frame["arguments"].as_array().into_iter().flatten();
    let all = [&frame["this"]].into_iter().filter(|this| !this.is_null()).chain(arguments);
    let operand =
        |it: &Value| (it["name"].as_str().expect("a name").to_owned(), it["address"].clone());
    all.map(operand).collect()
}

/// What awaits a thread's innermost function, as its program told: names and lines.
fn told_awaits(thread: &Thread) -> Vec<(String, Option<u32>)> {
    let told = thread.awaits.iter().map(|call| {
        let name = shown(call).unwrap_or_default().trim_start_matches("async ").to_owned();
        let name = match call.scripted.shown.as_deref() {
            Some(shown) if shown.contains("(index ") => {
                shown.trim_start_matches("async ").to_owned()
            }
            _ => name,
        };
        (name, call.line)
    });
    told.collect()
}

/// The same of frames in a record.
fn shown_awaits(frames: &Value) -> Vec<(String, Option<u32>)> {
    let frames = frames.as_array().expect("a list").iter().map(|frame| {
        let name = frame["function"].as_str().unwrap_or_default().to_owned();
        (name, frame["line"].as_u64().and_then(|line| u32::try_from(line).ok()))
    });
    frames.collect()
}

#[test]
fn what_awaits_is_what_the_program_told() {
    let mut compared = 0;
    for core in cores("node-async") {
        let told = told_awaits(core.truth.threads.first().expect("a thread"));
        let stack = core.one("::jsstack -a");
        assert_eq!(shown_awaits(&stack["awaiting"]), told, "{}", core.name);
        compared += told.len();
    }
    assert!(compared > 50, "{compared} functions await");
}

#[test]
fn what_waits_on_no_stack_is_listed_with_what_waits_for_it() {
    for core in cores("node-async") {
        let told = told_awaits(core.truth.threads.first().expect("a thread"));
        let rows = core.records("::jsawaiting");
        let chains: Vec<_> = rows.iter().map(|row| shown_awaits(&row["frames"])).collect();
        // What the innermost function's caller waits for is the longest of all chains.
        assert!(chains.contains(&told), "{}: {told:?} in {chains:?}", core.name);
        let first = |name: &str| {
            let of = |row: &&Value| row["frames"][0]["function"] == name;
            rows.iter().filter(of).collect::<Vec<_>>()
        };
        let (waits, then) = (first("waitsForever"), first("afterNever"));
        assert_eq!(waits.len(), 2, "{}: one by itself, one for another", core.name);
        assert!(waits.iter().any(|row| row["frames"][1]["function"] == "waitsForWaiter"));
        assert!(then.len() == 1 && then[0]["then"] == true, "{}: {then:?}", core.name);
        assert!(waits.iter().all(|row| row["promise"] == then[0]["promise"]), "{}", core.name);
    }
}

#[test]
fn what_no_frame_has_is_said() {
    for core in cores("node-waiting") {
        let errors = |line: &str| crate::harness::run_on(&core.core, line).errors;
        assert!(errors("::jsstack -f nosuch").contains("no frame of function nosuch"));
        assert!(errors("::jsstack -p nosuch").contains("unknown property -- nosuch"));
        assert!(errors("::jsstack -p arg99").contains("no such frame has arg99"));
        assert!(errors("::walk thread | ::jsstack -f waitFor -p this").is_empty());
    }
}

#[test]
fn a_frame_can_be_asked_for_by_its_pointer() {
    for core in cores("node-waiting") {
        let frames = js_frames(&core, "::jsstack");
        let named = |name: &str| {
            let found = frames.iter().find(|frame| frame["function"] == name);
            found.unwrap_or_else(|| panic!("{}: no {name}", core.name)).clone()
        };
        let inner = named("Lock.waitFor")["fp"].as_str().unwrap().to_owned();
        // It points to its caller's.
        assert_eq!(core.text(&format!("{inner}::jsframe")), "js:     Lock.acquire\n");
        assert_eq!(core.text(&format!("{inner}::jsframe -i")), "js:     Lock.waitFor\n");
        let walked = core.text("::walk jsframe | ::jsframe");
        let all = core.text("::jsstack ! grep js:");
        assert!(all.is_empty() || walked == all, "{}", core.name);
        let verbose = core.text(&format!("{inner}::jsframe -ivn 1"));
        for wanted in ["posn: line 13, column ", "(JSObject: Lock)", "> ", "Atomics.wait(this.cell"]
        {
            assert!(verbose.contains(wanted), "{}: {verbose}", core.name);
        }
    }
}

#[test]
fn threads_without_javascript_say_so() {
    for core in cores("node-waiting") {
        let shown = core.text("::walk thread | ::jsstack");
        let silent =
            shown.lines().filter(|line| line.ends_with("has no JavaScript frames")).count();
        assert_eq!(silent + 1, core.core.tids().len(), "{}: {shown}", core.name);
        let main = core.text("::jsstack -p this | ::head -n 3 | ::jsprint -d 1");
        assert!(main.contains("Lock {"), "{main}");
    }
}
