//! Locks that threads of Python wait for, held against what the program knew of them.

use gen_cores::Case;
use kcore::{
    Addr, Core, Tid,
    waits::{Holder, LockKind},
};

use crate::{
    CASES,
    damage::{changed, heaps},
    open, told_lines,
};

fn cases() -> impl Iterator<Item = &'static Case> {
    CASES.iter().map(|(case, _)| case).filter(|case| case.scenario == "python-locks")
}

fn tid(told: &serde_json::Value) -> Option<Tid> {
    told.as_u64().and_then(|id| u32::try_from(id).ok()).map(Tid::new)
}

#[test]
fn who_waits_for_whom_is_what_the_program_knew() {
    for case in cases() {
        let core = open(case);
        let lines = told_lines(case);
        assert_eq!(lines.len(), 10);
        for line in lines {
            let waiter = tid(&line["waiter"]).expect("a waiter");
            let name = format!("{}: {line}", case.name());
            let lock = core.waits().lock_of(waiter).unwrap_or_else(|| panic!("{name}"));
            let at = line["at"].as_str().and_then(|at| u64::from_str_radix(&at[2..], 16).ok());
            let is = (lock.kind.as_str(), Some(lock.at), lock.holder);
            let holder = tid(&line["holder"]).map_or(Holder::NotRecorded, Holder::Thread);
            let kind = line["kind"].as_str().expect("a kind");
            assert_eq!(is, (kind, at.map(Addr::new), holder), "{name}");
        }
    }
}

#[test]
fn no_other_thread_has_a_holder() {
    for case in cases() {
        let core = open(case);
        let told: Vec<Tid> =
            told_lines(case).iter().filter_map(|line| tid(&line["waiter"])).collect();
        for lock in core.waits().locks.iter().filter(|lock| is_of_python(lock.kind)) {
            let others = lock.waiters.iter().filter(|waiter| !told.contains(&waiter.tid));
            let is_held = matches!(lock.holder, Holder::Thread(_));
            assert!(!is_held || others.count() == 0, "{}: {lock:?}", case.name());
        }
    }
}

#[test]
fn threads_that_wait_for_each_other_are_found() {
    for case in cases() {
        let core = open(case);
        let cycles = core.waits().cycles();
        let mut lengths: Vec<usize> = cycles.iter().map(Vec::len).collect();
        lengths.sort_unstable();
        assert_eq!(lengths, [1, 2], "{}: {cycles:?}", case.name());
    }
}

fn is_of_python(kind: LockKind) -> bool {
    matches!(kind, LockKind::OfLanguage(_))
}

/// Memory of each object that says who holds it reads as other things: nothing that is shown may be invented.
#[test]
fn what_is_damaged_names_no_holder() {
    for case in cases() {
        let line = &told_lines(case)[0];
        let at = line["at"].as_str().and_then(|at| u64::from_str_radix(&at[2..], 16).ok());
        let hurt = changed(case, |core: &Core, bytes| {
            let at = at.expect("an address");
            let place = heaps(core).into_iter().find_map(|(start, part)| {
                let place = usize::try_from(at.checked_sub(start)?).ok()?;
                (place < part.len()).then(|| part.start + place)
            });
            let place = place.expect("it was dumped");
            bytes[place + 24..place + 32].copy_from_slice(&0x1234_5678_u64.to_le_bytes());
        });
        let waiter = tid(&line["waiter"]).expect("a waiter");
        let lock = hurt.core.waits().lock_of(waiter).expect("it still waits");
        assert_eq!(lock.holder, Holder::NotRecorded, "{}", case.name());
    }
}
