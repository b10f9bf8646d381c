//! The rule of bounds: what a core makes kcore allocate is linear in its length, whatever it claims.

use std::{fs, io::Write};

use kcore::{Core, OpenOptions};
use kcore_mem::Region;
use kcore_runtimes::Host;

use crate::{
    ask::ask,
    crafted,
    measure::{Allocated, measure},
};

/// For each byte of the core, at one time and in all; and beside it.
const PEAK: usize = 48;
const TOTAL: usize = 160;
const FIXED: usize = 24 << 20;

fn asked(name: &str, core: &[u8]) -> Allocated {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("core");
    fs::write(&path, core).expect("a core");
    let (frames, allocated) = measure(name, || ask(&path, None));
    println!("{name}: {} bytes, {frames:?} frames, {allocated:?}", core.len());
    allocated
}

fn assert_linear(name: &str, core: &[u8]) {
    let allocated = asked(name, core);
    let (peak, total) = (FIXED + PEAK * core.len(), FIXED + TOTAL * core.len());
    assert!(allocated.peak <= peak, "{name}: {allocated:?}, at one time at most {peak}");
    assert!(allocated.total <= total, "{name}: {allocated:?}, in all at most {total}");
}

#[test]
fn many_segments_are_linear() {
    assert_linear("segments", &crafted::segments(131_070));
    assert_linear("segments in one place", &crafted::same_segments(131_070));
}

#[test]
fn those_that_look_at_all_memory_look_at_no_more_than_there_is() {
    let bytes = crafted::segments_of_one_page(5000);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("core");
    fs::write(&path, &bytes).expect("a core");
    let core = Core::open(&OpenOptions { core: Some(path), ..OpenOptions::default() });
    let core = core.expect("it opens");
    let len = |regions: Vec<Region>| regions.iter().map(|region| region.range.len()).sum::<u64>();
    assert_eq!(len(core.space().regions()), 5000 * 4096);
    let looked_at = len(Host::regions(&core));
    assert!((1..=bytes.len() as u64).contains(&looked_at), "{looked_at} of {}", bytes.len());
}

#[test]
fn a_small_file_may_unpack_to_many_segments() {
    let core = crafted::same_segments(66_000);
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    encoder.write_all(&core).expect("memory");
    let packed = encoder.finish().expect("memory");
    assert!(packed.len() < 1000, "{} bytes", packed.len());
    let allocated = asked("packed segments", &packed);
    assert!(allocated.peak <= 100 << 20, "{allocated:?}");
}

#[test]
fn many_threads_of_one_long_stack_are_linear() {
    assert_linear("threads", &crafted::threads(10_000));
}

#[test]
fn many_mapped_files_are_linear() {
    assert_linear("files", &crafted::files(100_000));
}

#[test]
fn modules_that_share_their_headers_are_linear() {
    assert_linear("modules", &crafted::modules(20_000));
    assert_linear("modules in one place", &crafted::modules_in_one_place(100_000));
}

#[test]
fn a_long_path_of_many_segments_is_linear() {
    assert_linear("path", &crafted::long_path(20_000));
}

#[test]
fn a_long_link_map_of_many_modules_is_linear() {
    assert_linear("link map", &crafted::link_map(60_000));
}

#[test]
fn arguments_that_are_one_long_string_are_linear() {
    assert_linear("arguments", &crafted::arguments(30_000, b"\0"));
    assert_linear("arguments without end", &crafted::arguments(30_000, b""));
}

#[test]
fn symbols_that_share_a_long_name_are_linear() {
    assert_linear("names", &crafted::symbols(50_000));
}

#[test]
fn unwind_information_is_as_long_as_memory_and_not_as_claimed() {
    assert_linear("unwind information", &crafted::claimed_unwind_information());
}

#[test]
fn code_without_unwind_information_is_followed_once() {
    // A step for each frame of each thread through 64 KiB would take minutes.
    let allocated = asked("code", &crafted::code_to_follow(200));
    assert!(allocated.peak <= FIXED, "{allocated:?}");
}
