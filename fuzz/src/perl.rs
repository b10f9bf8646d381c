//! Interpreters, calls, names, values and objects of Perl, in memory that may hold anything.

use std::{ops::ControlFlow, sync::Arc};

use kcore_mem::{Addr, AddrRange, CodeAddr};
use kcore_runtimes::{
    DyingStack, FrameKind, FrameOfLanguage, NativeStack, Runtime, VariableLimits, objects::Objects,
    perl::Perl,
};
use kcore_unwind::{End, Frame, Tid, Trust};

use crate::{input::Input, memory::Memory, python_host::PythonHost};

/// Where the module lies that is said to be Perl's.
const MODULE: AddrRange = AddrRange::new(Addr::new(0x40_0000), Addr::new(0x100_0000));
const VERSIONS: [u8; 7] = [30, 32, 34, 36, 38, 40, 42];
const LIMITS: VariableLimits =
    VariableLimits { locals: true, depth: 3, entries: 16, characters: 64 };

/// A version, a stack pointer, the size of the stack from there on, and a host as [`PythonHost::read`] takes it with its
/// memory. The stack has two frames, and leads to an interpreter.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let minor = VERSIONS[usize::from(input.byte()) % VERSIONS.len()];
    let (sp, size) = (Addr::new(input.word()), u64::from(input.byte()) * 8);
    let head = PythonHost::read(&mut input);
    let host = PythonHost::new(head, Memory::read(&mut input));
    let Ok(perl) = Perl::in_module((5, minor), MODULE) else { return };
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
    for span in perl.decode(&host, &native) {
        assert!(span.frames.end <= frames.len(), "spans lie among the frames");
        for object in span.language.iter().filter_map(|frame| frame.object) {
            let (kind, object) = (FrameKind::Perl, Some(object));
            let of = FrameOfLanguage {
                kind,
                object,
                inline: false,
                depth: 0,
                native: None,
                callee: None,
                registers: None,
            };
            let _ = perl.variables(&host, &of, LIMITS);
        }
    }
    let functions: [Arc<str>; 2] = ["Perl_die_unwind".into(), "main".into()];
    let _ = perl.end(&host, &DyingStack { stack: native, functions: &functions });
    let mut all = Vec::new();
    let mut go_on = |_, _| ControlFlow::Continue(());
    let _ = perl.each_object(&host, &mut go_on, &mut |object| all.push(object));
    for object in all {
        let held = perl.holder(&host, object.at);
        assert!(held.is_some_and(|held| held.at <= object.at), "each object holds its address");
        let _ = (perl.value(&host, object.at, LIMITS), perl.edges(&host, object.at));
        let _ = perl.identify(&host, object.at);
    }
    let _ = perl.graph(&host, &mut |_, _| ControlFlow::Continue(()));
}
