//! Native stacks of Node.js, as far as gdb knows them: it loses each at the first frame of JavaScript.

use gen_cores::{Case, Extent, Language, Truth, ensure_language};
use kcore::{Core, MAX_FRAMES, Tid};
use rayon::prelude::*;

use super::{PeerFrame, compare::difference, gdb};
use crate::known::{assert_none, open};

/// Scenarios whose threads hold all kinds of stacks: under JavaScript that dies, that waits, that runs,
/// that has nothing to do, and without any.
const SCENARIOS: &[&str] = &["node-stack", "node-worker"];

/// What the embedded code of V8 is called, which has no unwind information.
const EMBEDDED: &str = "Builtins_";

fn cases() -> Vec<Case> {
    let report = ensure_language(Language::JavaScript, Extent::Usual).expect("the recipes");
    assert!(report.failed.is_empty(), "cores that were not made: {:?}", report.failed);
    for skipped in &report.skipped {
        gen_cores::not_tested(skipped);
    }
    let mut cases = report.cases;
    cases.retain(|case| SCENARIOS.contains(&case.scenario.as_str()));
    cases
}

/// The frames that gdb is sure of: of a thread with JavaScript, those before the engine's own code.
fn sure(frames: &[PeerFrame], has_script: bool) -> &[PeerFrame] {
    let is_native =
        |frame: &PeerFrame| frame.name.as_deref().is_some_and(|name| !name.starts_with(EMBEDDED));
    let native = frames.iter().take_while(|frame| is_native(frame)).count();
    frames.get(..native).filter(|_| has_script).unwrap_or(frames)
}

fn has_script(truth: &Truth, tid: Tid) -> bool {
    let thread = truth.thread(tid.get());
    thread.is_some_and(|thread| thread.calls().next().is_some())
}

/// How a thread's stack differs from gdb's; of one without JavaScript all of it counts, also its end.
fn thread_differences(core: &Core, tid: Tid, has_script: bool, gdb: &[PeerFrame]) -> Vec<String> {
    let mut own = core.stacks().of_thread(tid, MAX_FRAMES);
    let lost = !has_script && !own.is_complete();
    let end = lost.then(|| format!("thread {tid}: ends with {}", own.end));
    let theirs = sure(gdb, has_script);
    if has_script {
        own.frames.truncate(theirs.len());
    }
    let found = difference(core, &own, Some(theirs)).map(|found| format!("thread {tid}: {found}"));
    end.into_iter().chain(found).collect()
}

fn case_differences(case: &Case) -> Vec<String> {
    let truth = case.truth().unwrap_or_else(|error| panic!("{}: {error}", case.name()));
    let (core, stacks) = (open(case), gdb::stacks(case));
    let count = u32::try_from(core.threads().len()).ok();
    let counted = (count != truth.facts.thread_count)
        .then(|| format!("{count:?} threads, should be {:?}", truth.facts.thread_count));
    let threads = core.threads().iter().flat_map(|thread| {
        let gdb = stacks.get(&thread.tid.get()).map(Vec::as_slice).unwrap_or_default();
        thread_differences(&core, thread.tid, has_script(&truth, thread.tid), gdb)
    });
    let found = counted.into_iter().chain(threads);
    found.map(|difference| format!("{}: {difference}", case.name())).collect()
}

#[test]
fn native_frames_of_node_are_those_of_gdb() {
    let found: Vec<String> = cases().par_iter().flat_map_iter(case_differences).collect();
    assert_none(&found);
}
