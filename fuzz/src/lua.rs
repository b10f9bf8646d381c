//! States, calls, names, values, coroutines and objects of Lua, in memory that may hold anything.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange, CodeAddr};
use kcore_runtimes::{
    FrameKind, FrameOfLanguage, NativeStack, Runtime, VariableLimits, lua::Lua, objects::Objects,
};
use kcore_unwind::{End, Frame, Tid, Trust};

use crate::{input::Input, memory::Memory, python_host::PythonHost};

/// Where the module lies that is said to be Lua's.
const MODULE: AddrRange = AddrRange::new(Addr::new(0x40_0000), Addr::new(0x100_0000));
const LIMITS: VariableLimits =
    VariableLimits { locals: true, depth: 3, entries: 16, characters: 64 };

/// A stack pointer, the size of the stack from there on, and a host as [`PythonHost::read`] takes it with its memory. The
/// stack has two frames, and leads to states.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let (sp, size) = (Addr::new(input.word()), u64::from(input.byte()) * 8);
    let head = PythonHost::read(&mut input);
    let host = PythonHost::new(head, Memory::read(&mut input));
    let lua = Lua::in_module(MODULE);
    let middle = sp.saturating_add(size / 2);
    let frame = |sp: Addr| Frame {
        pc: CodeAddr::Return(MODULE.start.saturating_add(16)),
        sp: Some(sp),
        cfa: sp.checked_add(size / 2),
        frame_pointer: None,
        trust: Trust::Runtime,
        guess: false,
        signal_trampoline: false,
        on_other_stack: false,
        calls_elsewhere: false,
    };
    let frames = [frame(sp), frame(middle)];
    let native =
        NativeStack { thread: Some(Tid::new(1)), task: None, frames: &frames, end: End::Outermost };
    for span in lua.decode(&host, &native) {
        assert!(span.frames.end <= frames.len(), "spans lie among the frames");
        for object in span.language.iter().filter_map(|frame| frame.object) {
            let (kind, object) = (FrameKind::Lua, Some(object));
            let of = FrameOfLanguage { kind, object, inline: false, ..FrameOfLanguage::default() };
            let _ = lua.variables(&host, &of, LIMITS);
        }
    }
    let _ = lua.tasks(&host);
    let mut all = Vec::new();
    let mut go_on = |_, _| ControlFlow::Continue(());
    let _ = lua.each_object(&host, &mut go_on, &mut |object| all.push(object));
    for object in all {
        let held = lua.holder(&host, object.at);
        assert!(held.is_some_and(|held| held.at <= object.at), "each object holds its address");
        let _ = (lua.value(&host, object.at, LIMITS), lua.edges(&host, object.at));
        let _ = lua.identify(&host, object.at);
    }
    let _ = lua.graph(&host, &mut |_, _| ControlFlow::Continue(()));
}
