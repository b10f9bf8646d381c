//! A snapshot is of one instant, and holds registers and stacks of every thread.

use std::time::Duration;

use kcore_live::Snapshot;
use kcore_mem::Addr;

use crate::target::Target;

const TIMEOUT: Duration = Duration::from_secs(5);

fn word(snapshot: &Snapshot, at: Addr) -> Option<i64> {
    snapshot.pieces().find_map(|piece| {
        let into = usize::try_from(at.offset_from(piece.start)?).ok()?;
        piece.bytes.get(into..)?.first_chunk().map(|bytes| i64::from_ne_bytes(*bytes))
    })
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
        assert_eq!((snapshot.threads.len(), snapshot.rolling), (22, rolling));
        assert_eq!(snapshot.threads[0].tid, target.pid().get());
        for thread in &snapshot.threads {
            let registers = thread.registers.as_ref().unwrap();
            let sp = registers.general[19 * 8..][..8].try_into().map(u64::from_ne_bytes);
            let sp = if cfg!(target_arch = "x86_64") { sp.unwrap() } else { continue };
            assert!(word(&snapshot, Addr::new(sp)).is_some(), "{thread:?}");
            assert!(thread.stat.as_ref().is_some_and(|stat| "SR".contains(stat.state)));
            assert!(!registers.floating.is_empty());
        }
        assert!(snapshot.stopped > Duration::ZERO && snapshot.median_stop() <= snapshot.stopped);
    }
    target.assert_runs();
}
