//! What threads of Node.js are called, and what they do.

use gen_cores::{Case, Truth};
use kcore::{Core, ThreadFacts, Tid};

use crate::{CASES, open};

/// What the thread of a role in `node-worker` is called: workers are numbered as they are made.
const NAMES: [(&str, &str, &str); 4] = [
    ("waiting", "worker 1", "in JavaScript"),
    ("nested", "worker 2", "in JavaScript"),
    ("running", "worker 3", "in JavaScript"),
    ("idle", "worker 4", "waits for events"),
];

fn of(scenario: &str) -> impl Iterator<Item = (&'static Case, &'static Truth, Core)> {
    let cases = CASES.iter().filter(move |(case, _)| case.scenario == scenario);
    cases.map(|(case, truth)| (case, truth, open(case)))
}

fn fact(fact: Option<&str>) -> &str {
    fact.unwrap_or_default()
}

#[test]
fn workers_are_told_by_their_number() {
    for (case, truth, core) in of("node-worker") {
        for thread in &truth.threads {
            let facts = core.thread_facts(Tid::new(thread.tid));
            let told = NAMES.iter().find(|(role, ..)| *role == thread.role);
            let (_, name, state) = told.unwrap_or(&("", "main", "in JavaScript"));
            let shown = (fact(facts.name.as_deref()), fact(facts.state.as_deref()));
            assert_eq!(shown, (*name, *state), "{} {}", case.name(), thread.role);
        }
    }
}

#[test]
fn the_threads_of_nodes_own_are_told_by_what_begins_them() {
    let named = |core: &Core, wanted: &str| {
        let facts = core.tids().into_iter().map(|tid| core.thread_facts(tid));
        let fits = |facts: &ThreadFacts| facts.name.as_deref() == Some(wanted);
        facts.filter(fits).count()
    };
    for (case, truth, core) in of("node-handles") {
        let pid = Tid::new(truth.pid);
        let main = core.thread_facts(pid);
        assert_eq!(main.name.as_deref(), Some("main"), "{}", case.name());
        assert_eq!(main.state.as_deref(), Some("waits for events"), "{}", case.name());
        // Four each by default; files are opened by libuv's, one of which is blocked in that.
        assert_eq!(named(&core, "V8 platform worker"), 4, "{}", case.name());
        assert_eq!(named(&core, "libuv pool"), 4, "{}", case.name());
        assert_eq!(named(&core, "V8 delayed tasks"), 1, "{}", case.name());
        assert_eq!(named(&core, "inspector signals"), 1, "{}", case.name());
        for tid in core.tids() {
            assert!(core.thread_facts(tid).name.is_some(), "{} {tid}", case.name());
        }
    }
}
