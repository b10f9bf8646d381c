//! Memory that is read of a process that stands still, runs, or is there no more.

use std::{os::unix::process::CommandExt, process::Command, time::Duration};

use kcore_live::{CoreFilter, CoreSink, LiveMemory, Process, SaveProgress, capture, save};
use kcore_mem::AddrRange;

use crate::{
    consistency::word,
    target::{Target, plan, program, until},
};

const TIMEOUT: Duration = Duration::from_secs(5);

#[test]
fn no_thread_runs_while_memory_is_copied() {
    let target = Target::start("relay");
    let [count, beside] = target.addresses()[..] else { panic!("{}", target.line) };
    let (count, beside) = (AddrRange::with_len(count, 8), AddrRange::with_len(beside, 1 << 20));
    let process = Process::open(target.pid()).unwrap();
    let memory = LiveMemory::open(&process).unwrap();
    let (_, maps) = process.maps().unwrap();
    let mut values = std::collections::HashSet::new();
    for _ in 0..300 {
        let more = [count, beside, count];
        let plan = plan(&process, &memory, &maps, TIMEOUT, false);
        let snapshot = capture(&kcore_live::Plan { memory_too: &more, ..plan }).unwrap();
        let counts: Vec<&[u8]> = snapshot
            .pieces()
            .filter(|piece| piece.start == count.start)
            .map(|piece| piece.bytes)
            .collect();
        assert_eq!(counts.len(), 2);
        assert_eq!(counts[0], counts[1], "a thread ran meanwhile");
        values.insert(counts[0].to_vec());
    }
    assert!(values.len() > 10, "the target must have counted between snapshots");
    target.assert_runs();
}

#[test]
fn a_page_that_only_the_process_could_fill_does_not_hold_it_up() {
    let target = Target::start("never-filled");
    if target.line.starts_with("refused") {
        gen_cores::not_tested("userfaultfd is refused here");
        return;
    }
    let [count, pages] = target.addresses()[..] else { panic!("{}", target.line) };
    let process = Process::open(target.pid()).unwrap();
    let memory = LiveMemory::open(&process).unwrap();
    let (_, maps) = process.maps().unwrap();
    let more = [AddrRange::with_len(pages, 1 << 16), AddrRange::with_len(count, 8)];
    for rolling in [false, true] {
        let plan = plan(&process, &memory, &maps, TIMEOUT, rolling);
        let snapshot = capture(&kcore_live::Plan { memory_too: &more, ..plan }).unwrap();
        assert_eq!(word(&snapshot, pages), None);
        assert!(word(&snapshot, count).is_some());
        target.assert_runs();
    }
}

/// Counts what it takes.
#[derive(Default)]
struct Counted(u64);

impl CoreSink for Counted {
    fn begin(&mut self, head: u64) -> std::io::Result<()> {
        self.zeros(head)
    }

    fn bytes(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.zeros(bytes.len() as u64)
    }

    fn zeros(&mut self, count: u64) -> std::io::Result<()> {
        self.0 += count;
        Ok(())
    }

    fn head(&mut self, _: &[u8]) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_process_whose_first_thread_has_ended_is_saved_in_full() {
    let target = Target::start("led-by-none");
    until("its first thread ends", || target.state() == 'Z');
    let process = Process::open(target.pid()).unwrap();
    let memory = LiveMemory::open(&process).unwrap();
    let plan = plan(&process, &memory, &[], TIMEOUT, false);
    let mut sink = Counted::default();
    let saved = save(&plan, None, &SaveProgress::default(), &mut sink).unwrap();
    assert_eq!((saved.threads, saved.size), (4, sink.0));
    let stack = 4 * (8 << 20);
    assert!(saved.memory > stack, "{saved:?}");
    target.assert_runs();
}

#[test]
fn a_core_is_saved_without_pages_that_only_the_process_could_fill() {
    let target = Target::start("never-filled");
    if target.line.starts_with("refused") {
        gen_cores::not_tested("userfaultfd is refused here");
        return;
    }
    let process = Process::open(target.pid()).unwrap();
    let memory = LiveMemory::open(&process).unwrap();
    let plan = plan(&process, &memory, &[], TIMEOUT, false);
    let (filter, mut sink) = (Some(CoreFilter::Everything), Counted::default());
    let saved = save(&plan, filter, &SaveProgress::default(), &mut sink).unwrap();
    assert!(saved.refused >= 1 << 20, "{saved:?}");
    assert_eq!(saved.size, sink.0);
    target.assert_runs();
}

#[test]
fn the_memory_of_a_program_is_not_that_of_the_next_one() {
    let mut command = Command::new(program());
    command.arg("execs");
    // The next program lies at the same addresses then, where the system allows that.
    // SAFETY: the child calls nothing but personality(2).
    unsafe {
        command.pre_exec(|| {
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            Ok(())
        });
    }
    let target = Target::start_by(&mut command);
    let count = AddrRange::with_len(target.addresses()[0], 8);
    // It starts itself all the while: of several tries some are in time.
    let mut opened: usize = 0;
    for _ in 0..50 {
        let Ok(process) = Process::open(target.pid()) else { continue };
        let Ok(memory) = LiveMemory::open(&process) else { continue };
        opened += usize::from(memory.read(count).is_some());
        until("the next program runs", || !memory.is_there(count.start));
        assert_eq!(memory.read(count), None);
    }
    assert!(opened > 0);
}
