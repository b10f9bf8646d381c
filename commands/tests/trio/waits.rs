//! What tasks wait for, and until when.

use crate::{Opened, cases};

/// Whether two times in seconds are the same; the shown one has milliseconds.
fn is_same(shown: &serde_json::Value, told: &serde_json::Value) -> bool {
    let shown = shown.as_str().map(|text| text.parse::<f64>().expect("a number"));
    match (shown, told.as_f64()) {
        (Some(shown), Some(told)) => (shown - told).abs() < 0.0011,
        (shown, told) => shown.is_none() && told.is_none(),
    }
}

#[test]
fn each_waits_for_what_the_program_told() {
    for core in cases().iter().map(Opened::of) {
        let mut count = 0;
        for (told, row) in core.both() {
            let Some(expected) = told["waits_on"].as_str() else { continue };
            let shown = row["waits_on"].as_str().unwrap_or_default();
            count += 1;
            let fd = expected.strip_prefix("fd ").and_then(|rest| rest.split(' ').next());
            let fd = fd.map(|fd| fd.parse::<u64>().expect("a number"));
            assert_eq!(row["fd"].as_u64(), fd, "{}: {row:#}", core.name);
            match shown.strip_prefix("timer ") {
                Some(time) => {
                    assert_eq!(expected, "timer", "{}: {row:#}", core.name);
                    assert!(is_same(&time.into(), &told["own_deadline"]), "{told:#} {row:#}");
                }
                None => assert_eq!(shown, expected, "{}: {told:#} {row:#}", core.name),
            }
        }
        assert!(count > 25, "{}: {count}", core.name);
    }
}

#[test]
fn each_is_limited_as_the_program_told() {
    for core in cases().iter().map(Opened::of) {
        let both = core.both();
        for (told, row) in &both {
            let shown = row["until"].as_u64().map(|nanos| nanos as f64 / 1e9);
            let shown = shown.map(|seconds| format!("{seconds:.6}"));
            assert!(is_same(&shown.into(), &told["deadline"]), "{}: {told:#} {row:#}", core.name);
        }
        let limited = both.iter().filter(|(_, row)| !row["until"].is_null()).count();
        assert!(limited > 5, "{}: {limited}", core.name);
    }
}

#[test]
fn what_ends_a_wait_is_told_in_the_list_of_all_runtimes() {
    for core in cases().iter().map(Opened::of) {
        let tasks = core.records("::tasks -r trio");
        let of = |name: &str| {
            let is_it = |row: &&serde_json::Value| {
                row["name"].as_str().is_some_and(|own| own.ends_with(name))
            };
            let row = tasks.iter().find(is_it).expect("a task");
            row["waits_on"].as_str().expect("a wait").to_owned()
        };
        let limited = tasks.iter().filter(|row| row["until"].is_u64()).count();
        let told = core.told();
        let told =
            told.iter().filter(|told| told["state"] == "blocked" && told["deadline"].is_f64());
        assert_eq!(limited, told.count(), "{}", core.name);
        assert!(of(".limited").contains(", timeout "), "{}: {}", core.name, of(".limited"));
        assert!(!of(".shielded").contains("timeout"), "{}: {}", core.name, of(".shielded"));
        assert!(of(".cancelled").ends_with(", cancelled"), "{}: {}", core.name, of(".cancelled"));
    }
}
