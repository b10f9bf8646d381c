//! Where each program died in its own code, held against its own account of that.

use gen_cores::{Call, Frame, Thread, bare_name};
use kcore::CrashSite;

use crate::{
    known::{Known, cases, check_each},
    pattern::Pattern,
};

/// Programs in which the first fault came about on another thread, or in a handler of another signal, or in a function
/// of the C library that was inlined: where it was, which the account of the thread that died has in another place.
static ELSEWHERE: [(Pattern, &str, u32); 3] = [
    (Pattern::new("fortify", &[]), "set_name", 21),
    (Pattern::new("signal-told", &[]), "on_request", 24),
    (Pattern::new("signal-again-other", &[]), "work", 44),
];

/// Programs that died in libcrypto, GLib or glog, which count as their own code, and one whose executable has the name of
/// a runtime: what is told is no function of the executable.
static OTHERS: [Pattern; 3] =
    [Pattern::new("crypto-*", &[]), Pattern::new("luajit", &[]), Pattern::new("why-gl*", &[])];

/// Signals that faults cause.
const FAULTS: [u16; 5] = [4, 7, 8, 11, 31];

/// The functions of the program, innermost first: those that a signal interrupted, where a handler was told of one.
fn own_calls(thread: &Thread, is_handled: bool) -> impl Iterator<Item = &Call> {
    let interrupted = thread.frames.iter().rposition(is_signal).filter(|_| is_handled);
    let frames = thread.frames.iter().skip(interrupted.unwrap_or_default());
    frames.filter_map(|frame| match frame {
        Frame::Call(call) if call.mark.is_none() && call.function.is_some() => Some(call),
        _ => None,
    })
}

fn is_signal(frame: &Frame) -> bool {
    matches!(frame, Frame::Gap { gap } if gap == "signal")
}

fn difference(wanted: &str, line: Option<u32>, site: Option<&CrashSite>) -> Option<String> {
    let Some(site) = site else { return Some(format!("no place, should be {wanted}")) };
    let location = &*site.frame.location;
    let function = location.function.as_deref().unwrap_or_default();
    let is_right = bare_name(function, wanted.contains('<')).contains(wanted)
        && line.is_none_or(|line| location.line.is_none_or(|seen| seen == line));
    (!is_right)
        .then(|| format!("{function} at {:?}, should be {wanted} at {:?}", location.line, line))
}

fn check(known: &Known) -> Vec<String> {
    let site = known.core.crash().site();
    if let Some((_, function, line)) = ELSEWHERE.iter().find(|(it, ..)| it.fits(known.case)) {
        return difference(function, Some(*line), site.as_ref()).into_iter().collect();
    }
    if OTHERS.iter().any(|pattern| pattern.fits(known.case)) {
        return Vec::new();
    }
    let handled = known.core.status().handled;
    let is_handled = handled.iter().any(|it| FAULTS.contains(&it.signal.number));
    let crashed = known.truth.threads.iter().find(|thread| thread.crashed);
    let mut calls = crashed.into_iter().flat_map(|thread| own_calls(thread, is_handled));
    let different = |call: &Call| difference(call.function.as_deref()?, call.line, site.as_ref());
    let Some(first) = calls.next() else { return Vec::new() };
    // Assembly in a static program looks like a part of the C library.
    let is_assembly = known.truth.is_static && first.line.is_none();
    let caller = calls.next().filter(|_| is_assembly);
    match caller.is_some_and(|caller| different(caller).is_none()) {
        true => Vec::new(),
        false => different(first).into_iter().collect(),
    }
}

#[test]
fn programs_died_in_the_innermost_function_of_their_own() {
    check_each(cases(), check);
}
