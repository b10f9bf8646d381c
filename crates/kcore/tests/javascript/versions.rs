//! Releases beside those that the layouts are of: others of the same V8, and V8 of other versions.

use gen_cores::{Call, Case, Outcome, ensure};
use kcore::{Core, MAX_FRAMES, NamedFrame, Tid};

use crate::{compare, frames, open};

/// The first releases of each V8 that is in the tables.
const FIRST: [&str; 7] =
    ["node16.11", "node18.3", "node20.0", "node22.0", "node24.0", "node25.0", "node26.0"];
/// Releases whose V8 is in no table, and its version.
const UNKNOWN: [(&str, &str); 5] = [
    ("node17", "9.6"),
    ("node18.0", "10.1"),
    ("node19", "10.8"),
    ("node21", "11.8"),
    ("node23", "12.9"),
];

/// The case of `node-stack` with a release; `None` where it cannot be made here.
fn case(release: &str) -> Option<Case> {
    match ensure("node-stack", release).expect("the case is made") {
        Outcome::Made(case) | Outcome::Fresh(case) => Some(case),
        Outcome::Skipped(skipped) => {
            gen_cores::not_tested(skipped);
            None
        }
    }
}

/// The frames of JavaScript of the thread that died, and what the program told of them.
fn main_stack(case: &Case, core: &Core, check: impl FnOnce(&[&Call], &[NamedFrame])) {
    let truth = case.truth().expect("a truth");
    let thread = truth.threads.iter().find(|thread| thread.crashed).expect("it died");
    let stack = core.stacks().of_thread(Tid::new(thread.tid), MAX_FRAMES);
    check(&thread.calls().collect::<Vec<_>>(), &frames(core, &stack));
}

#[test]
fn the_first_release_of_a_known_v8_is_decoded_as_the_last() {
    for release in FIRST {
        let Some(case) = case(release) else { continue };
        main_stack(&case, &open(&case), |calls, frames| {
            assert_eq!(compare(calls, frames), None, "{release}");
        });
    }
}

#[test]
fn an_unknown_v8_is_refused_unless_the_nearest_layouts_may_be_used() {
    for (release, version) in UNKNOWN {
        let Some(case) = case(release) else { continue };
        let core = open(&case);
        let identity = core.runtimes().identities().next().expect("V8").clone();
        let why = format!("layouts of V8 {version} are not known");
        let undecoded = &identity.undecoded[0];
        assert!(undecoded.why.starts_with(&why) && undecoded.nearest.is_some(), "{identity:?}");
        let named = |frame: &NamedFrame| frame.location.function.is_some();
        main_stack(&case, &core, |_, frames| assert!(!frames.iter().any(named), "{release}"));
        core.set_nearest_layouts(true);
        main_stack(&case, &core, |calls, frames| {
            let marked = |frame: &NamedFrame| {
                frame.location.doubt.as_deref().is_some_and(|doubt| doubt.contains("layouts"))
            };
            assert!(frames.iter().all(marked), "{release}");
            // Names may be wrong by other layouts; where frames are is right.
            let told: Vec<u32> = calls.iter().filter_map(|call| call.line).collect();
            let shown: Vec<u32> = frames.iter().filter_map(|frame| frame.location.line).collect();
            assert_eq!(shown, told, "{release}");
        });
    }
}
