//! Objects, frames and lists of CPython, in memory that may hold anything: all that its decoder reads.

use std::ops::ControlFlow;

use kcore_mem::{Addr, CodeAddr};
use kcore_runtimes::{
    DyingStack, Host, NativeStack, PROBES, Runtime, Runtimes,
    objects::Objects,
    python::{
        Python,
        value::{Limits, Step, Value, ValueKind},
    },
};
use kcore_unwind::{End, Frame, Tid, Trust};

use crate::{input::Input, memory::Memory, python_host::PythonHost};

/// What is told of one value: little enough that a run is short.
pub const LIMITS: Limits = Limits { depth: 4, entries: 16, characters: 64 };
/// Objects and frames that are asked about.
const OBJECTS: usize = 16;
const FRAMES: usize = 64;
/// Bytes between two native frames of the stack, whose first one begins at the address of the seed's frames.
const STEP: u64 = 64;
const NATIVE: u64 = 16;

/// A host as [`PythonHost::read`] takes it, with the address of an object and of a stack before its memory.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let (object, stack) = (Addr::new(input.word()), Addr::new(input.word()));
    let head = PythonHost::read(&mut input);
    let host = PythonHost::new(head, Memory::read(&mut input));
    let runtimes = Runtimes::find(PROBES, &host);
    let Some(python) = runtimes.of::<Python>().next() else { return };
    look_at(python, &host, object);
    decode(python, &host, stack);
    take_census(python, &host, object);
}

/// Asks an object all that there is to ask, and holds it to its limits.
fn look_at(python: &Python, host: &dyn Host, at: Addr) {
    if let Some(Value { kind: ValueKind::Items { items, .. }, .. }) = python.value(host, at, LIMITS)
    {
        assert!(items.len() as u64 <= LIMITS.entries, "a limit of items");
    }
    for step in [Step::Index(0), Step::Name("a".to_owned()), Step::Key(String::new())] {
        let _ = python.member(host, at, &step);
    }
    for name in ["f_lineno", "tb_lineno", "__suppress_context__"] {
        let _ = python.fact(host, at, name);
    }
    let _ = (python.awaiting(host, at), python.trace(host, at), python.identify(host, at));
    let _ = (python.size_of(host, at), python.class_of(host, at));
}

fn decode(python: &Python, host: &dyn Host, stack: Addr) {
    let frame = |index: u64| {
        let sp = stack.checked_add(index * STEP);
        Frame {
            pc: CodeAddr::Return(Addr::new(0x40_1000)),
            sp,
            cfa: sp.and_then(|sp| sp.checked_add(STEP)),
            frame_pointer: None,
            trust: Trust::Cfi,
            guess: false,
            signal_trampoline: false,
            on_other_stack: false,
            calls_elsewhere: false,
        }
    };
    let frames: Vec<Frame> = (0..NATIVE).map(frame).collect();
    let thread = host.threads().first().copied();
    let native = NativeStack { thread, task: None, frames: &frames, end: End::Outermost };
    for span in python.decode(host, &native) {
        assert!(span.frames.end <= frames.len(), "spans lie among the frames");
    }
    let _ = python.end(host, &DyingStack { stack: native, functions: &[] });
    thread.into_iter().for_each(|thread| of_thread(python, host, thread));
}

fn of_thread(python: &Python, host: &dyn Host, thread: Tid) {
    let _ = python.thread(host, thread);
    for state in python.thread_states(host, thread) {
        let raised = python.exceptions(host, state).raised;
        let _ = raised.and_then(|raised| python.raised_value(host, raised, LIMITS));
    }
    let groups = python.chains(host, thread).into_iter().flat_map(|chain| chain.groups);
    for frame in groups.flat_map(|group| group.frames).take(FRAMES) {
        for local in python.locals(host, frame.at).into_iter().flatten().take(OBJECTS) {
            let _ = python.value(host, local.at, LIMITS);
        }
    }
    let _ = python.py_tasks(host);
    let _ = python.follow_running(host);
}

/// Counts all objects, and looks for who refers to one.
fn take_census(python: &Python, host: &dyn Host, object: Addr) {
    let watch = &mut |_, _| ControlFlow::Continue(());
    let census = python.census(host, watch).expect("nobody broke it off");
    let _ = python.groups(host, &census);
    for at in census.objects.iter().take(OBJECTS) {
        let _ = python.value(host, *at, LIMITS);
    }
    let found = python.referrers(host, &census, &[object], watch).expect("nobody broke it off");
    assert!(found.iter().all(|referrer| referrer.to == object), "it was asked about one object");
    let _ = python.graph(host, watch).expect("nobody broke it off");
    let path = python.path(host, object, watch).expect("nobody broke it off");
    assert!(path.is_none_or(|path| path.steps.last().is_some_and(|step| step.at == object)));
}
