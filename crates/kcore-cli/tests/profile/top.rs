//! `kcore top`: tables of the functions of programs that know where they spend their time.

use std::collections::HashMap;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::FUNCTIONS;
use super::target::Target;

/// The records that it writes.
fn top(words: &[&str]) -> Vec<Value> {
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    let output = kcore.args(["top", "--json"]).args(words).stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The times of functions, themselves and with what they call, added up over all tables.
fn times(records: &[Value]) -> HashMap<String, (u64, u64)> {
    let mut times: HashMap<String, (u64, u64)> = HashMap::new();
    for record in records.iter().filter(|record| record["type"] == "top_function") {
        let time = |key: &str| record[key].as_u64().unwrap();
        let sum = times.entry(record["function"].as_str().unwrap().to_owned()).or_default();
        *sum = (sum.0 + time("self_ns"), sum.1 + time("total_ns"));
    }
    times
}

#[test]
fn shares_of_functions_are_those_that_the_program_counted() {
    let mut target = Target::start();
    let before = target.sums();
    let records = top(&["-d", "2", "-n", "2", "--hold", "100", &target.pid()]);
    let spent: Vec<f64> =
        target.sums().iter().zip(&before).map(|(after, before)| after - before).collect();
    assert_eq!(records.iter().filter(|record| record["type"] == "top").count(), 2);
    let times = times(&records);
    let seen = FUNCTIONS.map(|name| times.get(name).copied().unwrap_or_default().1 as f64);
    let (all_seen, all_spent) = (seen.iter().sum::<f64>(), spent.iter().sum::<f64>());
    for (index, name) in FUNCTIONS.iter().enumerate() {
        let (seen, spent) = (seen[index] / all_seen, spent[index] / all_spent);
        assert!((seen - spent).abs() < 0.25, "{name}: {seen:.3} seen, {spent:.3} spent: {times:?}");
    }
    let (own, total) = times["spin_until"];
    assert!(own > total / 2, "it calls the clock alone: {times:?}");
    assert!(times["main"].1 >= times["spin_until"].1, "{times:?}");
    assert!(!times.contains_key("sleep_for_good"), "{times:?}");
}

#[test]
fn threads_that_wait_count_where_all_do_and_a_filter_leaves_the_others_out() {
    let target = Target::start();
    let all = times(&top(&["--all", "-n", "1", "-l", "1000", &target.pid()]));
    assert!(all.contains_key("sleep_for_good") && all.contains_key("spin_until"), "{all:?}");
    let some = times(&top(&["--all", "-n", "1", "--filter", "SLEEP_for", &target.pid()]));
    assert!(some.keys().eq(["sleep_for_good"]), "{some:?}");
}

#[test]
fn a_process_that_ends_is_told() {
    let mut sleeps = Command::new("sleep").arg("1").spawn().unwrap();
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    let pid = sleeps.id().to_string();
    let waits = std::thread::spawn(move || sleeps.wait());
    let output = kcore.args(["top", "--all", "-d", "60", &pid]).output().unwrap();
    waits.join().unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("process {pid} ended")), "{said}");
}
