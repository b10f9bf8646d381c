//! Makes a core, reads its truth, and makes it no second time.

use gen_cores::{End, Frame, Outcome, ensure};

#[test]
fn a_core_is_made_once_and_has_its_truth() {
    let case = match ensure("leaf", "O2-pie").unwrap() {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => {
            eprintln!("not tested: {}", skipped.reason);
            return;
        }
    };
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

fn functions(frames: &[Frame]) -> Vec<&str> {
    let calls = frames.iter().filter_map(|frame| match frame {
        Frame::Call(call) => call.function.as_deref(),
        Frame::Gap { .. } => None,
    });
    calls.collect()
}
