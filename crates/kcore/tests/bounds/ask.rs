//! Everything that the library answers about a core.

use std::path::Path;

use kcore::references::SearchedCode;
use kcore::search::{UnitSize, ValuePattern};
use kcore::{Addr, AddrRange, Core, OpenOptions, Tid};

/// Frames of one stack: what `::stacks` compares.
pub const FRAMES: usize = 254;
/// Addresses that are asked about: each answer may take a walk of its own.
const ASKED: usize = 8;
/// Bytes of files that a search may read beside a core's own.
const IN_FILES: u64 = 16 << 30;

/// Opens a core and asks all that there is to ask; an error is an answer. Gives the number of
/// frames.
pub fn ask(core: &Path, exe: Option<&Path>) -> Option<usize> {
    open(core, exe).map(|core| ask_all(&core))
}

/// Opens a core and asks for stacks that belong to no thread: those that lists name, and those that a search
/// finds.
pub fn ask_for_tasks(core: &Path, exe: Option<&Path>) {
    let Some(core) = open(core, exe) else { return };
    let found = core.contexts().found().unwrap_or_default().iter().map(|context| &context.task);
    for task in core.tasks().all().iter().chain(found).take(FRAMES) {
        let stack = core.stacks().of_task(task, FRAMES);
        assert!(stack.frames.len() <= FRAMES, "a bound of frames");
    }
}

fn open(core: &Path, exe: Option<&Path>) -> Option<Core> {
    let options = OpenOptions {
        core: Some(core.to_owned()),
        exe: exe.map(Path::to_owned),
        ..OpenOptions::default()
    };
    Core::open(&options).ok()
}

fn ask_all(core: &Core) -> usize {
    let _ =
        (core.status(), core.doubts(), core.crash().last_words(), core.process().initial_stack());
    let _ = (
        core.process().environment_now(),
        core.process().auxv_address(),
        core.process().link_map(),
    );
    let stacks = core.stacks().of_threads(&core.tids(), FRAMES);
    let named = stacks.iter().flat_map(|stack| core.stacks().named_frames(stack));
    let frames = named.count();
    assert!(stacks.iter().all(|stack| stack.frames.len() <= FRAMES), "a bound of frames");
    for stack in stacks.iter().take(ASKED) {
        let Some(tid) = stack.tid else { continue };
        let _ =
            (core.registers().user(tid), core.waits_in(tid), core.registers().floating_point(tid));
        let _ = (core.tls().structure(tid), core.tls().errno(tid));
        let _ = (core.contexts().of_signals(tid), core.stacks().range_of_thread(tid));
        let tops = stack.frames.iter().filter_map(|frame| frame.sp);
        tops.take(ASKED).for_each(|at| ask_about(core, at));
    }
    for mapping in core.mappings().iter().take(ASKED) {
        let _ = (mapping.name(), mapping.permissions());
        ask_about(core, mapping.range.start);
    }
    search(core);
    frames
}

/// Searches all memory and all code. Of what is everywhere the first matches are enough.
fn search(core: &Core) {
    let everything = AddrRange::new(Addr::new(0), Addr::new(u64::MAX));
    let nowhere =
        core.memory().search(ValuePattern::exactly(0x5eed_5eed), UnitSize::Eight, everything);
    let len = core.file().map_or(0, |file| file.bytes().len() as u64);
    assert!(nowhere.total() <= len + IN_FILES, "{} bytes of {len}", nowhere.total());
    nowhere.for_each(drop);
    let everywhere = core.memory().search(ValuePattern::exactly(0), UnitSize::One, everything);
    everywhere.take(ASKED).for_each(drop);
    let scope = SearchedCode { all_modules: true, globals_only: false };
    if let Ok(references) =
        core.memory().references(vec![AddrRange::with_len(Addr::new(1 << 40), 8)], scope)
    {
        references.take(ASKED).for_each(drop);
    }
}

fn ask_about(core: &Core, at: Addr) {
    let _ = (core.memory().whatis(at), core.mapping_at(at), core.space().read_word(at));
    let _ = (core.contexts().saved(at), core.contexts().chain(at));
    let tid = core.stacks().thread_at(at).unwrap_or(Tid::new(1));
    let _ = core.registers().of_jump_buffer(tid, at);
}
