//! The tables of functions, `runtime.moduledata` and goroutines of Go, in memory that may hold anything.

use kcore_mem::{Addr, Arch, CodeAddr};
use kcore_runtimes::{
    DyingStack, Host, NativeStack, Runtime,
    go::{Form, Go, GoValueLimits, Timer, Typed},
};
use kcore_unwind::{End, Frame, Phase, RegisterId, Regs, RuleFrame, Tid, Trust};

use crate::{input::Input, memory::Memory, python_host::PythonHost};

/// Places in the code that are asked about.
const PLACES: u8 = 16;
/// Goroutines that are looked at, at most.
const GOROUTINES: usize = 16;
/// Machines, each with its stack pointer.
const MACHINES: [(Arch, RegisterId); 2] =
    [(Arch::X86_64, RegisterId(7)), (Arch::Aarch64, RegisterId(31))];

/// A minor version, where `runtime.moduledata` and `runtime.allgs` lie, places in the code, a stack pointer, and a host
/// as [`PythonHost::read`] takes it with its memory.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let minor = input.byte();
    let (module, goroutines) = (Addr::new(input.word()), Addr::new(input.word()));
    let sp = Addr::new(input.word());
    let places: Vec<Addr> = (0..input.byte() % PLACES).map(|_| Addr::new(input.word())).collect();
    let head = PythonHost::read(&mut input);
    let host = PythonHost::new(head, Memory::read(&mut input));
    let Ok(go) = Go::with_roots(&host, minor, module, Some(goroutines)) else { return };
    let tasks = go.tasks(&host);
    assert!(tasks.len() <= go.goroutines(&host).len(), "a task for each goroutine");
    decode(&go, &host, &places, sp);
    let go = MACHINES.into_iter().fold(go, |go, (arch, register)| {
        let go = go.with_machine(arch);
        places.iter().for_each(|place| look_at(&go, &host, *place, (register, sp)));
        waits(&go, &host);
        go
    });
    let at = places.first().copied().unwrap_or(module);
    let list = places.last().copied().unwrap_or(goroutines);
    let go = go.with_heap(at).with_processors(list);
    timers(&go, &host);
    heap(&go, &host, &places);
    kept_for_later(&go, &host);
}

/// Timers, whose processors lie at the last place, stand in the order in which they are due.
fn timers(go: &Go, host: &dyn Host) {
    let Ok(timers) = go.timers(host) else { return };
    let order = |timer: &Timer| (timer.bubble.map(|bubble| bubble.id), timer.when);
    assert!(timers.all.is_sorted_by_key(order), "the first one first, by each clock");
}

/// Contexts, and what is called when objects are gone.
fn kept_for_later(go: &Go, host: &dyn Host) {
    let contexts = go.contexts(host).unwrap_or_default();
    for (index, context) in contexts.iter().enumerate().filter(|(_, it)| it.depth > 0) {
        let above = contexts.iter().take(index).rev().find(|it| it.depth < context.depth);
        assert_eq!(above.map(|it| it.at), context.parent, "each stands below its parent");
    }
    let _ = go.specials(host);
}

/// The heap, whose `runtime.mheap_` lies at the first place: its objects, what they refer to, and their values.
fn heap(go: &Go, host: &dyn Host, places: &[Addr]) {
    let Ok(collector) = go.collector(host) else { return };
    assert!(collector.bytes <= collector.span_bytes, "objects lie in spans");
    let mut watch = |_, _| std::ops::ControlFlow::Continue(());
    let Some(objects) = go.objects(host) else { return };
    let mut found = Vec::new();
    let _ = objects.each_object(host, &mut watch, &mut |object| found.push(object));
    assert_eq!(found.len() as u64, collector.objects, "each is told once");
    for object in found.iter().take(GOROUTINES) {
        assert_eq!(objects.holder(host, object.at).map(|it| it.at), Some(object.at));
        let _ = objects.class_at(host, object.at);
        for edge in objects.edges(host, object.at) {
            assert!(objects.holder(host, edge.to).is_some(), "an edge leads to an object");
        }
    }
    let _ = objects.graph(host, &mut watch);
    let limits = GoValueLimits { depth: 2, elements: 8, text: 64 };
    for place in places {
        let _ = go.identify(host, *place);
        let typed = [go.object_of_type(host, *place), go.held_by_interface(host, *place)];
        for typed in typed.into_iter().flatten() {
            let _ = go.typed_value(host, typed, limits);
        }
        let _ = go.typed_value(host, Typed { at: *place, ty: *place, form: Form::One }, limits);
    }
}

/// What goroutines wait for, and what else is known of each.
fn waits(go: &Go, host: &dyn Host) {
    let goroutines = go.goroutines(host);
    let _ = goroutines.latest();
    for goroutine in goroutines.iter().take(GOROUTINES) {
        let channel = goroutine.channel.and_then(|at| go.channel(host, at));
        assert!(channel.is_none_or(|it| it.count <= it.capacity), "no more than it has room for");
        let _ = go.semaphore(host, &goroutine);
        let _ = go.sleeps_until(host, &goroutine);
        let _ = go.labels(host, &goroutine);
        let _ = go.entry(host, goroutine.start);
        assert!(goroutines.lying_at(goroutine.at).is_some(), "it is found where it lies");
    }
}

/// What is at a place, and the way out of it with a stack pointer.
fn look_at(go: &Go, host: &dyn Host, place: Addr, (register, sp): (RegisterId, Addr)) {
    let _ = go.locate(host, CodeAddr::Pc(place));
    let _ = go.arguments(host, CodeAddr::Return(place), sp);
    let _ = go.channel(host, place);
    let mut regs = Regs::new(place);
    regs.set(register, Some(sp.get()));
    for pc in [CodeAddr::Pc(place), CodeAddr::Return(place)] {
        let frame = RuleFrame { thread: Some(Tid::new(1)), pc, regs: &regs };
        let mut caller = regs;
        let _ = go.step(host, Phase::BeforeCfi, &frame, &mut caller);
    }
}

fn decode(go: &Go, host: &dyn Host, places: &[Addr], sp: Addr) {
    let frame = |place: &Addr| Frame {
        pc: CodeAddr::Return(*place),
        sp: Some(sp),
        cfa: sp.checked_add(16),
        frame_pointer: None,
        trust: Trust::Runtime,
        guess: false,
        signal_trampoline: false,
        on_other_stack: false,
        calls_elsewhere: false,
    };
    let frames: Vec<Frame> = places.iter().map(frame).collect();
    let native =
        NativeStack { thread: Some(Tid::new(1)), task: None, frames: &frames, end: End::Outermost };
    for span in go.decode(host, &native) {
        assert!(span.frames.end <= frames.len(), "spans lie among the frames");
    }
    let _ = go.end(host, &DyingStack { stack: native, functions: &[] });
}
