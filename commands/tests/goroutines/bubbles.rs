//! Goroutines in bubbles of `testing/synctest`, and those that nothing can wake, held against what Go printed of them.

use std::{collections::BTreeMap, fs};

use gen_cores::Case;
use serde_json::Value;

use crate::{Opened, cases, shown};

/// The first lines of the goroutines that Go printed, by number. One that runs has another state when the program dies.
fn heads(case: &Case) -> BTreeMap<u64, String> {
    let text = fs::read_to_string(case.dir.join("trace.txt")).expect("what it told");
    let heads = text.lines().filter(|line| line.starts_with("goroutine "));
    let waiting = heads.filter(|line| !line.contains("[runn"));
    let id = |line: &str| line.split(' ').nth(1)?.parse().ok();
    waiting.filter_map(|line| Some((id(line)?, line.to_owned()))).collect()
}

/// The timers that the program told of, as words: what, whom, when they are due, and what the clock said.
fn timers(case: &Case) -> Vec<Vec<String>> {
    let text = fs::read_to_string(case.dir.join("timers.txt")).expect("what it told");
    let lines = text.lines().filter_map(|line| line.strip_prefix("timer "));
    lines.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

#[test]
fn what_they_wait_for_is_as_go_prints_it() {
    for case in cases("go-bubbles") {
        let core = Opened::of(&case);
        let heads = heads(&case);
        let count = |words: &str| heads.values().filter(|head| head.contains(words)).count();
        assert!(count("synctest bubble 1") >= 7, "{}: {heads:?}", core.name);
        assert!(count("(durable)") >= 5, "{}: {heads:?}", core.name);
        let has_leaks = core.name.contains("go1.27");
        assert_eq!(count("(leaked)"), if has_leaks { 3 } else { 0 }, "{}: {heads:?}", core.name);
        for (id, head) in heads {
            let shown = shown(&core, &format!("0t{id}::goroutine -t"));
            assert_eq!(shown.lines().next(), Some(&*head), "{}", core.name);
        }
    }
}

/// A bubble's clock begins with the year 2000. The program slept for 90 minutes of it.
#[test]
fn timers_of_a_bubble_go_by_its_clock() {
    for case in cases("go-bubbles") {
        let core = Opened::of(&case);
        let listed = core.records("::gotimers");
        let told = timers(&case);
        assert_eq!(told.len(), 3, "{}", core.name);
        let number = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
        for told in told {
            let [what, _, due, now] = told.as_slice() else { panic!("{told:?}") };
            let is_it = |timer: &&Value| {
                timer["what"] == what.as_str()
                    && timer["bubble"] == 1
                    && number(&timer["deadline"]) == *due
            };
            let found: Vec<&Value> = listed.iter().filter(is_it).collect();
            assert_eq!(found.len(), 1, "{} {told:?}: {listed:?}", core.name);
            assert_eq!(number(&found[0]["bubble_clock"]), *now, "{}", core.name);
        }
        let text = shown(&core, "::gotimers");
        assert!(text.contains("main.rings, in 3600.000000000 s of bubble 1"), "{text}");
        assert!(text.contains("in 10800.000000000 s of bubble 1"), "{text}");
    }
}

/// Nobody knows when the clock of a bubble will be there.
#[test]
fn who_sleeps_in_a_bubble_has_no_instant() {
    for case in cases("go-bubbles") {
        let core = Opened::of(&case);
        let sleeping = core.records("::goroutines -r sleep");
        assert!(!sleeping.is_empty(), "{}", core.name);
        let in_bubble =
            |id: &Value| heads(&case).get(&id.as_u64()?)?.contains("bubble").then_some(());
        for record in sleeping.iter().filter(|record| in_bubble(&record["id"]).is_some()) {
            assert!(record["sleeps_until"].is_null(), "{}: {record}", core.name);
        }
    }
}
