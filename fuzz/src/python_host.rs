//! A process of some memory and one thread, whose module exports nothing of CPython but `_PyRuntime`.

use std::sync::Arc;

use kcore_elf::Image;
use kcore_mem::{Addr, AddrRange, AddressSpace, CodeAddr, Svma};
use kcore_runtimes::{Host, HostModule, HostRange};
use kcore_symbols::ModuleSymbols;
use kcore_unwind::{Regs, Tid};

use crate::{input::Input, memory::Memory};

/// Where the module lies.
const MODULE: AddrRange = AddrRange::new(Addr::new(0x40_0000), Addr::new(0x100_0000));
/// Where what is made up lies: `type`, `dict`, `int` and `str`, the dict of `sys`, its keys, one key and its value.
const TYPE: u64 = 0x10_0000;
const DICT: u64 = 0x10_1000;
const INT: u64 = 0x10_2000;
const STR: u64 = 0x10_3000;
const SYS: u64 = 0x10_4000;
const KEYS: u64 = 0x10_5000;
const KEY: u64 = 0x10_6000;
const NUMBER: u64 = 0x10_7000;
/// `tp_flags`, and their bits: ready, and which builtin type it is.
const FLAGS: usize = 168;
const READY: u64 = 1 << 12;

/// Offsets of 3.8 to 3.12: the list of interpreters in `_PyRuntime`, the list of threads in an interpreter, the dicts of
/// `sys.modules`, `sys` and `builtins`.
const OFFSETS: [[usize; 5]; 5] = [
    [32, 8, 56, 72, 80],
    [32, 8, 856, 872, 880],
    [32, 8, 856, 872, 880],
    [40, 16, 888, 904, 912],
    [40, 72, 944, 352, 360],
];

/// What the input says of a process beside its memory.
#[derive(Clone, Copy)]
pub struct Head {
    /// The minor version, from 8 on. Since 13 the memory holds `_PyRuntime`, which says its layouts.
    pub minor: u8,
    /// `_PyRuntime`.
    pub runtime: u64,
    /// The interpreter.
    pub interpreter: u64,
    /// The state of its thread.
    pub thread: u64,
    /// The `pthread_t` of that.
    pub ident: u64,
}

/// The process.
pub struct PythonHost {
    memory: Memory,
    head: Head,
    module: Module,
}

impl PythonHost {
    /// What stands before the memory.
    pub fn read(input: &mut Input<'_>) -> Head {
        let minor = 8 + input.byte() % 8;
        let [runtime, interpreter, thread, ident] = std::array::from_fn(|_| input.word());
        Head { minor, runtime, interpreter, thread, ident }
    }

    /// A process with this memory, and to 3.12 an interpreter that is made up.
    pub fn new(head: Head, mut memory: Memory) -> Self {
        if let Some(offsets) = OFFSETS.get(usize::from(head.minor) - 8) {
            // What is in the memory goes before: the rest of the interpreter, its lists of objects.
            memory.0.splice(0..0, made_up(head, offsets));
        }
        let module = Module { symbols: ModuleSymbols::new(None, None), runtime: head.runtime };
        Self { memory, head, module }
    }
}

/// The parts of memory by which CPython is found.
fn made_up(head: Head, [list, threads, dicts @ ..]: &[usize; 5]) -> Vec<(u64, Vec<u8>)> {
    let at = |base: u64, offset: usize| base.wrapping_add(offset as u64);
    let word = |place: u64, value: u64| (place, value.to_le_bytes().to_vec());
    let mut parts = vec![
        word(at(head.runtime, *list), head.interpreter),
        word(at(head.interpreter, *threads), head.thread),
    ];
    parts.extend(dicts.iter().map(|dict| word(at(head.interpreter, *dict), SYS)));
    parts.extend([(TYPE, 31), (DICT, 29), (INT, 24), (STR, 28)].map(|(at, bit)| class(at, bit)));
    let version = 0x0300_00f0 | u64::from(head.minor) << 16;
    let size = if head.minor == 12 { 1 << 3 } else { 1 };
    let name = if head.minor == 12 { 40 } else { 48 };
    parts.extend([
        (SYS, words(&[1, DICT, 1, 0, KEYS, 0])),
        (KEYS, keys(head.minor)),
        (NUMBER, words(&[1, INT, size, version])),
        (KEY, [&words(&[1, STR, 10, 0, 0b110_0100, 0])[..name], b"hexversion"].concat()),
    ]);
    parts
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A type that is complete, of a builtin type.
fn class(at: u64, bit: u32) -> (u64, Vec<u8>) {
    let mut bytes = vec![0; 512];
    bytes[8..16].copy_from_slice(&TYPE.to_le_bytes());
    bytes[FLAGS..FLAGS + 8].copy_from_slice(&(READY | 1 << bit).to_le_bytes());
    (at, bytes)
}

/// The keys of a dict of one entry: to 3.10 with the size of the table of indices as a word.
fn keys(minor: u8) -> Vec<u8> {
    match minor {
        ..=10 => words(&[1, 8, 0, 0, 1, 0, 0, KEY, NUMBER]),
        _ => words(&[1, 3 | 3 << 8, 0, 1, 0, 0, KEY, NUMBER]),
    }
}

impl Host for PythonHost {
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
        let range = |range| HostRange { range, readable: true, executable: false, is_file: false };
        regions.map(|region| range(region.range)).collect()
    }

    fn threads(&self) -> Vec<Tid> {
        vec![Tid::new(1)]
    }

    fn thread_pointer(&self, _: Tid) -> Option<Addr> {
        Some(Addr::new(self.head.ident))
    }

    fn registers(&self, _: Tid) -> Option<Regs> {
        None
    }

    /// Every native function is the evaluation loop.
    fn function_at(&self, _: CodeAddr) -> Option<Arc<str>> {
        Some("_PyEval_EvalFrameDefault".into())
    }
}

/// The module that CPython is in.
struct Module {
    symbols: ModuleSymbols,
    runtime: u64,
}

impl HostModule for Module {
    fn name(&self) -> &str {
        "python3"
    }

    fn span(&self) -> AddrRange {
        MODULE
    }

    fn code_size(&self) -> u64 {
        MODULE.len()
    }

    fn symbols(&self) -> &ModuleSymbols {
        &self.symbols
    }

    fn exported(&self, name: &str) -> Option<(Svma, u64)> {
        (name == "_PyRuntime").then(|| (Svma::new(self.runtime), 8))
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
