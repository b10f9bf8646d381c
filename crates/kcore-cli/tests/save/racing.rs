//! A process that touches, maps and unmaps memory all the time: its core has all that was there when it stood still,
//! however much of it was not there when kcore first looked.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Command;

use super::process::{Running, compiled};
use crate::segments::{PAGE, Segments};
use crate::target::save;

/// Times that it is saved.
const TIMES: usize = 6;
/// Pages that it maps and unmaps.
const RING: usize = 64;

/// The words of a page.
fn words(page: &[u8]) -> impl Iterator<Item = u64> {
    page.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap()))
}

/// What the program says of its memory, at the instant of the core.
struct State {
    memory: u64,
    round: u64,
    touched: u64,
    made: Vec<u64>,
}

impl State {
    fn read(core: &Segments, at: u64) -> Self {
        let words: Vec<u64> = words(&core.page(at).unwrap()).collect();
        let [memory, round, touched, made @ ..] = &words[..] else { panic!("no state") };
        let made = made[..RING].iter().copied().filter(|page| *page != 0).collect();
        Self { memory: *memory, round: *round, touched: *touched, made }
    }
}

#[test]
fn what_is_touched_or_mapped_while_kcore_looks_is_in_the_core() {
    let program = compiled("save/racing.c");
    let (process, _, output) = Running::start(&mut Command::new(&program));
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).unwrap();
    let at = u64::from_str_radix(line.trim().trim_start_matches("0x"), 16).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let core = folder.path().join("core");
    let mut states = BTreeSet::new();
    for _ in 0..TIMES {
        let said = save(&[], &process.pid(), &core);
        assert!(!said.contains("could not be read"), "{said}");
        let segments = Segments::of(&core);
        let state = State::read(&segments, at);
        // What was not looked at in time has no bytes, and that was said; never is it zeros.
        let may_lack = said.contains("not copied, since the time was over");
        let check = |page: u64, value: u64, what: &str| {
            let first = segments.page(page).and_then(|page| words(&page).next());
            let is_so = first == Some(value) || (may_lack && first.is_none());
            assert!(is_so, "{what} {page:x}: {first:x?}, not {value:x}: {said}");
        };
        for page in 0..state.touched {
            check(state.memory + page * PAGE, state.round << 32 | page, "touched");
        }
        state.made.iter().for_each(|page| check(*page, *page, "mapped"));
        states.insert((state.round, state.touched, state.made));
    }
    // It went on between, or nothing of this would say anything.
    assert_eq!(states.len(), TIMES);
    fs::remove_file(program).unwrap();
}
