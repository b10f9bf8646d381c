//! A snapshot is of one instant, and holds registers and stacks of every thread.

use std::time::Duration;

use kcore_live::{Instants, Registers, Snapshot};
use kcore_mem::Addr;

use crate::target::Target;

const TIMEOUT: Duration = Duration::from_secs(5);

pub fn word(snapshot: &Snapshot, at: Addr) -> Option<i64> {
    snapshot.pieces().find_map(|piece| {
        let into = usize::try_from(at.offset_from(piece.start)?).ok()?;
        piece.bytes.get(into..)?.first_chunk().map(|bytes| i64::from_ne_bytes(*bytes))
    })
}

/// `rsp` is number 19 of `struct user_regs_struct`, `sp` number 31 of `struct user_pt_regs`.
pub fn stack_pointer(registers: &Registers) -> Addr {
    let number = if cfg!(target_arch = "x86_64") { 19 } else { 31 };
    let bytes = registers.general[number * 8..][..8].try_into().unwrap();
    Addr::new(u64::from_ne_bytes(bytes))
}

#[test]
fn a_token_is_never_seen_at_two_instants() {
    let target = Target::start("ring");
    let cells = target.addresses();
    let mut seen = std::collections::HashSet::new();
    for _ in 0..100 {
        let snapshot = target.capture(TIMEOUT, false).unwrap();
        let values: Vec<i64> =
            cells.iter().map(|cell| word(&snapshot, *cell).expect("a cell on a stack")).collect();
        let latest = *values.iter().max().unwrap();
        let ring = values.len() as i64;
        for (index, value) in values.iter().enumerate() {
            let wanted = latest - (latest - index as i64).rem_euclid(ring);
            assert_eq!(*value, wanted, "cell {index} of {values:?}");
        }
        seen.insert(latest);
    }
    // Else the test has shown nothing: the token must have moved between snapshots.
    assert!(seen.len() > 10, "{seen:?}");
    target.assert_runs();
}

#[test]
fn every_thread_has_registers_and_its_stack() {
    let target = Target::start("threads");
    for rolling in [false, true] {
        let snapshot = target.capture(TIMEOUT, rolling).unwrap();
        let instants = if rolling { Instants::Each } else { Instants::One };
        assert_eq!((snapshot.threads.len(), snapshot.instants), (22, instants));
        assert_eq!(snapshot.threads[0].tid, target.pid().get());
        for thread in &snapshot.threads {
            let registers = thread.registers.as_ref().unwrap();
            assert!(word(&snapshot, stack_pointer(registers)).is_some(), "{thread:?}");
            assert!(thread.stat.as_ref().is_some_and(|stat| "SR".contains(stat.state)));
            assert!(!registers.floating.is_empty());
        }
        assert!(snapshot.stopped > Duration::ZERO && snapshot.median_stop() <= snapshot.stopped);
    }
    target.assert_runs();
}
