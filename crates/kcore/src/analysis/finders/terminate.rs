//! A C++ program that ended by `std::terminate` without an exception.

use std::sync::Arc;

use super::{abort::aborts, last_words::said_at_end};
use crate::{
    LastWords,
    analysis::{Crash, EvidenceSource, Finder, FinderScope, Finding},
};

/// Functions that end the process for a reason of their own, by `std::terminate` or alone (libstdc++'s `pure.cc`,
/// libc++abi's `cxa_virtual.cpp`).
const VIRTUAL: [(&str, &str); 2] = [
    ("__cxa_pure_virtual", "a pure virtual function was called"),
    ("__cxa_deleted_virtual", "a deleted virtual function was called"),
];
/// Functions that call `std::terminate` for one reason (libstdc++'s `std_thread.h`, libc++'s `thread.cpp`).
const CALLERS: [(&str, &str); 5] = [
    ("std::thread::~thread", DESTROYED),
    ("std::__1::thread::~thread", DESTROYED),
    ("std::thread::operator=", OVERWRITTEN),
    ("std::__1::thread::operator=", OVERWRITTEN),
    ("__clang_call_terminate", "an exception left a function that must not let one out"),
];
const DESTROYED: &str = "a std::thread was destroyed that nobody had joined or detached";
const OVERWRITTEN: &str = "a std::thread was overwritten that nobody had joined or detached";
const TERMINATORS: [&str; 3] = ["std::terminate", "std::__terminate", "__cxxabiv1::__terminate"];

pub const FINDER: Finder = Finder {
    name: "terminate",
    needs: "a stack that leads from abort to who called std::terminate",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let Some(reason) = reason(crash) else { return Ok(None) };
    let place = crash.in_own_code();
    let shown = EvidenceSource::Stack(crash.tid());
    Ok(Some(match reason {
        Reason::Known { what, is_inlined } => {
            let sentence = format!("{what}{place}");
            // Compilers make one call of several that do not come back, and name one of their places.
            let finding =
                if is_inlined { Finding::likely(sentence) } else { Finding::certain(sentence) };
            finding.with("the thread gave up for that", shown)
        }
        Reason::NotTold => Finding::certain(format!("std::terminate was called{place}"))
            .with("the thread is in a call of std::terminate", shown),
    }))
}

/// Why a C++ program gave up.
pub enum Reason {
    /// In words, and whether only a function that was inlined says so.
    Known { what: &'static str, is_inlined: bool },
    /// It called `std::terminate` itself, or nothing is left of why.
    NotTold,
}

/// Why it gave up; `None` if it did not, or if it left words that say more.
pub fn reason(crash: &Crash<'_>) -> Option<Reason> {
    if !aborts(crash) || said_at_end(crash).is_some() {
        return None;
    }
    let functions = crash.last_functions_with_inlines();
    let known = |table: &[(&str, &'static str)], (name, is_inlined): &(Arc<str>, bool)| {
        let what = table.iter().find(|(known, _)| *known == &**name).map(|(_, what)| *what);
        what.map(|what| Reason::Known { what, is_inlined: *is_inlined })
    };
    if let Some(reason) = functions.iter().find_map(|function| known(&VIRTUAL, function)) {
        return Some(reason);
    }
    let last = functions.iter().rposition(|(name, _)| TERMINATORS.contains(&&**name))?;
    let caller = functions.get(last.checked_add(1)?);
    let reason = caller.and_then(|caller| known(&CALLERS, caller));
    // An exception that is still there may be why, whatever the C++ library makes of it.
    let has_exception = || {
        let is_exception = |words: &LastWords| matches!(words, LastWords::Exception { .. });
        crash.core().crash().last_words().iter().any(is_exception)
    };
    reason.or_else(|| (!has_exception()).then_some(Reason::NotTold))
}
