//! Where each program died in its own code, held against its own account of that.

use gen_cores::{Call, Frame, Thread, bare_name};
use kcore::CrashSite;

use crate::known::{Known, cases, check_each};

/// The innermost function of the program: of those that a signal interrupted, where a handler was told of one.
fn innermost(thread: &Thread, is_handled: bool) -> Option<&Call> {
    let interrupted = thread.frames.iter().rposition(is_signal).filter(|_| is_handled);
    let frames = thread.frames.get(interrupted.unwrap_or_default()..)?;
    frames.iter().find_map(|frame| match frame {
        Frame::Call(call) => Some(call),
        Frame::Gap { .. } => None,
    })
}

fn is_signal(frame: &Frame) -> bool {
    matches!(frame, Frame::Gap { gap } if gap == "signal")
}

fn difference(call: &Call, site: Option<&CrashSite>) -> Option<String> {
    let wanted = call.function.as_deref()?;
    let Some(site) = site else { return Some(format!("no place, should be {wanted}")) };
    let location = &*site.frame.location;
    let function = location.function.as_deref().unwrap_or_default();
    let is_right = bare_name(function, wanted.contains('<')).contains(wanted)
        && call.line.is_none_or(|line| location.line.is_none_or(|seen| seen == line));
    (!is_right).then(|| {
        format!("{function} at {:?}, should be {wanted} at {:?}", location.line, call.line)
    })
}

fn check(known: &Known) -> Vec<String> {
    let Some(thread) = known.truth.threads.iter().find(|thread| thread.crashed) else {
        return Vec::new();
    };
    let is_handled = known.truth.facts.first_signal.is_some();
    let Some(call) = innermost(thread, is_handled) else { return Vec::new() };
    difference(call, known.core.crash_site().as_ref()).into_iter().collect()
}

#[test]
fn programs_died_in_the_innermost_function_of_their_own() {
    check_each(cases(), check);
}
