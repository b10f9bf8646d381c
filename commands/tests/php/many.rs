//! Thousands of fibers: their stacks are read one by one, and shown as one.

use crate::{Opened, made};

/// How many the program keeps.
const FIBERS: u64 = 2000;

#[test]
fn fibers_that_wait_in_one_place_are_one_group() {
    let Some(case) = made("php-fibers", "php8.4") else { return };
    let core = Opened::of(&case);
    let groups = core.records("::stacks");
    let of_fibers = groups.iter().find(|group| group["count"] == FIBERS);
    let group = of_fibers.unwrap_or_else(|| panic!("{groups:#?}"));
    let frames = group["frames"].as_array().expect("frames");
    let own = frames.iter().filter(|frame| frame["kind"] == "php");
    let names: Vec<&str> = own.filter_map(|frame| frame["function"].as_str()).collect();
    assert_eq!(names[..3], ["Fiber::suspend", "paused", "worker"], "{group:#}");
    assert!(names[3].starts_with("{closure"), "{group:#}");
}
