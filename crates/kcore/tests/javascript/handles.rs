//! What a process of Node.js waits for, against what it said itself.

use std::{fs, ops::ControlFlow};

use gen_cores::Case;
use kcore::v8::{
    V8,
    handles::{Awaited, NodeHandle},
};
use serde_json::Value as Told;

use crate::{CASES, open};

fn told(case: &Case) -> Vec<Told> {
    let text = fs::read_to_string(case.dir.join("values.jsonl")).expect("what it told");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The classes of the owners of what is referenced and `fits`, sorted, as the program told them.
fn classes(found: &[NodeHandle], fits: impl Fn(&NodeHandle) -> bool) -> Vec<String> {
    let owners = found.iter().filter(|handle| fits(handle) && handle.referenced == Some(true));
    let mut names: Vec<String> = owners
        .map(|handle| handle.owner.as_ref().map(|owner| owner.class.to_string()))
        .map(Option::unwrap_or_default)
        .collect();
    names.sort();
    names
}

fn check_timer(case: &Case, found: &[NodeHandle], told: &Told) {
    let timer = found.iter().find(|handle| handle.callback.as_deref() == told["timer"].as_str());
    let timer = timer.unwrap_or_else(|| panic!("{}: no {}", case.name(), told["timer"]));
    let Awaited::Timer { delay, repeats } = timer.what else { panic!("{timer:?}") };
    assert_eq!(delay, told["delay"].as_f64(), "{}: {timer:?}", case.name());
    assert_eq!(repeats, told["repeats"] == true, "{}: {timer:?}", case.name());
    assert_eq!(timer.referenced, told["referenced"].as_bool(), "{}: {timer:?}", case.name());
}

#[test]
fn handles_requests_and_timers_are_those_of_the_process() {
    let mut checked = 0;
    for (case, _) in CASES.iter().filter(|(case, _)| case.scenario == "node-handles") {
        let core = open(case);
        let v8 = core.runtimes().of::<V8>().next().expect("V8");
        let mut watch = |_, _| ControlFlow::Continue(());
        let found = v8.handles(&core, &mut watch).expect("nobody stops it");
        let timers = || found.iter().filter(|it| matches!(it.what, Awaited::Timer { .. }));
        for told in told(case) {
            let classes_of = |what: &str| -> Option<Vec<String>> {
                let names = told[what].as_array()?.iter();
                Some(names.filter_map(|name| name.as_str().map(str::to_owned)).collect())
            };
            if let Some(handles) = classes_of("handles") {
                let is_handle = |it: &NodeHandle| matches!(it.what, Awaited::Handle(_));
                assert_eq!(classes(&found, is_handle), handles, "{}", case.name());
            }
            if let Some(requests) = classes_of("requests") {
                let is_request = |it: &NodeHandle| it.what == Awaited::Request;
                assert_eq!(classes(&found, is_request), requests, "{}", case.name());
            }
            if told["timer"].is_string() {
                check_timer(case, &found, &told);
                checked += 1;
            }
        }
        assert_eq!(timers().count(), 4, "{}", case.name());
    }
    assert!(checked >= 4 * 4, "only {checked} timers");
}
