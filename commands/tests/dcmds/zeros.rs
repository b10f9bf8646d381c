//! Stacks that a core holds as zeros, as those that gcore of gdb 13 could not read in glibc 2.42: each command
//! shows the frame that the registers tell, and says that the rest is missing.

use std::sync::Arc;

use kcore::{Core, OpenOptions, Tid};
use serde_json::Value;

use crate::harness::{Opened, json_on, open, run_on};

/// The core of the case, with zeros in place of the mappings that hold the stacks of `tids`.
fn with_zeros(opened: &Opened, tids: &[Tid]) -> Arc<Core> {
    let mut bytes = std::fs::read(&opened.case.core).expect("the core can be read");
    for tid in tids {
        let sp = opened.core.registers().stack_pointer(*tid).expect("a stack pointer");
        let segments = opened.core.file().expect("a core file").segments().iter();
        let mut held = segments.filter(|segment| segment.range.contains(sp));
        let segment = held.next().expect("the stack was dumped");
        let start = segment.offset.get() as usize;
        bytes[start..start + segment.file_size as usize].fill(0);
    }
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("stacks-of-zeros");
    std::fs::write(&path, bytes).expect("the copy can be written");
    let options = OpenOptions { core: Some(path), ..OpenOptions::default() };
    Arc::new(Core::open(&options).expect("the copy opens"))
}

/// The place of each frame: what its arguments were, is among what is lost.
fn frames(stack: &Value) -> Vec<(&Value, &Value)> {
    let frames = stack["frames"].as_array().expect("frames").iter();
    frames.map(|frame| (&frame["pc"], &frame["function"])).collect()
}

#[test]
fn stacks_of_zeros_are_said_to_be_missing() {
    let opened = open("threads-12", "O2-pie");
    let crashed = opened.core.crashed_thread().expect("a crashed thread").tid;
    let waiting: Vec<Tid> = opened.core.tids().into_iter().filter(|tid| *tid != crashed).collect();
    assert!(waiting.len() > 1);
    let hurt = with_zeros(&opened, &waiting);
    for tid in &waiting {
        let line = format!("0t{tid}::stack");
        let (before, now) = (opened.one(&line), json_on(&hurt, &line).remove(0));
        let (all, left) = (frames(&before), frames(&now));
        assert!(left.len() < all.len() && all[..left.len()] == left, "{now}");
        assert!(left.iter().all(|frame| frame.0 == left[0].0), "one, and what was inlined: {now}");
        assert_eq!(
            (&before["end"]["reason"], &now["end"]["reason"]),
            (&"outermost".into(), &"zeros".into())
        );
        for spelling in ["$C", "::stack", "::stack -v"] {
            let shown = run_on(&hurt, &format!("0t{tid}{spelling}")).out;
            assert!(shown.contains("reads as zeros: its memory is missing"), "{spelling}: {shown}");
        }
    }
    let (before, now) = (opened.one("::stack"), json_on(&hurt, "::stack").remove(0));
    assert_eq!(frames(&now), frames(&before), "who died has its stack");
    let groups = json_on(&hurt, "::stacks");
    let lost = groups.iter().filter(|group| group["end"]["reason"] == "zeros");
    let count: u64 = lost.filter_map(|group| group["count"].as_u64()).sum();
    assert_eq!(count, waiting.len() as u64, "{groups:?}");
    let shown = run_on(&hurt, "::stacks").out;
    assert!(shown.contains("reads as zeros: its memory is missing"), "{shown}");
}
