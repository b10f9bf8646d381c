//! Objects and frames of V8, in memory that may hold anything: all that its decoder reads.

use std::{ops::ControlFlow, sync::Once};

use kcore_mem::{Addr, CodeAddr};
use kcore_runtimes::{
    Host, NativeStack, PROBES, Runtime, Runtimes,
    v8::{
        V8,
        value::{Limits, Step, Value, ValueKind},
    },
};
use kcore_unwind::{End, Frame, Phase, RegisterId, Regs, RuleFrame, Trust};

use crate::{input::Input, memory::Memory, v8_host::V8Host};

/// What is told of one value: little enough that a run is short.
pub const LIMITS: Limits = Limits { depth: 4, entries: 16, units: 64 };
/// Frames of the stack, at most.
const FRAMES: u8 = 8;
/// Objects and groups of a heap that are asked about.
const OBJECTS: usize = 16;
const GROUPS: usize = 2;
const RBP: RegisterId = RegisterId(6);
const RSP: RegisterId = RegisterId(7);

/// The number of a version and the word of a value, then the program counters and frame pointers of a
/// stack behind their count, then memory.
pub fn run(data: &[u8]) {
    alone();
    let mut input = Input::new(data);
    let version = input.byte();
    let word = Addr::new(input.word());
    let count = input.byte().min(FRAMES);
    let frames: Vec<Frame> = (0..count).map(|_| frame(&mut input)).collect();
    let host = V8Host::new(version, Memory::read(&mut input));
    let runtimes = Runtimes::find(PROBES, &host);
    // Its metadata may be damaged.
    let Some(v8) = runtimes.of::<V8>().next() else { return };
    look_at(v8, &host, word);
    step_out(&runtimes, &host, &frames);
    decode(v8, &host, &frames);
    take_census(v8, &host, word);
}

/// Has the work of several threads done by this one: to wait for others would take most of the time.
fn alone() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        pool.build_global().expect("the first pool");
    });
}

fn frame(input: &mut Input<'_>) -> Frame {
    let (pc, frame_pointer) = (Addr::new(input.word()), Addr::new(input.word()));
    Frame {
        pc: CodeAddr::Return(pc),
        sp: Some(frame_pointer),
        cfa: frame_pointer.checked_add(16),
        frame_pointer: Some(frame_pointer),
        trust: Trust::Runtime,
        guess: false,
        signal_trampoline: false,
        on_other_stack: false,
        calls_elsewhere: false,
    }
}

/// Asks a value all that there is to ask, and holds it to its limits.
fn look_at(v8: &V8, host: &dyn Host, word: Addr) {
    let value = v8.value(host, word.get(), LIMITS);
    if let Some(Value { kind: ValueKind::Object(object), .. }) = value {
        assert!(object.properties.len() as u64 <= LIMITS.entries, "a limit of properties");
        assert!(object.elements.len() as u64 <= LIMITS.entries, "a limit of elements");
    }
    let _ = (v8.scopes(host, word, LIMITS), v8.source(host, word, LIMITS));
    let _ = (v8.source_lines(host, word, 1..=9, 3), v8.defined(host, word));
    let word = word.get();
    let _ = (v8.type_of(host, word), v8.constructor(host, word), v8.bytes(host, word));
    let _ = v8.elements(host, word, LIMITS.entries);
    for step in [Step::Index(0), Step::Name("length".to_owned()), Step::Symbol(String::new())] {
        let _ = v8.member(host, word, &step, LIMITS);
    }
}

fn step_out(runtimes: &Runtimes, host: &dyn Host, frames: &[Frame]) {
    for frame in frames {
        let mut regs = Regs::new(frame.pc.addr());
        let pointer = frame.frame_pointer.map(Addr::get);
        regs.set(RBP, pointer);
        regs.set(RSP, pointer);
        let asked = RuleFrame { thread: None, pc: frame.pc, regs: &regs };
        let mut caller = Regs::new(Addr::new(0));
        let _ = runtimes.step(host, Phase::AfterCfi, &asked, &mut caller);
    }
}

fn decode(v8: &V8, host: &dyn Host, frames: &[Frame]) {
    let stack = NativeStack { thread: None, task: None, frames, end: End::Outermost };
    let _ = (v8.decode(host, &stack), v8.awaiting(host, &stack));
    for frame in frames {
        let _ = v8.frame_details(host, frame, LIMITS);
    }
}

/// Counts all objects, and asks some of them all that there is to ask.
fn take_census(v8: &V8, host: &dyn Host, word: Addr) {
    let _ = v8.place(host, word);
    let watch = &mut |_, _| ControlFlow::Continue(());
    let Ok(Some(census)) = v8.census(host, watch) else { return };
    let _ = v8.definitions(host, &census, watch);
    for at in census.objects().take(OBJECTS) {
        assert_eq!(census.index_of(at).and_then(|index| census.nth(index)), Some(at));
        let _ = (v8.references(host, &census, at), v8.object_size(host, &census, at));
    }
    let Ok(groups) = v8.groups(host, &census, watch) else { return };
    for group in groups.iter().take(GROUPS) {
        let members = group.members(host, &census).count() as u64;
        assert!(members <= census.object_count(), "members are among the objects");
    }
}
