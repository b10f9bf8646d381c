//! A C++ program that ended by `std::terminate` without an exception.

use std::sync::Arc;

use super::{abort::aborts, last_words::said_at_end};
use crate::analysis::{Crash, EvidenceSource, Finder, FinderScope, Finding};

/// Functions that end the process for a reason of their own, by `std::terminate` or alone (libstdc++'s `pure.cc`,
/// libc++abi's `cxa_virtual.cpp`).
const VIRTUAL: [(&str, &str); 2] = [
    ("__cxa_pure_virtual", "a pure virtual function was called"),
    ("__cxa_deleted_virtual", "a deleted virtual function was called"),
];
/// Functions that call `std::terminate` for one reason (libstdc++'s `std_thread.h`, libc++'s `thread.cpp`).
const CALLERS: [(&str, &str); 2] = [
    ("std::thread::~thread", "a std::thread was destroyed that nobody had joined or detached"),
    ("std::thread::operator=", "a std::thread was overwritten that nobody had joined or detached"),
];
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
        Reason::Known(what) => {
            Finding::certain(format!("{what}{place}")).with("the thread gave up for that", shown)
        }
        Reason::NotTold => Finding::certain(format!("std::terminate was called{place}"))
            .with("the thread is in a call of std::terminate", shown),
    }))
}

/// Why a C++ program gave up.
pub enum Reason {
    /// In words.
    Known(&'static str),
    /// It called `std::terminate` itself, or nothing is left of why.
    NotTold,
}

/// Why it gave up; `None` if it did not, or if it left words that say more.
pub fn reason(crash: &Crash<'_>) -> Option<Reason> {
    if !aborts(crash) || said_at_end(crash).is_some() {
        return None;
    }
    let functions = crash.last_functions_with_inlines();
    let of = |table: &[(&str, &'static str)], name: &Arc<str>| {
        table.iter().find(|(known, _)| *known == &**name).map(|(_, what)| *what)
    };
    if let Some(what) = functions.iter().find_map(|name| of(&VIRTUAL, name)) {
        return Some(Reason::Known(what));
    }
    let last = functions.iter().rposition(|name| TERMINATORS.contains(&&**name))?;
    let caller = functions.get(last.checked_add(1)?);
    Some(caller.and_then(|name| of(&CALLERS, name)).map_or(Reason::NotTold, Reason::Known))
}
