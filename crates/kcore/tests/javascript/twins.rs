//! Two V8s of one version in a process: each has its own heaps and frames.
//!
//! No release of Node.js can be loaded twice, so the second one is made up: a module beside the real one, of the
//! same file. It owns none of the isolates, whichever of the two is found first.

use std::sync::Arc;

use gen_cores::Case;
use kcore::{Addr, AddrRange, AddressSpace, Core, Image, Module};
use kcore_mem::Svma;
use kcore_runtimes::{
    Host, HostModule, HostRange, NativeStack, PROBES, Runtimes,
    v8::{V8, census::HeapOccupant},
};
use kcore_symbols::ModuleSymbols;
use kcore_unwind::{Regs, Tid};

use crate::{
    census::{cases, go_on},
    open,
};

/// The second module lies so far above the first, where nothing is.
const AWAY: u64 = 0x10_0000_0000;

/// The module of V8 once more, elsewhere.
struct Twin<'a>(&'a Module);

impl HostModule for Twin<'_> {
    fn name(&self) -> &str {
        HostModule::name(self.0)
    }

    fn span(&self) -> AddrRange {
        let span = HostModule::span(self.0);
        AddrRange::new(span.start.saturating_add(AWAY), span.end.saturating_add(AWAY))
    }

    fn code_size(&self) -> u64 {
        HostModule::code_size(self.0)
    }

    fn symbols(&self) -> &ModuleSymbols {
        HostModule::symbols(self.0)
    }

    fn exported(&self, name: &str) -> Option<(Svma, u64)> {
        HostModule::exported(self.0, name)
    }

    fn image(&self) -> Option<&Arc<Image>> {
        HostModule::image(self.0)
    }

    fn svma(&self, at: Addr) -> Option<Svma> {
        HostModule::svma(self.0, Addr::new(at.get().checked_sub(AWAY)?))
    }

    fn addr(&self, svma: Svma) -> Option<Addr> {
        HostModule::addr(self.0, svma)?.checked_add(AWAY)
    }
}

/// A process with a second V8.
struct TwinHost<'a> {
    core: &'a Core,
    twin: Twin<'a>,
    twin_is_first: bool,
}

impl<'a> TwinHost<'a> {
    fn new(core: &'a Core, twin_is_first: bool) -> Self {
        let mut modules = core.modules().all().iter();
        let exe = modules.find(|module| module.is_exe()).expect("an executable");
        Self { core, twin: Twin(exe), twin_is_first }
    }
}

impl Host for TwinHost<'_> {
    fn space(&self) -> &dyn AddressSpace {
        Host::space(self.core)
    }

    fn modules(&self) -> Vec<&dyn HostModule> {
        let mut modules = Host::modules(self.core);
        let place = if self.twin_is_first { 0 } else { modules.len() };
        modules.insert(place, &self.twin);
        modules
    }

    fn module_at(&self, at: Addr) -> Option<&dyn HostModule> {
        match self.twin.span().contains(at) {
            true => Some(&self.twin),
            false => Host::module_at(self.core, at),
        }
    }

    fn range_at(&self, at: Addr) -> Option<HostRange> {
        Host::range_at(self.core, at)
    }

    fn ranges(&self) -> Vec<HostRange> {
        Host::ranges(self.core)
    }

    fn threads(&self) -> Vec<Tid> {
        Host::threads(self.core)
    }

    fn registers(&self, thread: Tid) -> Option<Regs> {
        Host::registers(self.core, thread)
    }
}

/// Each core, with a second V8 before and behind the real one.
fn each(look: impl Fn(&Case, &Core, &TwinHost<'_>, &V8, &V8)) {
    for case in cases(&["node-worker"]) {
        let core = open(case);
        for twin_is_first in [true, false] {
            let host = TwinHost::new(&core, twin_is_first);
            let runtimes = Runtimes::find(PROBES, &host);
            let v8s: Vec<&V8> = runtimes.of().collect();
            let [first, second] = v8s.as_slice() else {
                panic!("{}: {} V8s", case.name(), v8s.len());
            };
            match twin_is_first {
                true => look(case, &core, &host, second, first),
                false => look(case, &core, &host, first, second),
            }
        }
    }
}

#[test]
fn each_v8_has_the_objects_of_its_own_heaps() {
    each(|case, core, host, real, twin| {
        let alone = core.runtimes().of::<V8>().next().expect("V8");
        let count = |v8: &V8, host: &dyn Host| {
            let census = v8.census(host, &mut go_on).expect("nobody stops it").expect("layouts");
            (census.object_count(), census.bytes(), census.areas().len())
        };
        assert_eq!(count(real, host), count(alone, core), "{}", case.name());
        assert_eq!(count(twin, host), (0, 0, 0), "{}", case.name());
        let census = alone.known_census().expect("it was taken").clone();
        for at in census.objects().step_by(20_000) {
            let place = real.place(host, at);
            assert_eq!(place, alone.place(core, at), "{}: {at:?}", case.name());
            assert_eq!(twin.place(host, at), None::<HeapOccupant>, "{}: {at:?}", case.name());
        }
    });
}

#[test]
fn each_v8_has_the_frames_of_its_own_functions() {
    each(|case, core, host, real, twin| {
        for tid in core.tids() {
            let stack = core.stacks().of_thread(tid, kcore::MAX_FRAMES);
            let native = NativeStack {
                thread: stack.tid,
                task: None,
                frames: &stack.frames,
                end: stack.end,
            };
            let names = |v8: &V8, host: &dyn Host| {
                let spans = kcore_runtimes::Runtime::decode(v8, host, &native).into_iter();
                let frames = spans.flat_map(|span| span.language);
                frames.filter_map(|frame| frame.function).collect::<Vec<_>>()
            };
            let alone = core.runtimes().of::<V8>().next().expect("V8");
            assert_eq!(names(real, host), names(alone, core), "{} {tid:?}", case.name());
            assert_eq!(names(twin, host), Vec::<Arc<str>>::new(), "{} {tid:?}", case.name());
        }
    });
}
