//! Makes a core, reads its truth, and makes it no second time.

use gen_cores::{Arch, Case, End, Frame, Maker, Outcome, elfutils, ensure};

/// A case, unless this machine cannot make it.
fn case(scenario: &str, variant: &str) -> Option<Case> {
    match ensure(scenario, variant).unwrap() {
        Outcome::Made(case) | Outcome::Fresh(case) => Some(case),
        Outcome::Skipped(skipped) => {
            gen_cores::not_tested(skipped);
            None
        }
    }
}

#[test]
fn a_core_is_made_once_and_has_its_truth() {
    let Some(case) = case("leaf", "O2-pie") else { return };
    assert!(matches!(ensure("leaf", "O2-pie").unwrap(), Outcome::Fresh(_)));
    assert!(case.exe.is_file() && case.core.is_file());
    assert!(gen_cores::cases().unwrap().contains(&case));
    let truth = case.truth().unwrap();
    assert_eq!(truth.argv, ["./leaf"]);
    assert_eq!(truth.facts.signal.as_deref(), Some("SIGSEGV"));
    let thread = truth.crashed().unwrap();
    assert_eq!((thread.tid, thread.end), (truth.pid, End::Outermost));
    assert_eq!(functions(&thread.frames), ["leaf", "sum", "report", "main"]);
}

#[test]
fn a_core_of_another_architecture_says_what_its_truth_says() {
    let Some(case) = case("threads-12", "O2-aarch64-pac") else { return };
    let truth = case.truth().unwrap();
    assert_eq!((truth.arch, truth.maker), (Arch::Aarch64, Maker::Qemu));
    assert_eq!(truth.sysroot.as_deref(), Arch::Aarch64.sysroot());
    assert_eq!(truth.facts.signal.as_deref(), Some("SIGSEGV"));
    assert_eq!(truth.facts.fault_address, None, "qemu does not tell");
    assert_eq!(truth.facts.thread_count, Some(12));
    assert_eq!(elfutils::differences(&case).unwrap(), Vec::<String>::new());
}

fn functions(frames: &[Frame]) -> Vec<&str> {
    let calls = frames.iter().filter_map(|frame| match frame {
        Frame::Call(call) => call.function.as_deref(),
        Frame::Gap { .. } => None,
    });
    calls.collect()
}
