//! The VM, threads, frames, fibers, values and pages of Ruby, in memory that may hold anything.

use kcore_mem::{Addr, AddrRange, CodeAddr};
use kcore_runtimes::{
    DyingStack, FrameKind, FrameOfLanguage, NativeStack, Runtime, VariableLimits, objects::Objects,
    ruby::Ruby,
};
use kcore_unwind::{End, Frame, Tid, Trust};

use crate::{input::Input, memory::Memory, python_host::PythonHost};

/// Values that are asked about.
const VALUES: u8 = 16;
/// Where the module lies that is said to be MRI's.
const MODULE: AddrRange = AddrRange::new(Addr::new(0x40_0000), Addr::new(0x100_0000));
const VERSIONS: [(u8, u8); 6] = [(2, 7), (3, 0), (3, 1), (3, 2), (3, 3), (3, 4)];
const LIMITS: VariableLimits =
    VariableLimits { locals: true, depth: 3, entries: 16, characters: 64 };

/// A version, where the VM, the names of identifiers and the tree of shapes lie, values, a stack pointer, and a host as
/// [`PythonHost::read`] takes it with its memory.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let version = VERSIONS[usize::from(input.byte()) % VERSIONS.len()];
    let [vm, names, shapes, sp] = std::array::from_fn(|_| Addr::new(input.word()));
    let values: Vec<u64> = (0..input.byte() % VALUES).map(|_| input.word()).collect();
    let head = PythonHost::read(&mut input);
    let host = PythonHost::new(head, Memory::read(&mut input));
    let Ok(ruby) = Ruby::with_vm(version, MODULE, vm, Some(names), Some(shapes)) else { return };
    let frame = Frame {
        pc: CodeAddr::Return(MODULE.start),
        sp: Some(sp),
        cfa: sp.checked_add(16),
        frame_pointer: None,
        trust: Trust::Runtime,
        guess: false,
        signal_trampoline: false,
        on_other_stack: false,
        calls_elsewhere: false,
    };
    for thread in [Some(Tid::new(1)), None] {
        let native = NativeStack { thread, task: None, frames: &[frame], end: End::Outermost };
        for span in ruby.decode(&host, &native) {
            assert!(span.frames.end <= 1, "spans lie among the frames");
            for object in span.language.iter().filter_map(|frame| frame.object) {
                let (kind, object) = (FrameKind::Ruby, Some(object));
                let of =
                    FrameOfLanguage { kind, object, inline: false, ..FrameOfLanguage::default() };
                let _ = ruby.variables(&host, &of, LIMITS);
            }
        }
        let _ = ruby.end(&host, &DyingStack { stack: native, functions: &[] });
    }
    assert!(
        ruby.tasks(&host).len() <= ruby.fibers(&host).all.len(),
        "a task for each fiber at most"
    );
    for value in values {
        let _ = (ruby.script_value(&host, value, LIMITS), ruby.identify(&host, Addr::new(value)));
        let _ = (ruby.exception(&host, Addr::new(value)), ruby.edges(&host, Addr::new(value)));
    }
}
