//! Stacks: each frame's name, file and line, on every thread, in their place among the native ones.

use gen_cores::{Call, Case, Thread, Truth};
use kcore::python::Python;
use kcore::{Core, FrameKind, MAX_FRAMES, NamedFrame, Tid};

use crate::{CASES, frames, open, told_lines};

/// What is wrong with a frame, if anything.
fn difference(call: &Call, frame: &NamedFrame) -> Option<String> {
    let place = &frame.location;
    let shown =
        (place.function.as_deref(), place.file.as_deref(), place.line, place.doubt.as_deref());
    let told = (call.function.as_deref(), call.scripted.script.as_deref(), call.line, None);
    // What the interpreter was given relative to its folder may be told as a whole.
    let (Some(file), Some(script)) = (shown.1, told.1) else { return Some(format!("{shown:?}")) };
    let same_file = file == script || file.ends_with(&format!("/{script}"));
    let same = (shown.0, shown.2, shown.3) == (told.0, told.2, told.3);
    (!same || !same_file).then(|| format!("{shown:?} is {told:?}"))
}

fn compare(case: &Case, core: &Core, thread: &Thread) {
    let stack = core.stacks().of_thread(Tid::new(thread.tid), MAX_FRAMES);
    let shown = frames(core, &stack);
    let told: Vec<&Call> = thread.calls().collect();
    let name = format!("{} {}", case.name(), thread.role);
    let found = told.iter().zip(&shown).find_map(|(call, frame)| difference(call, frame));
    assert_eq!((found, shown.len()), (None, told.len()), "{name}: {shown:#?}");
}

fn each(check: impl Fn(&Case, &Truth, &Core)) {
    for (case, truth) in CASES.iter() {
        check(case, truth, &open(case));
    }
}

#[test]
fn every_frame_of_every_thread_is_what_the_program_told() {
    each(|case, truth, core| {
        for thread in &truth.threads {
            compare(case, core, thread);
        }
    });
}

#[test]
fn threads_have_their_names() {
    each(|case, truth, core| {
        for thread in &truth.threads {
            let name = core.thread_facts(Tid::new(thread.tid)).name;
            assert_eq!(name.as_deref(), Some(thread.role.as_str()), "{}", case.name());
        }
    });
}

#[test]
fn one_thread_holds_the_lock() {
    each(|case, truth, core| {
        let state = |tid: u32| core.thread_facts(Tid::new(tid)).state;
        // Who collects garbage holds it.
        let words =
            ["holds the GIL", "collects garbage", "holds the GIL while garbage is collected"];
        let holds = |tid: u32| state(tid).is_some_and(|state| words.contains(&&*state));
        let holders: Vec<u32> =
            truth.threads.iter().map(|thread| thread.tid).filter(|tid| holds(*tid)).collect();
        assert_eq!(holders, truth.crashed_tid.into_iter().collect::<Vec<_>>(), "{}", case.name());
    });
}

/// What is said of a thread in a state where functions of the collector have no names.
fn without_names(state: &str) -> Option<&str> {
    match state {
        "collects garbage" | "holds the GIL" => Some("holds the GIL while garbage is collected"),
        "collects garbage without the GIL" => None,
        state => Some(state),
    }
}

#[test]
fn threads_are_in_the_states_that_the_program_told() {
    each(|case, truth, core| {
        let threads = match truth.scenario.as_str() {
            "python-states" => 3,
            "python-finalizer" => 2,
            _ => return,
        };
        // The collector is known by its functions' names, which Debian strips.
        let is_named = !case.variant.starts_with("debian") || case.variant.ends_with('d');
        let told = told_lines(case);
        assert_eq!(told.len(), threads, "{}", case.name());
        for line in told {
            let tid = line["tid"].as_u64().and_then(|tid| u32::try_from(tid).ok()).expect("a tid");
            let state = core.thread_facts(Tid::new(tid)).state;
            let wanted = line["state"].as_str();
            let wanted = wanted.and_then(|it| if is_named { Some(it) } else { without_names(it) });
            assert_eq!(state.as_deref(), wanted, "{} {tid}", case.name());
        }
    });
}

#[test]
fn a_forked_child_has_states_of_threads_that_are_not_there() {
    each(|case, truth, core| {
        if truth.scenario != "python-forked" {
            return;
        }
        let python = core.runtimes().of::<Python>().next().expect("CPython");
        let states = &python.state(core).threads;
        let of_threads = states.iter().filter_map(|state| state.tid).map(|tid| tid.get());
        assert_eq!(
            of_threads.collect::<Vec<_>>(),
            [core.process().pid().expect("a pid")],
            "{}",
            case.name()
        );
    });
}

#[test]
fn native_frames_that_only_call_are_not_shown() {
    each(|case, truth, core| {
        // What threw is not on the chain of 3.9, and its evaluation remains what it is.
        if truth.scenario == "python-thrown" && case.variant.contains("3.9") {
            return;
        }
        // Some programs were copied while they lived.
        let Some(crashed) = truth.crashed_tid else { return };
        let stack = core.stacks().of_thread(Tid::new(crashed), MAX_FRAMES);
        let named =
            core.stacks().named_frames(&stack).filter(|it| it.location.kind == FrameKind::Native);
        let plumbing = ["_PyEval_", "_PyObject_MakeTpCall", "PyObject_Vectorcall", "cfunction_"];
        // What was inlined into a function that is shown is shown with it.
        for frame in named.filter(|frame| !frame.location.inline) {
            let name = frame.location.function.as_deref().unwrap_or_default();
            let is_plumbing = plumbing.iter().any(|start| name.starts_with(start));
            assert!(!is_plumbing, "{}: {name}", case.name());
        }
        assert!(
            core.stacks().native_frames(&stack).count() >= stack.frames.len(),
            "all are there for who asks"
        );
    });
}

/// The native function between two frames of Python, by any that is exported.
fn between<'a>(named: &'a [NamedFrame], inner: &str, outer: &str) -> Vec<&'a str> {
    let at = |name: &str| {
        let is_it = |frame: &NamedFrame| {
            let function = frame.location.function.as_deref();
            function.and_then(|function| function.rsplit('.').next()) == Some(name)
        };
        named.iter().position(is_it).expect(name)
    };
    let (inner, outer) = (at(inner), at(outer));
    let native = named[inner..outer].iter().filter(|it| it.location.kind == FrameKind::Native);
    native.filter_map(|frame| frame.location.function.as_deref()).collect()
}

#[test]
fn callbacks_stand_between_the_frames_of_c_that_call_them() {
    each(|case, truth, core| {
        if truth.scenario != "python-stack" {
            return;
        }
        // Some programs were copied while they lived.
        let Some(crashed) = truth.crashed_tid else { return };
        let stack = core.stacks().of_thread(Tid::new(crashed), MAX_FRAMES);
        let named: Vec<NamedFrame> = core.stacks().named_frames(&stack).collect();
        let between = between(&named, "compare", "in_c");
        assert!(
            between.iter().any(|name| name.starts_with("qsort")),
            "{}: {between:?}",
            case.name()
        );
        let is_loop = |frame: &NamedFrame| {
            frame
                .location
                .function
                .as_deref()
                .is_some_and(|name| name.starts_with("_PyEval_EvalFrameDefault"))
        };
        assert!(!named.iter().any(is_loop), "{}: the loop stands for its frames", case.name());
    });
}
