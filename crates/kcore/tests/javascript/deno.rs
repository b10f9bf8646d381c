//! V8 in Deno, which exports nothing of it: its version and layouts are told by constants and by the read-only heap.

use gen_cores::{Outcome, ensure};
use kcore::{FrameKind, MAX_FRAMES, Tid};

use crate::{
    CASES, compare,
    damage::{Damage, Damaged},
    frames, open,
};

/// The versions of V8 in releases of Deno.
const VERSIONS: [(&str, &str); 4] = [
    ("deno2.4", "13.7.152.14"),
    ("deno2.6", "14.5.201.2"),
    ("deno2.8", "14.9.207.2"),
    ("deno2.9", "15.0.245.2"),
];

/// Those of them that short runs leave out elsewhere.
const BETWEEN: [&str; 2] = ["deno2.6", "deno2.8"];

fn is_stack(case: &gen_cores::Case) -> bool {
    case.scenario == "deno-stack"
}

#[test]
fn the_version_is_told_by_constants_and_proven_by_the_heap() {
    for (case, _) in CASES.iter().filter(|(case, _)| is_stack(case)) {
        let core = open(case);
        let identity = core.runtimes().identities().next().expect("V8").clone();
        let (_, version) =
            VERSIONS.iter().find(|(word, _)| case.variant.starts_with(word)).expect("a version");
        assert_eq!((identity.name, identity.version.as_deref()), ("v8", Some(*version)));
        assert!(identity.metadata.contains("read-only heap"), "{identity:?}");
        assert!(identity.undecoded.iter().all(|part| part.nearest.is_none()), "{identity:?}");
    }
}

#[test]
fn releases_between_are_decoded_as_well() {
    for (release, version) in VERSIONS.iter().filter(|(release, _)| BETWEEN.contains(release)) {
        let case = match ensure("deno-stack", release).expect("the case is made") {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => {
                gen_cores::not_tested(skipped);
                continue;
            }
        };
        let core = open(&case);
        let identity = core.runtimes().identities().next().expect("V8").clone();
        assert_eq!(identity.version.as_deref(), Some(*version));
        let truth = case.truth().expect("a truth");
        let thread = truth.threads.iter().find(|thread| thread.crashed).expect("it died");
        let stack = core.stacks().of_thread(Tid::new(thread.tid), MAX_FRAMES);
        let calls: Vec<_> = thread.calls().collect();
        assert_eq!(compare(&calls, &frames(&core, &stack)), None, "{release}");
    }
}

#[test]
fn without_the_heap_v8_is_refused_in_words() {
    // Of gcore's cores all that is reserved for code takes part, which is too much to be copied.
    let kernels =
        CASES.iter().filter(|(case, _)| is_stack(case) && !case.variant.contains("gcore"));
    for (case, truth) in kernels {
        let whole = open(case);
        for damage in [Damage::HeapCut, Damage::Overwritten] {
            let hurt = Damaged::new(case, &whole, damage);
            let tid = Tid::new(truth.threads[0].tid);
            let stack = hurt.core.stacks().of_thread(tid, MAX_FRAMES);
            let shown = frames(&hurt.core, &stack);
            let named = shown.iter().filter(|frame| frame.location.kind == FrameKind::Js);
            let named = named.filter(|frame| frame.location.function.is_some()).count();
            assert_eq!(named, 0, "{}, {damage:?}", case.name());
            let damaged = hurt.core.runtimes().damaged().to_vec();
            let why = damaged.iter().find(|damage| damage.name == "v8").map(|damage| &damage.why);
            assert!(
                why.is_some_and(|why| why.contains("read-only heap")),
                "{}: {why:?}",
                case.name()
            );
        }
    }
}
