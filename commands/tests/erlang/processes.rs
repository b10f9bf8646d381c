//! Lists of processes and tables, and the stacks of processes that wait.

use serde_json::Value;

use crate::{Opened, cases, made, number, text};

/// Processes that go on working while others are told of.
const BUSY: [&str; 4] = ["director", "busy", "fifo", "code_server"];

#[test]
fn processes_are_as_process_info_has_them() {
    for opened in cases().iter().map(Opened::of) {
        let (rows, told) = (opened.rows(), opened.told("processes.jsonl"));
        assert!(told.len() > 80, "{}: {} told", opened.name, told.len());
        for process in told.iter().filter(|process| !is_busy(process)) {
            let pid = text(&process["pid"]);
            let row = rows.get(&pid).unwrap_or_else(|| panic!("{}: no {pid}", opened.name));
            for key in ["state", "current", "initial", "messages"] {
                assert_eq!(row[key], process[key], "{}: {key} of {pid} {process}", opened.name);
            }
            if is_still(process) {
                assert_eq!(row["heap_bytes"], process["heap_bytes"], "{}: {pid}", opened.name);
            }
            // To answer is work too.
            let reductions = |of: &Value| of["reductions"].as_u64();
            assert!(reductions(row) >= reductions(process), "{}: {pid}", opened.name);
            let registered = row.get("registered").cloned().unwrap_or_default();
            assert_eq!(registered, process["registered"], "{}: {pid}", opened.name);
        }
        let living = told.len() + 3;
        assert_eq!(rows.len(), living, "{}: those that ended are gone", opened.name);
    }
}

/// Whether a process works while others are told of.
fn is_busy(process: &Value) -> bool {
    BUSY.contains(&text(&process["registered"]).as_str())
}

/// Whether a process is one of the program's own, which do nothing.
fn is_still(process: &Value) -> bool {
    text(&process["initial"]).starts_with("main:")
}

#[test]
fn stacks_are_as_process_info_has_them() {
    for opened in cases().iter().map(Opened::of) {
        let told = opened.told("processes.jsonl");
        for process in told.iter().filter(|process| !is_busy(process)) {
            let pid = text(&process["pid"]);
            let told = process["stack"].as_array().expect("frames").iter();
            let line = |frame: &Value| frame["line"].as_u64().filter(|line| *line != 0);
            let told = told.map(|frame| (text(&frame["function"]), line(frame)));
            // Erlang leaves out return addresses that are the same as the one before.
            let (mut told, mut shown): (Vec<_>, _) = (told.collect(), opened.stack(&pid));
            told.dedup();
            shown.dedup();
            // One that hibernates, or has not begun, has no stack, and the function that it goes on with is shown.
            if told.is_empty() {
                told.push((text(&process["current"]), None));
            }
            assert_eq!(shown, told, "{}: {pid}", opened.name);
        }
    }
}

#[test]
fn deep_calls_are_all_shown() {
    for opened in cases().iter().map(Opened::of) {
        let pid = text(&opened.named("deep")["pid"]);
        let deep = opened.stack(&pid).into_iter().filter(|(name, _)| name == "main:deep/1");
        assert_eq!(deep.count(), 41, "{}", opened.name);
    }
}

#[test]
fn tables_are_as_ets_has_them() {
    for opened in cases().iter().map(Opened::of) {
        let shown = opened.of_type("::erlets", "ets_table");
        let told = opened.told("tables.jsonl");
        assert_eq!(shown.len(), told.len(), "{}", opened.name);
        for table in told {
            let own = ["names", "numbers", "written"].contains(&text(&table["name"]).as_str());
            let is_it = |row: &&Value| {
                ["name", "owner", "key_position", "holds"].iter().all(|key| row[key] == table[key])
            };
            let rows: Vec<&Value> = shown.iter().filter(is_it).collect();
            assert!(!rows.is_empty(), "{}: {table}", opened.name);
            if own && !rows[0]["objects"].is_null() {
                assert_eq!(rows[0]["objects"], table["objects"], "{}: {table}", opened.name);
                assert_eq!(rows[0]["bytes"], table["bytes"], "{}: {table}", opened.name);
            }
        }
        let kind = |name: &str| {
            let row = shown.iter().find(|row| row["name"] == name).expect("the table");
            text(&row["table_kind"])
        };
        assert_eq!(["names", "numbers", "written"].map(kind), ["tree", "hash", "catree"]);
        assert_eq!(["several", "repeated"].map(kind), ["hash", "hash"]);
    }
}

#[test]
fn filters_and_groups_count_the_same() {
    for opened in cases().iter().map(Opened::of) {
        let count = |line: &str| opened.of_type(line, "erlang_process").len();
        assert_eq!(count("::erlprocesses -f main:parked"), 51, "{}", opened.name);
        assert_eq!(count("::erlprocesses -s suspended"), 1, "{}", opened.name);
        assert_eq!(count("::erlprocesses -m 1 -n talker"), 1, "{}", opened.name);
        let groups = opened.of_type("::erlprocesses -u", "erlang_process_group");
        let all: u64 = groups.iter().filter_map(|group| group["count"].as_u64()).sum();
        assert_eq!(all, opened.rows().len() as u64, "{}", opened.name);
        let tasks = opened.of_type("::tasks", "task");
        assert_eq!(tasks.len() as u64, all, "{}", opened.name);
        assert!(tasks.iter().all(|task| text(&task["shown_id"]).starts_with("<0.")));
        let walked = opened.of_type("::walk erlprocess | ::stack", "stack");
        assert_eq!(walked.len() as u64, all, "{}", opened.name);
    }
}

#[test]
fn one_process_is_shown_by_its_number() {
    for opened in cases().iter().map(Opened::of) {
        let talker = opened.named("talker");
        let line = format!("0t{}::erlprocesses", number(&text(&talker["pid"])));
        assert_eq!(opened.of_type(&line, "erlang_process"), [talker], "{}", opened.name);
        let missing = opened.records("0t999999::erlprocesses");
        let said = missing.iter().map(ToString::to_string).collect::<String>();
        assert!(said.contains("no process of Erlang <0.999999.0>"), "{said}");
    }
}

#[test]
fn a_wait_with_a_time_says_so() {
    for opened in cases().iter().map(Opened::of) {
        assert_eq!(opened.named("sleeper")["timeout"], true, "{}", opened.name);
        assert_eq!(opened.named("talker")["timeout"], false, "{}", opened.name);
    }
}

#[test]
fn the_runtime_says_its_version() {
    for opened in cases().iter().map(Opened::of) {
        let found = opened.of_type("::runtimes", "runtime");
        let erlang = found.iter().find(|it| it["name"] == "erlang").expect("Erlang");
        let release = if opened.name.contains("25") { "25, erts 13." } else { "27, erts 15." };
        assert!(text(&erlang["version"]).starts_with(release), "{erlang}");
        assert!(text(&erlang["metadata"]).starts_with("the layouts of release 2"), "{erlang}");
    }
}

#[test]
fn a_process_without_erlang_is_said_to_have_none() {
    let Some(case) = made::made("rust-threads", "release-pie") else { return };
    let records = Opened::of(&case).records("::erlprocesses");
    let text = records.iter().map(ToString::to_string).collect::<String>();
    assert!(text.contains("no Erlang in this process"), "{text}");
}
