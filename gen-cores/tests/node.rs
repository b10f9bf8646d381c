//! What programs of Node.js tell, on every release: enough, in the right form, and true of the core.

use std::{collections::BTreeMap, sync::LazyLock};

use gen_cores::{Call, Case, Extent, Language, Truth, elfutils, ensure_language};
use serde_json::Value;

/// Functions that must be on the stack of the thread that a scenario is about, innermost first.
const CHAINS: &[(&str, &[&str])] = &[
    (STACK, &["die", "last", "more", "fewer", "Shape", "eval", "renamed", "Fields", "outer"]),
    ("node-async", &["die", "synchronous", "innermost"]),
    ("node-busy", &["spin", "compute", "map", "main"]),
    ("node-callback", &["die", "handle", "emit", "parserOnHeadersComplete"]),
    ("node-esm", &["die", "greet", "last", "lateArrow", "enter"]),
    ("node-oom", &["Entry", "fill"]),
    ("node-optimized", &["die", "last", "looping", "leaf", "multiply", "inlining", "interpreted"]),
    ("node-uncaught", &["refuse", "parse", "late"]),
    ("node-values", &["die", "keep", "main"]),
    ("node-waiting", &["wait", "waitFor", "acquire", "transaction", "map", "work"]),
    ("node-wasm", &["die", "fromSecond", "inner", "outer", "between", "inner", "outer", "start"]),
    ("node-worker", &["die", "diesFirst", "settled", "poll"]),
];

const STACK: &str = "node-stack";

/// Each case with its truth, made once in a test program.
static CASES: LazyLock<Vec<(Case, Truth)>> = LazyLock::new(make);

fn cases() -> &'static [(Case, Truth)] {
    &CASES
}

/// The cases of one scenario.
fn cases_of(scenario: &str) -> impl Iterator<Item = &'static (Case, Truth)> {
    cases().iter().filter(move |(case, _)| case.scenario == scenario)
}

fn make() -> Vec<(Case, Truth)> {
    let report = ensure_language(Language::JavaScript, Extent::Usual).unwrap();
    for skipped in &report.skipped {
        gen_cores::not_tested(skipped);
    }
    assert!(report.failed.is_empty(), "{:?}", report.failed);
    let truths = report.cases.into_iter().map(|case| {
        let truth = case.truth().unwrap_or_else(|error| panic!("{}: {error}", case.name()));
        (case, truth)
    });
    truths.collect()
}

/// The stack of the main thread, which is the one that a scenario is about.
fn main_calls(truth: &Truth) -> Vec<&Call> {
    let main = truth.threads.iter().find(|thread| thread.role == "main").unwrap();
    assert_eq!(main.tid, truth.pid, "{}/{}", truth.scenario, truth.variant);
    main.calls().collect()
}

fn is_in_order(calls: &[&Call], names: &[&str]) -> bool {
    let mut rest = calls.iter().filter_map(|call| call.function.as_deref());
    names.iter().all(|name| rest.any(|function| function == *name))
}

#[test]
fn stacks_hold_what_their_programs_called() {
    // Those that tell how they end tell nothing else.
    let stacks = cases().iter().filter(|(case, _)| !case.scenario.starts_with("node-ends"));
    for (case, truth) in stacks {
        let calls = main_calls(truth);
        for (_, chain) in CHAINS.iter().filter(|(scenario, _)| *scenario == case.scenario) {
            assert!(is_in_order(&calls, chain), "{}: {chain:?} in {calls:?}", case.name());
        }
        if case.scenario == STACK {
            assert!(calls.len() > 120, "{}: {} frames", case.name(), calls.len());
        }
        for call in calls {
            assert!(is_whole(call), "{}: {call:?}", case.name());
        }
    }
}

/// A call of a script has its place, and what V8 prints of it has the same, unless it could be anywhere
/// in its line.
fn is_whole(call: &Call) -> bool {
    let (Some(script), Some(line)) = (&call.scripted.script, call.line) else {
        return call.mark.is_some()
            || call.scripted.flags.iter().any(|flag| flag == "builtin" || flag == "eval");
    };
    match (&call.scripted.shown, call.scripted.column) {
        (None, None) => true,
        (Some(shown), Some(column)) if script.starts_with("wasm:") => {
            shown.contains(&format!(":{:#x}", column - 1))
        }
        (Some(shown), Some(column)) => shown.contains(&format!("{script}:{line}:{column}")),
        _ => false,
    }
}

#[test]
fn optimized_functions_ran_as_what_was_asked_for() {
    for (case, truth) in cases_of("node-optimized") {
        let mut tiers: BTreeMap<&str, usize> = BTreeMap::new();
        for call in main_calls(truth) {
            let inline = (call.inline == Some(true)).then_some("inline");
            if let Some(tier) = call.scripted.tier.as_deref().or(inline) {
                *tiers.entry(tier).or_default() += 1;
            }
        }
        let has = |tier: &str, least: usize| tiers.get(tier).is_some_and(|count| *count >= least);
        assert!(has("turbofan", 7) && has("inline", 7), "{}: {tiers:?}", case.name());
        assert!(has("interpreter", 1) && has("baseline", 1), "{}: {tiers:?}", case.name());
        let has_maglev = ["node24", "node25", "node26"].iter().any(|v| case.variant.starts_with(v));
        assert_eq!(has("maglev", 1), has_maglev, "{}: {tiers:?}", case.name());
    }
}

#[test]
fn awaiting_functions_are_told_in_order() {
    const AWAITS: &[&str] = &["looped", "settled", "streamed", "allOf", "#send", "entry"];
    for (case, truth) in cases_of("node-async") {
        let awaits: Vec<&Call> = truth.crashed().unwrap().awaits.iter().collect();
        assert!(is_in_order(&awaits, AWAITS), "{}: {awaits:?}", case.name());
    }
}

#[test]
fn workers_tell_stacks_of_their_own() {
    for (case, truth) in cases_of("node-worker") {
        let innermost = |role: &str| {
            let thread = truth.threads.iter().find(|thread| thread.role == role).unwrap();
            assert_ne!(thread.tid, truth.pid, "{}", case.name());
            thread.calls().next().and_then(|call| call.function.clone())
        };
        assert_eq!(innermost("waiting").as_deref(), Some("wait"));
        assert_eq!(innermost("nested").as_deref(), Some("wait"));
        assert_eq!(innermost("running").as_deref(), Some("spin"));
        assert_eq!(innermost("idle"), None);
    }
}

/// The lines of `values.jsonl`.
fn values(case: &Case) -> Vec<Value> {
    let path = case.dir.join("values.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn values_of_every_kind_are_told() {
    const TYPES: &[&str] = &[
        "undefined",
        "null",
        "boolean",
        "number",
        "bigint",
        "string",
        "symbol",
        "function",
        "object",
    ];
    for (case, _) in cases_of("node-values") {
        let values = values(case);
        assert!(values.len() > 200, "{}: {} values", case.name(), values.len());
        let is_of = |value: &Value, ty: &str| value["type"] == ty;
        for value in &values {
            assert!(TYPES.iter().any(|ty| is_of(value, ty)), "{}: {value}", case.name());
            assert!(value["print"].as_str().is_some_and(|path| path.starts_with("values.")));
        }
        for ty in TYPES {
            assert!(values.iter().any(|value| is_of(value, ty)), "{}: no {ty}", case.name());
        }
    }
}

#[test]
fn a_snapshot_of_the_heap_counts_what_the_program_counted() {
    for (case, _) in cases_of("node-retained") {
        let values = values(case);
        let told = |key: &str| -> BTreeMap<String, u64> {
            let lines = values
                .iter()
                .filter_map(|line| Some((line["class"].as_str()?.to_owned(), line[key].as_u64()?)));
            lines.filter(|(_, count)| *count > 0).collect()
        };
        assert_eq!(told("count"), told("instances"), "{}", case.name());
        assert_eq!(told("count").len(), 6, "{}", case.name());
    }
}

#[test]
fn notes_agree() {
    for (case, _) in cases() {
        let found = elfutils::differences(case).unwrap();
        assert!(found.is_empty(), "{}: {found:?}", case.name());
    }
}
