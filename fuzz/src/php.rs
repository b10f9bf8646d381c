//! Calls, values, fibers, generators and objects of PHP, in memory that may hold anything.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange, CodeAddr};
use kcore_runtimes::{
    DyingStack, FrameKind, FrameOfLanguage, NativeStack, Runtime, VariableLimits, objects::Objects,
    php::Php,
};
use kcore_unwind::{End, Frame, Tid, Trust};

use crate::{input::Input, memory::Memory, python_host::PythonHost};

/// Where the module lies that is said to be PHP's.
const MODULE: AddrRange = AddrRange::new(Addr::new(0x40_0000), Addr::new(0x100_0000));
const VERSIONS: [(u8, u8); 7] = [(7, 4), (8, 0), (8, 1), (8, 2), (8, 3), (8, 4), (8, 5)];
const LIMITS: VariableLimits =
    VariableLimits { locals: true, depth: 3, entries: 16, characters: 64 };

/// A version, the address of the globals, a stack pointer, and a host as [`PythonHost::read`] takes it with its memory. Of
/// two stacks with two frames each one is a thread's.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let version = VERSIONS[usize::from(input.byte()) % VERSIONS.len()];
    let (globals, sp) = (Addr::new(input.word()), Addr::new(input.word()));
    let head = PythonHost::read(&mut input);
    let host = PythonHost::new(head, Memory::read(&mut input));
    let Ok(php) = Php::with_globals(version, MODULE, globals) else { return };
    let frame = |sp: Addr| Frame {
        pc: CodeAddr::Return(MODULE.start.saturating_add(16)),
        sp: Some(sp),
        cfa: sp.checked_add(64),
        frame_pointer: None,
        trust: Trust::Runtime,
        guess: false,
        signal_trampoline: false,
        on_other_stack: false,
        calls_elsewhere: false,
    };
    let frames = [frame(sp), frame(sp.saturating_add(64))];
    for thread in [Some(Tid::new(1)), None] {
        let native = NativeStack { thread, task: None, frames: &frames, end: End::Outermost };
        for span in php.decode(&host, &native) {
            assert!(span.frames.end <= frames.len(), "spans lie among the frames");
            for object in span.language.iter().filter_map(|frame| frame.object) {
                let (kind, object) = (FrameKind::Php, Some(object));
                let of =
                    FrameOfLanguage { kind, object, inline: false, ..FrameOfLanguage::default() };
                let _ = php.variables(&host, &of, LIMITS);
            }
        }
        let _ = php.end(&host, &DyingStack { stack: native, functions: &[] });
    }
    let _ = php.tasks(&host);
    let _ = php.thread(&host, Tid::new(1));
    let mut all = Vec::new();
    let _ = php
        .each_object(&host, &mut |_, _| ControlFlow::Continue(()), &mut |object| all.push(object));
    for object in all {
        let held = php.holder(&host, object.at);
        assert!(held.is_some_and(|held| held.at <= object.at), "each object holds its address");
        let _ = (php.value(&host, object.at, LIMITS), php.edges(&host, object.at));
    }
}
