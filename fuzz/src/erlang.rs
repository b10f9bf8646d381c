//! Processes, code, terms and tables of Erlang, in memory that may hold anything.

use std::sync::Arc;

use kcore_elf::Image;
use kcore_mem::{Addr, AddrRange, AddressSpace, CodeAddr, Svma};
use kcore_runtimes::{
    Host, HostModule, HostRange, NativeStack, Runtime, Runtimes,
    erlang::{Erlang, PROBE, TermLimits},
};
use kcore_symbols::ModuleSymbols;
use kcore_unwind::{End, Frame, Regs, Tid, Trust};

use crate::{input::Input, memory::Memory};

/// Where the module lies, and in it its variables, each at its own multiple of [`EACH`].
const MODULE: AddrRange = AddrRange::new(Addr::new(0x40_0000), Addr::new(0x100_0000));
const DATA: AddrRange = AddrRange::new(Addr::new(0x80_0000), Addr::new(0x81_0000));
const EACH: u64 = 0x400;
/// The variables that the module exports.
pub const EXPORTED: [&str; 18] = [
    "etp_otp_release",
    "etp_erts_version",
    "etp_beamasm",
    "erts_frame_layout",
    "erts_proc",
    "erts_atom_table",
    "the_active_code_index",
    "beam_normal_exit",
    "erts_aligned_scheduler_data",
    "erts_no_schedulers",
    "erts_aligned_dirty_cpu_scheduler_data",
    "erts_no_dirty_cpu_schedulers",
    "erts_aligned_dirty_io_scheduler_data",
    "erts_no_dirty_io_schedulers",
    "erts_port",
    "db_hash",
    "db_tree",
    "db_catree",
];
const LIMITS: TermLimits = TermLimits { depth: 8, elements: 16, text: 64, whole: 4096 };
/// Processes that are looked at in full.
const MOST: usize = 8;

/// Where an exported variable lies.
///
/// # Panics
/// If there is none of that name.
pub fn variable(name: &str) -> u64 {
    let index = EXPORTED.iter().position(|exported| *exported == name).expect("a variable");
    DATA.start.get() + EACH * index as u64
}

/// Where variables lie that are not exported.
pub fn hidden() -> u64 {
    DATA.start.get() + EACH * EXPORTED.len() as u64
}

/// The block of the thread, a term, and a process with its memory.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let (block, term) = (Addr::new(input.word()), input.word());
    let memory = Memory::read(&mut input);
    let module = Module(ModuleSymbols::new(None, None));
    let host = ErlangHost { memory, block, module };
    let runtimes = Runtimes::find([&PROBE], &host);
    for erlang in runtimes.of::<Erlang>() {
        let all = erlang.processes(&host);
        for process in all.all.iter().take(MOST) {
            let _ = erlang.frames(&host, process);
            for (_, message) in erlang.messages(&host, process, MOST) {
                let _ = erlang.print(&host, message, LIMITS);
            }
        }
        let printed = erlang.print(&host, term, LIMITS);
        assert!(printed.text.len() < 1 << 20, "what is printed is bounded");
        let _ = (erlang.tables(&host), erlang.tasks(&host), erlang.schedulers(&host));
        let frame = Frame {
            pc: CodeAddr::Return(MODULE.start.saturating_add(16)),
            sp: Some(block),
            cfa: None,
            frame_pointer: None,
            trust: Trust::Runtime,
            guess: false,
            signal_trampoline: false,
            on_other_stack: false,
            calls_elsewhere: false,
        };
        let thread = Some(Tid::new(1));
        let native = NativeStack { thread, task: None, frames: &[frame], end: End::Outermost };
        for span in erlang.decode(&host, &native) {
            assert!(span.frames.end <= 1, "spans lie among the frames");
        }
    }
}

struct ErlangHost {
    memory: Memory,
    block: Addr,
    module: Module,
}

impl Host for ErlangHost {
    fn space(&self) -> &dyn AddressSpace {
        &self.memory
    }

    fn modules(&self) -> Vec<&dyn HostModule> {
        vec![&self.module]
    }

    fn module_at(&self, at: Addr) -> Option<&dyn HostModule> {
        MODULE.contains(at).then_some(&self.module as &dyn HostModule)
    }

    fn range_at(&self, at: Addr) -> Option<HostRange> {
        self.ranges().into_iter().find(|range| range.range.contains(at))
    }

    fn ranges(&self) -> Vec<HostRange> {
        let regions = self.memory.regions().into_iter();
        let range = |range| HostRange { range, readable: true, executable: true, is_file: false };
        regions.map(|region| range(region.range)).collect()
    }

    fn threads(&self) -> Vec<Tid> {
        vec![Tid::new(1)]
    }

    fn thread_pointer(&self, _: Tid) -> Option<Addr> {
        Some(self.block)
    }

    fn registers(&self, _: Tid) -> Option<Regs> {
        None
    }

    /// Every native function runs processes.
    fn function_at(&self, _: CodeAddr) -> Option<Arc<str>> {
        Some("erts_dirty_process_main".into())
    }
}

struct Module(ModuleSymbols);

impl HostModule for Module {
    fn name(&self) -> &str {
        "beam.smp"
    }

    fn span(&self) -> AddrRange {
        MODULE
    }

    fn code_size(&self) -> u64 {
        MODULE.len()
    }

    fn data(&self) -> Vec<AddrRange> {
        vec![AddrRange::new(Addr::new(hidden()), DATA.end)]
    }

    fn symbols(&self) -> &ModuleSymbols {
        &self.0
    }

    fn exported(&self, name: &str) -> Option<(Svma, u64)> {
        EXPORTED.contains(&name).then(|| (Svma::new(variable(name)), 8))
    }

    fn image(&self) -> Option<&Arc<Image>> {
        None
    }

    fn svma(&self, at: Addr) -> Option<Svma> {
        MODULE.contains(at).then(|| Svma::new(at.get()))
    }

    fn addr(&self, svma: Svma) -> Option<Addr> {
        Some(Addr::new(svma.get()))
    }
}
