//! The stacks of both threads: every frame, among the native ones that execute it.

use gen_cores::{Call, Thread};
use serde_json::Value;

use crate::{FramePlace, Opened, cases, frames};

fn told(thread: &Thread) -> Vec<FramePlace> {
    let place = |call: &Call| {
        (call.function.clone().unwrap_or_default(), call.file.clone(), call.line.map(u64::from))
    };
    thread.calls().map(place).collect()
}

fn stack(core: &Opened, tid: u32) -> Value {
    core.records(&format!("0t{tid}::stack")).remove(0)
}

#[test]
fn every_frame_of_each_interpreter_is_what_caller_told() {
    let cases = cases();
    assert!(!cases.is_empty() || gen_cores::is_short_run(), "there are cases");
    for core in cases.iter().map(Opened::of) {
        assert_eq!(core.truth.threads.len(), 2, "{}", core.name);
        for thread in &core.truth.threads {
            let stack = stack(&core, thread.tid);
            let shown = frames(&stack);
            assert!(shown.iter().all(|(_, doubt)| doubt.is_none()), "{}: {shown:#?}", core.name);
            let places: Vec<FramePlace> = shown.into_iter().map(|(place, _)| place).collect();
            let told = told(thread);
            assert!(told.len() >= 3, "{}: {told:?}", core.name);
            assert_eq!(places, told, "{}: {stack:#}", core.name);
            assert_eq!(stack["end"]["reason"], "outermost", "{}: {stack:#}", core.name);
        }
        let most = core.truth.threads.iter().map(|thread| told(thread).len()).max();
        assert_eq!(most, Some(36), "{}", core.name);
    }
}

#[test]
fn what_calls_back_stands_between_the_frames_that_it_joins() {
    for core in cases().iter().map(Opened::of) {
        let stack = stack(&core, core.truth.crashed_tid.expect("a thread"));
        let all = stack["frames"].as_array().expect("frames");
        // The native function, and the frame of Perl that called it.
        let told = [
            ("Perl_pp_sysread", "main::finish"),
            ("Perl_die_sv", "(eval)"),
            ("Perl_regexec_flags", "main::matched"),
            ("Perl_pp_require", "(eval)"),
            ("Perl_sortsv_flags", "main::required"),
            ("Perl_magic_methcall", "Number::add"),
            ("Perl_amagic_call", "main::plus"),
            ("Perl_call_list", "(eval)"),
            ("Perl_sv_clear", "main::destroyed"),
            ("Perl_pp_sort", "main::required"),
        ];
        for (native, caller) in told {
            let place = all.iter().position(|frame| {
                frame["function"].as_str().is_some_and(|name| name.starts_with(native))
            });
            let Some(place) = place else { continue };
            let outer = all[place..].iter().find(|frame| frame["kind"] == "perl");
            assert_eq!(outer.expect("a frame")["function"], caller, "{}: {stack:#}", core.name);
        }
        let has = |name: &str| all.iter().any(|frame| frame["function"] == name);
        // Perl exports all of its functions before 5.38.
        let exports = ["perl5.32", "perl5.36"].iter().any(|name| core.name.contains(name));
        assert_eq!(has("Perl_pp_sysread"), exports, "{}: {stack:#}", core.name);
        assert!(has("Perl_die_sv") && has("Perl_regexec_flags"), "{}: {stack:#}", core.name);
        assert!(!has("Perl_runops_standard"), "{}: {stack:#}", core.name);
    }
}

#[test]
fn functions_of_c_that_call_back_have_their_names() {
    for core in cases().iter().map(Opened::of) {
        let stack = stack(&core, core.truth.crashed_tid.expect("a thread"));
        let all = stack["frames"].as_array().expect("frames");
        let perl: Vec<&Value> = all.iter().filter(|frame| frame["kind"] == "perl").collect();
        for (name, caller) in
            [("List::Util::reduce", "main::__ANON__"), ("List::Util::first", "main::__ANON__")]
        {
            let place = perl.iter().position(|frame| frame["function"] == name);
            let place = place.unwrap_or_else(|| panic!("{} {name}: {stack:#}", core.name));
            assert_eq!(perl[place]["tier"], "XS", "{}: {stack:#}", core.name);
            // The block that it calls, and the sub that called it.
            for neighbour in [place - 1, place + 1] {
                assert_eq!(perl[neighbour]["function"], caller, "{}: {stack:#}", core.name);
            }
        }
    }
}

#[test]
fn evals_say_of_what_they_are() {
    for core in cases().iter().map(Opened::of) {
        let stack = stack(&core, core.truth.crashed_tid.expect("a thread"));
        let all = stack["frames"].as_array().expect("frames");
        let evals = all.iter().filter(|frame| frame["function"] == "(eval)");
        let tiers: Vec<&str> = evals.filter_map(|frame| frame["tier"].as_str()).collect();
        // Of `die`; of BEGIN, and the file around it; of the handler; of the destructor; of text, and the block around it.
        let told = [
            "eval block",
            "eval block",
            "required file",
            "eval block",
            "eval block",
            "eval text",
            "eval block",
        ];
        assert_eq!(tiers, told, "{}: {stack:#}", core.name);
    }
}

#[test]
fn what_die_threw_is_told_while_its_handler_runs() {
    for core in cases().iter().map(Opened::of) {
        let status = core.records("::status").remove(0);
        let text = status.to_string();
        assert!(text.contains("it went wrong"), "{}: {status:#}", core.name);
    }
}

#[test]
fn the_module_says_its_release() {
    for core in cases().iter().map(Opened::of) {
        let text = crate::harness::run_on(&core.core, "::runtimes").out;
        let variant = core.name.rsplit('/').next().unwrap_or_default();
        let word = variant.split('-').next().unwrap_or_default().trim_start_matches("perl");
        assert!(text.contains(&format!("perl {word}.")), "{}: {text}", core.name);
    }
}
