//! Every page of a core is what the process has at its address, however many pieces its memory is in.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::process::Command;

use super::process::{Running, compiled};
use crate::segments::{PAGE, Segments};
use crate::target::save;

/// Pages of each kind of memory. The kernel tells of 512 runs at a time, kcore asks for 2,048, and copies 256
/// pages at once; every second page is one run.
const PAGES: [u64; 5] = [510, 1022, 1200, 4096, 9000];

#[test]
fn every_page_of_memory_in_many_pieces_lies_where_it_belongs() {
    let program = compiled("save/scattered.c");
    for pages in PAGES {
        let mut command = Command::new(&program);
        let (process, _, output) = Running::start(command.arg(pages.to_string()));
        let lines = BufReader::new(output).lines().take(3).map(Result::unwrap);
        let kinds: Vec<u64> = lines
            .map(|line| u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap())
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let core = folder.path().join("core");
        let said = save(&[], &process.pid(), &core);
        assert!(!said.contains("could not be read"), "{said}");
        let segments = Segments::of(&core);
        for (kind, start) in kinds.into_iter().enumerate() {
            for page in 0..pages {
                let at = start + page * PAGE;
                let bytes = segments.page(at).unwrap_or_else(|| panic!("{kind} {page}: {said}"));
                let first = u64::from_ne_bytes(bytes[..8].try_into().unwrap());
                let wanted = if page % 2 == 0 { at } else { 0 };
                assert_eq!(first, wanted, "kind {kind}, page {page} of {pages}");
            }
        }
        compare_all(&segments, &process.pid());
    }
    fs::remove_file(program).unwrap();
}

/// Compares all pages of a core with the memory of its process, which waits.
fn compare_all(segments: &Segments, pid: &str) {
    let memory = File::open(format!("/proc/{pid}/mem")).unwrap();
    let mut compared = 0;
    for (at, page) in segments.pages() {
        let mut live = vec![0; PAGE as usize];
        // Of pages of the kernel's own, a process has no file.
        if memory.read_exact_at(&mut live, at).is_ok() {
            assert!(live == page, "{at:x}");
            compared += 1;
        }
    }
    assert!(compared > 1000, "{compared} pages");
}
