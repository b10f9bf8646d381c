//! Which tasks there are, and what each waits for.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{Opened, cases};

#[test]
fn all_that_did_not_end_are_listed_and_no_others() {
    for core in cases().iter().map(Opened::of) {
        let told: BTreeSet<u64> =
            core.told().iter().filter_map(|told| told["id"].as_u64()).collect();
        let listed: BTreeSet<u64> = core.rows().into_keys().collect();
        assert!(told.len() > 20, "{}", core.name);
        assert_eq!(listed, told, "{}", core.name);
    }
}

#[test]
fn each_has_the_state_and_the_scheduler_that_the_program_told() {
    for core in cases().iter().map(Opened::of) {
        let rows = core.rows();
        for told in core.told() {
            let row = &rows[&told["id"].as_u64().expect("a number")];
            assert_eq!(row["state"], told["state"], "{}: {row:#}", core.name);
            assert_eq!(row["scheduler"], told["scheduler"], "{}: {row:#}", core.name);
        }
    }
}

#[test]
fn each_waits_for_what_the_program_told() {
    for core in cases().iter().map(Opened::of) {
        let rows = core.rows();
        for told in core.told().iter().filter(|told| told["state"] == "suspended") {
            let row = &rows[&told["id"].as_u64().expect("a number")];
            assert_eq!(row["waits_for"], told["waits"], "{}: {row:#}", core.name);
            let shown = row["waits_on"].as_str().unwrap_or_default();
            let which = told["which"].as_str().unwrap_or_default();
            match told["waits"].as_str().unwrap_or_default() {
                "io" => assert_eq!(shown, format!("fd {which}"), "{}", core.name),
                "task" => assert_eq!(shown, format!("task {which}"), "{}", core.name),
                "mutex" => assert_eq!(row["holder"].to_string(), which, "{}: {row:#}", core.name),
                "any" | "all" => {
                    let kind = told["waits"].as_str().unwrap_or_default();
                    assert!(shown.starts_with(&format!("{kind} of {which}: ")), "{shown}");
                }
                "timer" => assert!(shown.starts_with("timer "), "{shown}"),
                _ => {}
            }
        }
    }
}

#[test]
fn the_deadline_of_a_timer_is_an_hour_after_the_program_began() {
    let uptime = std::fs::read_to_string("/proc/uptime").expect("the time");
    let now: f64 = uptime.split(' ').next().and_then(|it| it.parse().ok()).expect("a number");
    for core in cases().iter().map(Opened::of) {
        let timers = core.rows().into_values().filter(|row| row["waits_for"] == "timer");
        let deadline = |row: Value| -> f64 {
            let text = row["waits_on"].as_str().and_then(|it| it.strip_prefix("timer "));
            let text = text.and_then(|text| text.split(',').next());
            text.and_then(|text| text.parse().ok()).expect("a time")
        };
        let deadlines: Vec<f64> = timers.map(deadline).collect();
        let (first, last) = deadlines
            .iter()
            .fold((f64::MAX, 0_f64), |(first, last), it| (first.min(*it), last.max(*it)));
        assert!(deadlines.len() > 5 && last - first < 60.0, "{}: {deadlines:?}", core.name);
        // The core may be of an earlier day, but not of a later one, unless the machine was started since.
        assert!(first > 3600.0 && (last < now + 3600.0 || now < last - 3600.0), "{deadlines:?}");
    }
}

#[test]
fn a_time_limit_is_said_beside_what_has_it() {
    for core in cases().iter().map(Opened::of) {
        let rows = core.rows();
        for told in core.told().iter().filter(|told| told["state"] == "suspended") {
            let row = &rows[&told["id"].as_u64().expect("a number")];
            let is_limited = told["frames"].to_string().contains("tokio_tasks::limited\"");
            let shown = row["waits_on"].as_str().unwrap_or_default();
            assert_eq!(shown.contains(", timeout "), is_limited, "{}: {row:#}", core.name);
        }
    }
}

#[test]
fn where_one_waits_is_no_line_of_a_macro() {
    for core in cases().iter().map(Opened::of) {
        let files = core.rows().into_values().map(|row| row["file"].to_string());
        let macros: Vec<String> = files.filter(|file| file.contains("/macros/")).collect();
        assert!(macros.is_empty(), "{}: {macros:?}", core.name);
    }
}

#[test]
fn runtimes_and_local_sets_have_lists_of_their_own() {
    for core in cases().iter().map(Opened::of) {
        let rows = core.rows();
        let lists: BTreeSet<u64> = rows.values().filter_map(|row| row["owner"].as_u64()).collect();
        assert_eq!(lists.len(), 4, "{}", core.name);
    }
}

#[test]
fn one_that_runs_is_its_threads() {
    for core in cases().iter().map(Opened::of) {
        let told = core.told().into_iter().find(|told| told["state"] == "running").expect("one");
        let id = told["id"].as_u64().expect("a number");
        let row = core.rows().remove(&id).expect("a row");
        assert_eq!(row["thread"].to_string(), told["which"].as_str().unwrap(), "{row:#}");
        let stack = core.records(&format!("{id:x}::stack")).remove(0);
        assert_eq!(stack["tid"], row["thread"], "{}: {stack:#}", core.name);
        let functions = stack["frames"].as_array().expect("frames").iter();
        let mut functions = functions.filter_map(|frame| frame["function"].as_str());
        assert!(functions.any(|it| it.contains("tokio_tasks::runs")), "{stack:#}");
    }
}
