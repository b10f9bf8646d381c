//! What a process of Node.js waits for, against what it said itself.

use std::{fs, ops::ControlFlow};

use gen_cores::Case;
use kcore::v8::{
    V8,
    handles::{Awaited, NodeHandle, State},
};
use serde_json::Value as Told;

use kcore::Core;

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
    let thread = timer.thread;
    let Awaited::Timer(when) = timer.what else { panic!("{timer:?}") };
    let (delay, repeats) = (when.delay, when.repeats);
    // It is told when its loop last looked at the clock: not long after it was started.
    let left = when.left.unwrap_or_else(|| panic!("{}: {timer:?}", case.name()));
    let started = delay.unwrap_or_default() - left;
    assert!((0.0..600_000.0).contains(&started), "{}: {timer:?}", case.name());
    assert_eq!(timer.state, Some(State::Active), "{}: {timer:?}", case.name());
    assert!(thread.is_some(), "{}: {timer:?}", case.name());
    assert_eq!(delay, told["delay"].as_f64(), "{}: {timer:?}", case.name());
    assert_eq!(repeats, told["repeats"] == true, "{}: {timer:?}", case.name());
    assert_eq!(timer.referenced, told["referenced"].as_bool(), "{}: {timer:?}", case.name());
}

/// What else handles are known by: the program's pipe is bound to `socket`, its child is a process, it
/// waits for SIGUSR2 (12), and has different files open for all sockets.
fn check_facts(case: &Case, core: &Core, found: &[NodeHandle]) {
    let of_kind = |kind| found.iter().filter(move |it| it.what == Awaited::Handle(Some(kind)));
    let bound = |handle: &NodeHandle| handle.bound.as_deref().map(str::to_owned);
    let pipes: Vec<String> = of_kind("pipe").filter_map(bound).collect();
    for path in ["socket", "socket-http"] {
        assert!(pipes.iter().any(|bound| bound == path), "{}: {pipes:?}", case.name());
    }
    assert!(of_kind("process").all(|it| it.pid.is_some_and(|pid| pid > 1)), "{}", case.name());
    assert!(of_kind("signal").any(|it| it.signal == Some(12)), "{}", case.name());
    let mut fds: Vec<u32> =
        ["pipe", "tcp", "udp"].into_iter().flat_map(of_kind).filter_map(|it| it.fd).collect();
    let count = fds.len();
    fds.sort_unstable();
    fds.dedup();
    assert_eq!(fds.len(), count, "{}: descriptors are of one handle each", case.name());
    assert!(count >= 10 && fds.iter().all(|fd| *fd < 1000), "{}: {fds:?}", case.name());
    let main = core.threads().first().map(|thread| thread.tid);
    assert!(
        found.iter().all(|it| it.thread == main),
        "{}: all are of the main thread",
        case.name()
    );
}

#[test]
fn workers_and_timers_are_those_of_all_threads() {
    for (case, truth) in CASES.iter().filter(|(case, _)| case.scenario == "node-worker") {
        let core = open(case);
        let v8 = core.runtimes().of::<V8>().next().expect("V8");
        let found = v8.handles(&core, &mut |_, _| ControlFlow::Continue(())).expect("not stopped");
        let of_role = |role: &str| {
            let thread = truth.threads.iter().find(|thread| thread.role == role);
            thread.map(|thread| kcore::Tid::new(thread.tid))
        };
        let timers: Vec<&NodeHandle> =
            found.all.iter().filter(|it| matches!(it.what, Awaited::Timer(_))).collect();
        let timer_of = |thread| timers.iter().find(|timer| timer.thread == thread);
        let poll =
            timer_of(of_role("main")).unwrap_or_else(|| panic!("{}: {timers:?}", case.name()));
        assert_eq!(poll.callback.as_deref(), Some("poll"), "{}", case.name());
        assert_eq!(poll.state, Some(State::Running), "{}", case.name());
        let idle =
            timer_of(of_role("idle")).unwrap_or_else(|| panic!("{}: {timers:?}", case.name()));
        assert_eq!(idle.state, Some(State::Active), "{}", case.name());
        let mut workers: Vec<i32> = found
            .all
            .iter()
            .filter_map(|it| match it.what {
                Awaited::Worker(number) => number,
                _ => None,
            })
            .collect();
        workers.sort_unstable();
        assert_eq!(workers, [1, 2, 3, 4], "{}", case.name());
    }
}

#[test]
fn handles_requests_and_timers_are_those_of_the_process() {
    let mut checked = 0;
    for (case, _) in CASES.iter().filter(|(case, _)| case.scenario == "node-handles") {
        let core = open(case);
        let v8 = core.runtimes().of::<V8>().next().expect("V8");
        let mut watch = |_, _| ControlFlow::Continue(());
        let found = v8.handles(&core, &mut watch).expect("nobody stops it");
        assert_eq!(found.doubt, None, "{}", case.name());
        let found = found.all;
        let timers = || found.iter().filter(|it| matches!(it.what, Awaited::Timer(_)));
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
        // Servers of HTTP look at their connections now and then, since Node.js 18.
        let own = timers().filter(|it| it.callback.as_deref() != Some("bound checkConnections"));
        assert_eq!(own.count(), 4, "{}", case.name());
        check_facts(case, &core, &found);
    }
    assert!(checked >= 4 * 4, "only {checked} timers");
}
