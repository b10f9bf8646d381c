//! A whole core, and everything that the library answers about one.

use std::{fs::File, io::Write, os::fd::AsRawFd, path::PathBuf};

use kcore::search::{UnitSize, ValuePattern};
use kcore::{Addr, AddrRange, Core, OpenOptions, Tid};
use rustix::fs::{MemfdFlags, memfd_create};

use crate::input::Input;

/// Frames of one stack.
const FRAMES: usize = 1024;
/// Threads and mappings that are asked about.
const ASKED: usize = 16;

/// The executable, which may be empty, then the core.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let exe = input.part();
    let exe = (!exe.is_empty()).then(|| Held::new(exe));
    let held = Held::new(input.rest());
    let options = OpenOptions {
        core: Some(held.path()),
        exe: exe.as_ref().map(Held::path),
        ..OpenOptions::default()
    };
    if let Ok(core) = Core::open(&options) {
        ask_all(&core);
    }
}

/// Bytes as a file that has no name.
pub struct Held(File);

impl Held {
    /// Holds `bytes`.
    pub fn new(bytes: &[u8]) -> Self {
        let file = memfd_create("fuzz", MemfdFlags::CLOEXEC).expect("memory");
        let mut file = File::from(file);
        file.write_all(bytes).expect("memory");
        Self(file)
    }

    /// A path by which this process may open it.
    pub fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
    }
}

/// Asks a core what there is to ask.
pub fn ask_all(core: &Core) {
    let _ =
        (core.status(), core.doubts(), core.crash().last_words(), core.process().initial_stack());
    let tids: Vec<_> = core.tids().into_iter().take(ASKED).collect();
    for stack in core.stacks().of_threads(&tids, FRAMES) {
        assert!(stack.frames.len() <= FRAMES);
        let named = core.stacks().named_frames(&stack);
        let _ = named.filter(|frame| frame.location.function.is_some()).count();
    }
    core.stacks().groups(&tids, core.tasks().all(), FRAMES);
    search(core);
    for tid in tids {
        let _ =
            (core.registers().user(tid), core.waits_in(tid), core.registers().stack_pointer(tid));
        ask_of_thread(core, tid);
        if let Some(at) = core.registers().stack_pointer(tid) {
            ask_about(core, at);
        }
    }
    for mapping in core.mappings().iter().take(ASKED) {
        let _ = (mapping.name(), mapping.permissions());
        ask_about(core, mapping.range.start);
    }
}

fn ask_of_thread(core: &Core, tid: Tid) {
    let _ =
        (core.registers().floating_point(tid), core.tls().structure(tid), core.tls().errno(tid));
    let _ = (core.contexts().of_signals(tid), core.stacks().range_of_thread(tid));
    for module in core.modules().all().iter().take(ASKED) {
        let _ = core.tls().block(tid, module);
    }
}

/// Looks for a byte that is everywhere, for as long as one answer takes.
fn search(core: &Core) {
    let everywhere = AddrRange::new(Addr::new(0), Addr::new(u64::MAX));
    let wanted = ValuePattern::Masked { value: 0, mask: 0xff };
    let unit = UnitSize::from_bytes(1).expect("1 is a size");
    let first = core.memory().search(wanted, unit, everywhere).next();
    assert!(first.is_none_or(|found| found.done <= 1 << 32));
}

fn ask_about(core: &Core, at: Addr) {
    let _ = (core.memory().whatis(at), core.symbols().at(at), core.mapping_at(at));
    let tid = core.stacks().thread_at(at).unwrap_or(Tid::new(1));
    let _ = (
        core.contexts().saved(at),
        core.contexts().chain(at),
        core.registers().of_jump_buffer(tid, at),
    );
}
