//! Processes that end by a fault in compiled code or in native code, or because native code gives up.

use serde_json::Value;

use crate::{Opened, cases, java_frames};

/// The stack of the thread that died.
fn dying(core: &Opened) -> Value {
    let main = core.listed().into_iter().find(|record| record["name"] == "main").expect("main");
    let tid = main["thread"].as_u64().expect("a thread");
    core.records(&format!("0t{tid}::stack")).remove(0)
}

#[test]
fn the_stack_of_the_thread_that_died_is_what_java_told() {
    for core in cases("java-crash").iter().map(Opened::of) {
        let stack = dying(&core);
        if core.has("uncaught") {
            // What told was left when the exception was thrown.
            continue;
        }
        let frames = java_frames(&stack);
        let told = &core.told[0].frames;
        // The innermost ones of Java called on after the program told; the last one that told goes on in another line.
        let from = frames.len().checked_sub(told.len()).expect("all that was told");
        let shown: Vec<&str> = frames[from..].iter().map(|frame| &*frame.function).collect();
        let names: Vec<&str> = told.iter().map(|(function, _)| &**function).collect();
        assert_eq!(shown, names, "{}: {stack}", core.name);
        let places = frames[from + 1..].iter().map(|frame| &*frame.place);
        assert!(places.eq(told[1..].iter().map(|(_, place)| &**place)), "{}: {stack}", core.name);
        let inner: Vec<&str> = frames[..from].iter().map(|frame| &*frame.function).collect();
        let called = match core.name.rsplit('-').next() {
            Some("native") => "Crash.fault",
            Some("abort") => "Crash.giveUp",
            Some("memory") => "Crash.fill",
            _ => "Crash.poke",
        };
        assert!(inner.contains(&called), "{}: {inner:?}", core.name);
        assert_eq!(stack["end"]["reason"], "outermost", "{}: {stack}", core.name);
    }
}

#[test]
fn native_code_that_java_called_is_on_the_stack() {
    for core in cases("java-crash").iter().map(Opened::of) {
        let stack = dying(&core);
        let frames = stack["frames"].as_array().expect("frames").iter();
        let names: Vec<&str> = frames.filter_map(|frame| frame["function"].as_str()).collect();
        let wanted: &[&str] = match core.name.rsplit('-').next() {
            Some("native") => &["deep", "Java_Crash_fault", "Crash.fault"],
            Some("abort") => &["abort", "Java_Crash_giveUp", "Crash.giveUp"],
            Some("uncaught") => &[
                "abort",
                "Java_Crash_giveUp",
                "Crash.giveUp",
                "java.lang.Thread.dispatchUncaughtException",
            ],
            Some("memory") => &["abort", "Crash.fill", "Crash.work"],
            _ => &["Crash.poke", "Crash.work"],
        };
        let mut rest = names.iter();
        let all = wanted.iter().all(|wanted| rest.any(|name| name == wanted));
        assert!(all, "{}: {names:?}", core.name);
    }
}

#[test]
fn an_exception_that_was_on_its_way_is_told() {
    for core in cases("java-crash").iter().map(Opened::of).filter(|core| core.has("abort")) {
        let status = core.records("::status");
        let text = format!("{status:?}");
        assert!(text.contains("java.lang.IllegalStateException"), "{}: {text}", core.name);
        assert!(text.contains("told by native code"), "{}: {text}", core.name);
    }
}

#[test]
fn an_exception_that_nobody_caught_is_told_with_its_stack() {
    let mut count = 0;
    for case in cases("java-crash") {
        let core = Opened::of(&case);
        if !core.has("uncaught") {
            continue;
        }
        let status = core.records("::status").remove(0);
        assert_eq!(status["exception_type"], "java.lang.IllegalArgumentException", "{}", core.name);
        assert_eq!(status["exception_what"], "nobody catches it", "{}: {status}", core.name);
        assert_eq!(status["exception_fate"], "uncaught", "{}: {status}", core.name);
        let told = std::fs::read_to_string(case.dir.join("thrown.txt")).expect("it told");
        let told: Vec<&str> = told.lines().collect();
        let shown = status["exception_stack"].as_array().expect("a trace").iter();
        let shown: Vec<&str> = shown.filter_map(Value::as_str).collect();
        assert_eq!(shown, told, "{}: {status}", core.name);
        let line = "::findjavaobjects java.lang.IllegalArgumentException | ::head -1 | ::javaprint backtrace";
        let printed = core.records(line).pop().expect("a value");
        let frames = printed["values"][0]["value"]["children"].as_array().expect("frames").iter();
        let frames: Vec<&str> = frames.filter_map(|frame| frame["value"].as_str()).collect();
        assert_eq!(frames, told, "{}: {printed}", core.name);
        count += 1;
    }
    assert!(count > 0, "no case has an exception that nobody caught");
}

#[test]
fn memory_that_ran_out_is_told() {
    for core in cases("java-crash").iter().map(Opened::of).filter(|core| core.has("memory")) {
        let status = core.records("::status").remove(0);
        let message = status["fatal_error"].as_str().unwrap_or_default();
        assert_eq!(message, "OutOfMemory encountered: Java heap space", "{}: {status}", core.name);
    }
}

#[test]
fn the_error_file_beside_the_core_is_told() {
    for case in cases("java-crash") {
        let entries = std::fs::read_dir(&case.dir).expect("a folder").filter_map(Result::ok);
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let Some(name) = { names }.find(|name| name.starts_with("hs_err_pid")) else { continue };
        let core = Opened::of(&case);
        let status = core.records("::status").remove(0);
        let file = status["error_file"].as_str().unwrap_or_else(|| panic!("{}", core.name));
        assert!(file.ends_with(&name), "{}: {status}", core.name);
        let lines = status["error_file_lines"].to_string();
        assert!(lines.contains("has been detected by the Java Runtime"), "{}: {lines}", core.name);
    }
}
