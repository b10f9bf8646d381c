//! JavaScript in real cores: every frame that the program itself told must be there, and no other.

mod census;
mod damage;
mod deno;
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

static CASES: LazyLock<Vec<(Case, Truth)>> = LazyLock::new(|| {
    let report = ensure_language(Language::JavaScript, Extent::Usual).expect("cores are made");
    for skipped in &report.skipped {
        gen_cores::not_tested(skipped);
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
    let named = core.stacks().named_frames(stack);
    named.filter(|frame| matches!(frame.location.kind, FrameKind::Js | FrameKind::Wasm)).collect()
}

/// What a trace shows of a call, without its place.
fn shown(call: &Call) -> Option<String> {
    let shown = call.scripted.shown.as_deref()?;
    if let Some((_, function)) = shown.split_once(":wasm-").filter(|_| shown.starts_with("wasm:")) {
        // By its number: it has no name.
        return Some(format!("wasm-{}", function.split(':').next()?));
    }
    let name = shown.split_once(" (").filter(|_| !shown.starts_with("eval at "));
    Some(name.map_or("<anonymous>", |(name, _)| name).to_owned())
}

/// The file of a call; of what `eval` made where it was called, as traces show that.
fn file(call: &Call) -> Option<String> {
    let shown = call.scripted.shown.as_deref().unwrap_or_default();
    let Some(start) = shown.find("eval at ") else { return call.file.clone() };
    let place = shown.get(start..)?;
    let place = place.strip_suffix(')').filter(|_| start > 0).unwrap_or(place);
    Some(place.rsplitn(3, ':').last()?.to_owned())
}

/// What is wrong with a frame, if anything.
fn difference(call: &Call, frame: &NamedFrame) -> Option<String> {
    let place = &frame.location;
    let name = place.function.as_deref().unwrap_or_default();
    let names = shown(call);
    let file_name = |file: &str| match file.starts_with("eval at ") {
        true => file.to_owned(),
        false => file.rsplit('/').next().unwrap_or_default().to_owned(),
    };
    let shown_file = place.file.as_deref().map(file_name);
    let is_name = names.as_deref().is_none_or(|expected| expected == name);
    let is_place = place.line == call.line
        && shown_file == file(call)
        && call.scripted.column.is_none_or(|column| place.column == Some(column));
    (!is_name || !is_place).then(|| {
        let told = (&names, file(call), call.line, call.scripted.column);
        format!("{told:?} is shown as {:?}", (name, shown_file, place.line, place.column))
    })
}

/// The first difference between what a thread's program told and what is shown.
fn compare(calls: &[&Call], frames: &[NamedFrame]) -> Option<String> {
    // V8 leaves out a builtin that is the innermost frame; of Deno it is JavaScript.
    let is_builtin = |frame: &&NamedFrame| {
        frame.location.file.as_deref().is_none_or(|file| file.starts_with("node:process"))
    };
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
            let stack = core.stacks().of_thread(Tid::new(thread.tid), MAX_FRAMES);
            let calls: Vec<&Call> = thread.calls().collect();
            let mut add = |what: String| {
                differences.push(format!("{} {}: {what}", case.name(), thread.role));
            };
            compare(&calls, &frames(&core, &stack)).map(&mut add);
            if stack.end != End::Outermost {
                add(stack.end.to_string());
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn a_stack_that_is_cut_shows_what_the_whole_one_does() {
    for (case, truth) in CASES.iter().filter(|(case, _)| case.scenario == "node-stack") {
        let (core, tid) = (open(case), Tid::new(truth.threads[0].tid));
        let whole = core.stacks().of_thread(tid, MAX_FRAMES);
        let whole: Vec<NamedFrame> = core.stacks().named_frames(&whole).collect();
        for limit in 1..32 {
            let cut = core.stacks().of_thread(tid, limit);
            let cut: Vec<NamedFrame> = core.stacks().named_frames(&cut).collect();
            let mut expected: Vec<NamedFrame> =
                whole.iter().filter(|frame| frame.physical < limit).cloned().collect();
            // What ended by tail calls below the last frame is known by its caller, which is cut off.
            while expected.last().is_some_and(NamedFrame::is_tail_call) {
                expected.pop();
            }
            assert_eq!(cut, expected, "{} cut at {limit}", case.name());
        }
    }
}
