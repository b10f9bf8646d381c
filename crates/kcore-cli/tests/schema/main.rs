//! The output of every dcmd against the schema in `docs/`, and the schema against its page.

mod conform;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gen_cores::Outcome;
use kcore_commands::DCMDS;
use kcore_dcmd::Group;
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn schema() -> Value {
    let text = std::fs::read_to_string(root().join("docs/kcore.schema.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The records that a command writes on a committed core.
fn records(core: &str, command: &str) -> Vec<Value> {
    records_of(&root().join("testdata").join(core), command)
}

/// The records that a command writes on a core.
fn records_of(core: &Path, command: &str) -> Vec<Value> {
    let text = written(core, "--json", command);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The output of a command with an option on a core, all of which is printable ASCII.
fn written(core: &Path, option: &str, command: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_kcore"))
        .args(["--no-rc", option, "-c", command])
        .arg(core)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let raw = output.stdout.iter().find(|byte| !matches!(byte, b' '..=b'~' | b'\n'));
    assert_eq!(raw, None, "{command}");
    String::from_utf8(output.stdout).unwrap()
}

/// Leaves out the keys that are null, at every depth.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(_, value)| !value.is_null());
            members.map(|(key, value)| (key, without_nulls(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

/// Asserts that each record is what the schema says of its type; gives the types.
fn check(schema: &Value, command: &str, records: &[Value]) -> BTreeSet<String> {
    let mut types = BTreeSet::new();
    for record in records {
        let kind = record["type"].as_str().unwrap().to_owned();
        let name = format!("#/$defs/record_{kind}");
        if let Err(error) = conform::check(schema, &json!({ "$ref": name }), record, &kind) {
            panic!("{command}: {error}\nin {record}");
        }
        types.insert(kind);
    }
    types
}

#[test]
fn the_schema_takes_every_record_that_it_defines() {
    let schema = schema();
    let defined = schema["$defs"].as_object().unwrap().keys();
    let defined: BTreeSet<String> = defined
        .filter(|name| name.starts_with("record_"))
        .map(|name| format!("#/$defs/{name}"))
        .collect();
    let taken = schema["oneOf"].as_array().unwrap().iter();
    let taken: BTreeSet<String> =
        taken.map(|rule| rule["$ref"].as_str().unwrap().to_owned()).collect();
    assert_eq!(taken, defined);
}

#[test]
fn every_dcmd_writes_what_the_schema_says() {
    let schema = schema();
    for core in ["workers/x86_64/core.zst", "abort/x86_64/core.zst", "nodes/x86_64/core.zst"] {
        let mut seen = BTreeSet::new();
        for dcmd in DCMDS {
            // What a shell command prints is no record.
            let examples = dcmd.spec().examples.iter();
            for example in examples.filter(|example| !example.line.contains('!')) {
                let records = records(core, example.line);
                assert_eq!(records[0]["type"], "header", "{}", example.line);
                seen.extend(check(&schema, example.line, &records));
            }
        }
        for wanted in ["status", "stack", "stack_group", "thread", "registers", "mapping"] {
            assert!(seen.contains(wanted), "{core}: no dcmd wrote a {wanted}");
        }
    }
}

#[test]
fn what_is_told_of_several_cores_is_written_as_the_schema_says() {
    let cores =
        ["workers", "nodes"].map(|name| root().join(format!("testdata/{name}/x86_64/core.zst")));
    for (word, wanted) in [
        ("triage", vec!["triage"]),
        ("stacks", vec!["compared_core", "compared_stack"]),
        ("diff", vec!["compared_core", "diff", "changed_stack"]),
    ] {
        let kcore =
            Command::new(env!("CARGO_BIN_EXE_kcore")).args([word, "--json"]).args(&cores).output();
        let output = String::from_utf8(kcore.unwrap().stdout).unwrap();
        let records: Vec<Value> =
            output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let seen = check(&schema(), word, &records);
        assert!(wanted.iter().all(|kind| seen.contains(*kind)), "{word}: {seen:?}");
    }
}

#[test]
fn what_is_caught_is_written_as_the_schema_says() {
    let mut sleeps = Command::new("sleep").arg("60").spawn().unwrap();
    let pid = sleeps.id().to_string();
    let words = ["catch", "--json", "--within", "60", &pid, "exit", "-c", "::status"];
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    let kcore = kcore.args(words).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{pid}/status");
    while std::fs::read_to_string(&status).unwrap().contains("TracerPid:\t0\n") {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    sleeps.kill().unwrap();
    let output = String::from_utf8(kcore.wait_with_output().unwrap().stdout).unwrap();
    sleeps.wait().unwrap();
    let records: Vec<Value> =
        output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seen = check(&schema(), "catch", &records);
    assert!(seen.contains("caught_event") && seen.contains("status"), "{seen:?}");
}

#[test]
fn what_is_watched_is_written_as_the_schema_says() {
    let mut sleeps = Command::new("sleep").arg("60").spawn().unwrap();
    let pid = sleeps.id().to_string();
    for words in [&["-i", "0.1", "-n", "1"][..], &["--until", "threads=1"]] {
        let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
        let output = kcore.args(["watch", "--json", &pid]).args(words).output().unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        let records: Vec<Value> =
            output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let seen = check(&schema(), "watch", &records);
        assert!(seen.contains("watch") && seen.contains("watched_stack"), "{seen:?}");
    }
    sleeps.kill().unwrap();
    sleeps.wait().unwrap();
}

#[test]
fn tables_of_functions_are_written_as_the_schema_says() {
    let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    let pid = busy.id().to_string();
    let output = kcore.args(["top", "--json", "-n", "1", &pid]).output().unwrap();
    busy.kill().unwrap();
    busy.wait().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let records: Vec<Value> =
        output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seen = check(&schema(), "top", &records);
    assert!(seen.contains("top") && seen.contains("top_function"), "{seen:?}");
}

#[test]
fn dcmds_of_javascript_write_what_the_schema_says() {
    let schema = schema();
    let case = match gen_cores::ensure("node-waiting", "node24").expect("a core") {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
    };
    let mut seen = BTreeSet::new();
    let of_runtimes = DCMDS.iter().filter(|dcmd| dcmd.spec().group == Group::Runtimes);
    let examples = of_runtimes.flat_map(|dcmd| dcmd.spec().examples).map(|example| example.line);
    for line in examples.chain(["::jsstack -avn 2"]).filter(|line| !line.contains('!')) {
        seen.extend(check(&schema, line, &records_of(&case.core, line)));
    }
    for wanted in ["js_stack", "js_frame", "js_value", "js_source", "js_variable", "v8_object"] {
        assert!(seen.contains(wanted), "no dcmd wrote a {wanted}: {seen:?}");
    }
}

#[test]
fn dcmds_of_bthreads_write_what_the_schema_says() {
    let schema = schema();
    let case = match gen_cores::ensure("bthreads", "O2-pie").expect("a core") {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
    };
    let mut seen = BTreeSet::new();
    let lines = ["::bthreads", "::bthreads -s", "::bthreads | ::stack", "::stacks", "::runtimes"];
    for line in lines.into_iter().chain(["::walk bthread"]) {
        seen.extend(check(&schema, line, &records_of(&case.core, line)));
    }
    for wanted in ["bthread", "bthread_frame", "stack", "stack_group", "runtime", "element"] {
        assert!(seen.contains(wanted), "no dcmd wrote a {wanted}: {seen:?}");
    }
}

#[test]
fn goroutines_are_written_as_the_schema_says() {
    let case = match gen_cores::ensure("go-waits", "go1.19").expect("a core") {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
    };
    let mut seen = BTreeSet::new();
    let lines = [
        "::goroutines",
        "::goroutines -u",
        "::goroutines | ::goroutine",
        "::goroutines | ::goroutine -t",
        "::goroutines -r chan | ::channel",
        "::status",
    ];
    for line in lines {
        seen.extend(check(&schema(), line, &records_of(&case.core, line)));
    }
    let wanted =
        ["goroutine", "goroutine_group", "goroutine_trace", "goroutine_trace_frame", "channel"];
    for wanted in wanted {
        assert!(seen.contains(wanted), "no dcmd wrote a {wanted}: {seen:?}");
    }
}

#[test]
fn timers_and_contexts_are_written_as_the_schema_says() {
    let case = match gen_cores::ensure("go-timers", "go1.19").expect("a core") {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
    };
    for (line, wanted) in [
        ("::gotimers", "go_timer"),
        ("::gocontexts", "go_context"),
        ("::gofinalizers", "go_special"),
        ("::goroutines", "goroutine"),
    ] {
        let seen = check(&schema(), line, &records_of(&case.core, line));
        assert!(seen.contains(wanted), "no {wanted}: {seen:?}");
    }
}

#[test]
fn fibers_are_written_as_the_schema_says() {
    let case = match gen_cores::ensure("fibers", "O2-pie").expect("a core") {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
    };
    let mut seen = BTreeSet::new();
    for line in ["::fibers", "::fibers | ::stack", "::stacks", "::runtimes", "::walk fiber"] {
        seen.extend(check(&schema(), line, &records_of(&case.core, line)));
    }
    for wanted in ["fiber", "stack", "stack_group", "runtime", "element"] {
        assert!(seen.contains(wanted), "no dcmd wrote a {wanted}: {seen:?}");
    }
}

#[test]
fn contexts_are_written_as_the_schema_says() {
    let case = match gen_cores::ensure("ucontexts", "O2-pie").expect("a core") {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
    };
    let mut seen = BTreeSet::new();
    for line in ["::findcontexts", "::findcontexts | ::stack"] {
        seen.extend(check(&schema(), line, &records_of(&case.core, line)));
    }
    assert!(["found_context", "stack"].iter().all(|wanted| seen.contains(*wanted)), "{seen:?}");
}

#[test]
fn dcmds_of_python_write_what_the_schema_says() {
    let schema = schema();
    let cases = [
        (
            "python-stack",
            "::pystack -v; ::pyobjects -n 5; ::pyobjects -c Thread | ::pyobjects -r; ::pystack -p big | ::pyobjects -r; ::pystack -p numbers | ::pyprint -a",
        ),
        (
            "python-stack",
            "::classes; ::classes -r; ::classes -c Thread; ::classes -c Thread | ::refs",
        ),
        ("python-stack", "::classes -c Thread | ::path; ::classes -c module | ::refs -w"),
        ("python-async", "::pytasks; ::pystack -p tasks; ::pystack -p tasks | ::pyprint [0]"),
    ];
    let mut seen = BTreeSet::new();
    for (scenario, lines) in cases {
        let case = match gen_cores::ensure(scenario, "python3.11").expect("a core") {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
        };
        for line in lines.split("; ") {
            seen.extend(check(&schema, line, &records_of(&case.core, line)));
        }
    }
    let of_heap = ["class", "heap_object", "heap_reference", "root", "path_step"];
    for wanted in of_heap {
        assert!(seen.contains(wanted), "no dcmd wrote a {wanted}: {seen:?}");
    }
    for line in ["::greenlets", "::greenlets | ::stack", "::walk greenlet"] {
        let case = match gen_cores::ensure("greenlets", "python3.13").expect("a core") {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
        };
        seen.extend(check(&schema, line, &records_of(&case.core, line)));
    }
    assert!(seen.contains("greenlet"), "no dcmd wrote a greenlet: {seen:?}");
    for line in ["::trio", "::trio | ::stack", "::walk trio"] {
        let case = match gen_cores::ensure("trio", "python3.13").expect("a core") {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
        };
        seen.extend(check(&schema, line, &records_of(&case.core, line)));
    }
    assert!(seen.contains("trio_task"), "no dcmd wrote a task of trio: {seen:?}");
    for line in ["::tokio", "::tokio | ::stack", "::walk tokio", "::tasks", "::tasks -u"] {
        let case = match gen_cores::ensure("tokio-tasks", "release-pie").expect("a core") {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
        };
        seen.extend(check(&schema, line, &records_of(&case.core, line)));
    }
    for wanted in ["tokio_task", "task", "task_group"] {
        assert!(seen.contains(wanted), "no dcmd wrote a {wanted}: {seen:?}");
    }
    for line in ["::coroutines", "::coroutines -u", "::walk coroutine | ::stack"] {
        let case = match gen_cores::ensure("cpp-coroutines", "O2-pie").expect("a core") {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
        };
        seen.extend(check(&schema, line, &records_of(&case.core, line)));
    }
    for wanted in ["coroutine", "coroutine_group"] {
        assert!(seen.contains(wanted), "no dcmd wrote a {wanted}: {seen:?}");
    }
    for wanted in ["py_stack", "py_value", "py_address", "py_group", "py_task", "py_reference"] {
        assert!(seen.contains(wanted), "no dcmd wrote a {wanted}: {seen:?}");
    }
    assert!(!seen.contains("error"), "{seen:?}");
}

#[test]
fn dcmds_of_erlang_write_what_the_schema_says() {
    const LINES: [&str; 7] = [
        "::erlprocesses",
        "::erlprocesses -u",
        "::erlprocesses -m 1 | ::erlmessages",
        "::erlprocesses -m 1 | ::erlmessages | ::erlprint",
        "::erlets",
        "::erlschedulers",
        "::walk erlprocess | ::stack",
    ];
    const RECORDS: [&str; 6] = [
        "erlang_process",
        "erlang_process_group",
        "erlang_message",
        "erlang_term",
        "ets_table",
        "erlang_scheduler",
    ];
    let case = match gen_cores::ensure("erlang-processes", "erlang25").expect("a core") {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
    };
    let schema = schema();
    let checked = LINES.iter().flat_map(|line| check(&schema, line, &records_of(&case.core, line)));
    let seen: BTreeSet<String> = checked.collect();
    for wanted in RECORDS {
        assert!(seen.contains(wanted), "no dcmd wrote a {wanted}: {seen:?}");
    }
    assert!(!seen.contains("error"), "{seen:?}");
}

#[test]
fn dcmds_of_java_write_what_the_schema_says() {
    let schema = schema();
    let cases = [
        (
            "java-heap",
            "java25-g1",
            "::javaheap -n 3; ::javaheap -l -n 3; ::findjavaobjects Heap$Owner",
        ),
        ("java-heap", "java25-g1", "::findjavaobjects Heap$Shown | ::javaprint -a; ::classes -n 5"),
        ("java-threads", "java25", "::javathreads; ::javalocks"),
    ];
    let mut seen = BTreeSet::new();
    for (scenario, variant, lines) in cases {
        let case = match gen_cores::ensure(scenario, variant).expect("a core") {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
        };
        for line in lines.split("; ") {
            seen.extend(check(&schema, line, &records_of(&case.core, line)));
        }
    }
    let of_heap = ["java_value", "java_address", "java_class"];
    for wanted in of_heap.into_iter().chain(["java_thread", "java_lock", "java_deadlock"]) {
        assert!(seen.contains(wanted), "no dcmd wrote a {wanted}: {seen:?}");
    }
    assert!(!seen.contains("error"), "{seen:?}");
}

#[test]
fn errors_are_records_and_the_command_fails() {
    let records = records("workers/x86_64/core.zst", "::nosuch; 8/X; 0t1::thread; ::frame 99");
    let types = check(&schema(), "errors", &records);
    assert_eq!(types, BTreeSet::from(["error".to_owned(), "header".to_owned()]));
    assert_eq!(records.len(), 5, "{records:?}");
    assert_eq!(records[1]["command"], "::nosuch");
}

#[test]
fn an_error_of_no_command_has_null_for_it() {
    let records = records("workers/x86_64/core.zst", "]");
    check(&schema(), "]", &records);
    assert_eq!((&records[1]["type"], &records[1]["command"]), (&json!("error"), &Value::Null));
}

#[test]
fn a_reader_of_schema_1_takes_keys_that_it_does_not_know() {
    fn closed(rule: &Value) -> bool {
        match rule {
            Value::Object(members) => {
                rule.get("additionalProperties") == Some(&json!(false))
                    || members.values().any(closed)
            }
            Value::Array(items) => items.iter().any(closed),
            _ => false,
        }
    }
    assert!(!closed(&schema()));
}

#[test]
fn the_compact_form_leaves_out_what_is_null_and_nothing_else() {
    let cores = ["workers/x86_64/core.zst", "nodes/x86_64/core.zst"];
    let commands =
        ["::status; ::siginfo", "::walk thread | ::stack -v", "head::print -v", "::nosuch"];
    for (core, command) in cores.iter().flat_map(|core| commands.map(|command| (core, command))) {
        let core = root().join("testdata").join(core);
        let compact = written(&core, "--json=compact", command);
        let compact: Vec<Value> =
            compact.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let expected: Vec<Value> =
            records_of(&core, command).into_iter().map(without_nulls).collect();
        assert_eq!(compact, expected, "{command}");
    }
}

#[test]
fn integers_that_a_double_does_not_hold_are_texts() {
    let core = "workers/x86_64/core.zst";
    let value = |line: &str| records(core, line).pop().unwrap()["value"].clone();
    assert_eq!(value("0x20000000000000=E"), json!(1_u64 << 53));
    assert_eq!(value("0x20000000000001=E"), json!("9007199254740993"));
    assert_eq!(value("0xffdfffffffffffff=e"), json!("-9007199254740993"));
}

#[test]
fn the_crashed_stack_is_first_and_has_every_key() {
    let records = records("workers/x86_64/core.zst", "::walk thread | ::stack");
    assert_eq!(records.len(), 1 + 12);
    let crashed = &records[1];
    assert_eq!(crashed["current"], true);
    let frame = &crashed["frames"][0];
    assert_eq!((&frame["function"], &frame["trust"]), (&json!("parse_header"), &json!("context")));
    assert_eq!((&frame["module"], &frame["inline"]), (&json!("workers"), &json!(false)));
    assert!(frame["file"].as_str().unwrap().ends_with("main.c") && frame["line"].is_u64());
    assert_eq!(crashed["end"]["reason"], "outermost");
}

#[test]
fn the_page_explains_every_record_and_key() {
    let page = std::fs::read_to_string(root().join("docs/book/src/json.md")).unwrap();
    let schema = schema();
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        let Some(kind) = name.strip_prefix("record_") else { continue };
        assert!(page.contains(&format!("`{kind}`")), "docs/book/src/json.md does not name {kind}");
        for key in definition["properties"].as_object().unwrap().keys() {
            let explained = key == "type" || page.contains(&format!("| `{key}` |"));
            assert!(explained, "docs/book/src/json.md does not explain {kind}.{key}");
        }
    }
}
