//! JavaScript in real cores: every frame that the program itself told must be there, and no other.

mod census;
mod damage;
mod graph;
mod handles;
mod last_words;
mod threads;
mod twins;
mod values;
mod versions;

use std::sync::LazyLock;

use gen_cores::{Call, Case, Extent, Language, Mark, Truth, ensure_language};
use kcore::{Core, End, FrameKind, MAX_FRAMES, NamedFrame, OpenOptions, Stack, Tid};

/// Calls that kcore names otherwise than the program did, each with its reason.
const KNOWN: &[(&str, &str, &str)] = &[
    ("node-wasm", "inner", "names of WebAssembly are in its module, which is not read"),
    ("node-wasm", "outer", "the same"),
];

static CASES: LazyLock<Vec<(Case, Truth)>> = LazyLock::new(|| {
    let report = ensure_language(Language::JavaScript, Extent::Usual).expect("cores are made");
    for skipped in &report.skipped {
        println!("not tested: {}/{}: {}", skipped.scenario, skipped.variant, skipped.reason);
    }
    assert!(report.failed.is_empty(), "{:?}", report.failed);
    let with_truth = |case: Case| case.truth().map(|truth| (case, truth)).expect("a truth");
    report.cases.into_iter().map(with_truth).collect()
});

fn open(case: &Case) -> Core {
    let options = OpenOptions {
        core: Some(case.core.clone()),
        exe: Some(case.exe.clone()),
        ..OpenOptions::default()
    };
    Core::open(&options).expect("the core opens")
}

/// The frames of JavaScript of a stack, innermost first.
fn frames(core: &Core, stack: &Stack) -> Vec<NamedFrame> {
    let named = core.named_frames(stack);
    named.filter(|frame| matches!(frame.location.kind, FrameKind::Js | FrameKind::Wasm)).collect()
}

/// What a trace shows of a call, without its place.
fn shown(call: &Call) -> Option<String> {
    let shown = call.scripted.shown.as_deref()?;
    let name = shown.split_once(" (").map(|(name, _)| name);
    Some(name.unwrap_or("<anonymous>").to_owned())
}

/// What is wrong with a frame, if anything.
fn difference(call: &Call, frame: &NamedFrame) -> Option<String> {
    let place = &frame.location;
    let name = place.function.as_deref().unwrap_or_default();
    let names = [shown(call), call.function.clone().filter(|_| place.inline)];
    let file = place.file.as_deref().and_then(|file| file.rsplit('/').next());
    let mut told = names.iter().flatten().peekable();
    let is_name = told.peek().is_none() || told.any(|expected| expected == name);
    let is_place = place.line == call.line
        && file == call.file.as_deref()
        && call.scripted.column.is_none_or(|column| place.column == Some(column));
    (!is_name || !is_place).then(|| {
        let told = (&names, &call.file, call.line, call.scripted.column);
        format!("{told:?} is shown as {:?}", (name, file, place.line, place.column))
    })
}

fn is_known(scenario: &str, call: &Call) -> bool {
    let function = call.function.as_deref();
    KNOWN.iter().any(|(known, name, _)| *known == scenario && function == Some(name))
}

/// The first difference between what a thread's program told and what is shown.
fn compare(scenario: &str, calls: &[&Call], frames: &[NamedFrame]) -> Option<String> {
    // V8 leaves out a builtin that is the innermost frame.
    let is_builtin = |frame: &&NamedFrame| frame.location.file.is_none();
    let mut rest = frames.iter().skip_while(is_builtin).peekable();
    let calls = calls.iter().skip_while(|call| call.mark == Some(Mark::Optional));
    for call in calls {
        let is_optional = call.mark == Some(Mark::Optional);
        let Some(frame) = rest.peek() else {
            if is_optional {
                continue;
            }
            return Some(format!("{:?} is missing", shown(call)));
        };
        match difference(call, frame) {
            Some(_) if is_optional => {}
            Some(_) if is_known(scenario, call) => drop(rest.next()),
            Some(difference) => return Some(difference),
            None => drop(rest.next()),
        }
    }
    rest.next().map(|frame| format!("{:?} is too much", frame.location.function))
}

#[test]
fn every_frame_is_named_as_v8_names_it() {
    let mut differences = Vec::new();
    for (case, truth) in CASES.iter() {
        let core = open(case);
        for thread in &truth.threads {
            let stack = core.stack(Tid::new(thread.tid), MAX_FRAMES);
            let calls: Vec<&Call> = thread.calls().collect();
            let mut add = |what: String| {
                differences.push(format!("{} {}: {what}", case.name(), thread.role));
            };
            compare(&case.scenario, &calls, &frames(&core, &stack)).map(&mut add);
            if stack.end != End::Outermost {
                add(stack.end.to_string());
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
