//! A process of a few words, for tests of anchors.

use std::{collections::BTreeMap, sync::Arc};

use kcore_elf::Image;
use kcore_mem::{Addr, AddrRange, AddressSpace, CodeAddr, Fault, Origin, Region, Svma, Target};
use kcore_symbols::ModuleSymbols;
use kcore_unwind::{Phase, RegisterId, Regs, RuleFrame, RuleStep, Tid};

use super::Anchor;
use crate::{Host, HostModule, HostRange};

/// Where its one module lies.
pub const MODULE: AddrRange = AddrRange::new(Addr::new(0x40_0000), Addr::new(0x50_0000));
/// Where its thread has what is its own.
pub const THREAD_POINTER: u64 = 0x7f00_0000;
/// Bytes that each part has.
const PART: usize = 0x2000;

/// Memory of parts, and a module that exports some names.
pub struct MadeHost {
    parts: BTreeMap<u64, Vec<u8>>,
    module: MadeModule,
}

struct MadeModule {
    symbols: ModuleSymbols,
    exported: BTreeMap<String, u64>,
}

impl MadeHost {
    /// With parts of zeros at these addresses.
    pub fn new(parts: &[u64]) -> Self {
        let parts = parts.iter().map(|at| (*at, vec![0; PART])).collect();
        let symbols = ModuleSymbols::new(None, None);
        Self { parts, module: MadeModule { symbols, exported: BTreeMap::new() } }
    }

    /// With one part more.
    pub fn add(&mut self, at: u64) {
        self.parts.insert(at, vec![0; PART]);
    }

    /// Exports a name of its module.
    pub fn export(&mut self, name: &str, at: u64) {
        self.module.exported.insert(name.to_owned(), at);
    }

    pub fn put(&mut self, at: u64, bytes: &[u8]) {
        let (start, part) = self.parts.range_mut(..=at).next_back().unwrap();
        let from = (at - start) as usize;
        part[from..from + bytes.len()].copy_from_slice(bytes);
    }

    pub fn words(&mut self, at: u64, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.put(at, &bytes);
    }

    /// The step that an anchor takes out of a frame, and the registers of the caller.
    pub fn step(
        &self,
        anchor: &dyn Anchor,
        phase: Phase,
        pc: CodeAddr,
        registers: &[(u16, u64)],
    ) -> Option<(Addr, Regs)> {
        let mut regs = Regs::new(pc.addr());
        for (number, value) in registers {
            regs.set(RegisterId(*number), Some(*value));
        }
        let frame = RuleFrame { thread: Some(Tid::new(1)), pc, regs: &regs };
        let mut caller = regs;
        match anchor.step(self, phase, &frame, &mut caller)? {
            RuleStep::Caller { cfa, .. }
            | RuleStep::Elsewhere { cfa, .. }
            | RuleStep::Guess { cfa } => Some((cfa, caller)),
            RuleStep::Outermost { .. } => None,
        }
    }
}

/// The pc, the CFA, and a register of what a step gave.
pub fn told(step: Option<(Addr, Regs)>, register: u16) -> Option<(u64, u64, Option<u64>)> {
    step.map(|(cfa, regs)| (regs.pc().get(), cfa.get(), regs.get(RegisterId(register))))
}

impl AddressSpace for MadeHost {
    fn target(&self) -> Target {
        Target::X86_64
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        let part = self.parts.range(..=at.get()).next_back();
        let rest = part.and_then(|(start, part)| part.get((at.get() - start) as usize..));
        rest.filter(|rest| !rest.is_empty()).ok_or(Fault::Unmapped(at))
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.slice(at).map(|_| Origin::Core)
    }

    fn regions(&self) -> Vec<Region> {
        let range = |start: u64, len: usize| AddrRange::with_len(Addr::new(start), len as u64);
        let parts = self.parts.iter().map(|(start, part)| range(*start, part.len()));
        parts.map(|range| Region { range, origin: Origin::Core }).collect()
    }
}

impl Host for MadeHost {
    fn space(&self) -> &dyn AddressSpace {
        self
    }

    fn modules(&self) -> Vec<&dyn HostModule> {
        vec![&self.module]
    }

    fn module_at(&self, at: Addr) -> Option<&dyn HostModule> {
        MODULE.contains(at).then_some(&self.module as &dyn HostModule)
    }

    fn range_at(&self, at: Addr) -> Option<HostRange> {
        let range = AddrRange::with_len(Addr::new(at.get() & !0xfff), 0x1000);
        let is_file = MODULE.contains(at);
        self.slice(at).ok().map(|_| HostRange { range, readable: true, executable: true, is_file })
    }

    fn ranges(&self) -> Vec<HostRange> {
        let range = |at: &u64| AddrRange::with_len(Addr::new(*at), PART as u64);
        let ranges = self.parts.keys().map(range);
        let plain = |range| HostRange { range, readable: true, executable: false, is_file: false };
        ranges.map(plain).collect()
    }

    fn threads(&self) -> Vec<Tid> {
        vec![Tid::new(1)]
    }

    fn thread_pointer(&self, _: Tid) -> Option<Addr> {
        Some(Addr::new(THREAD_POINTER))
    }

    fn registers(&self, _: Tid) -> Option<Regs> {
        None
    }
}

impl HostModule for MadeModule {
    fn name(&self) -> &str {
        "made"
    }

    fn span(&self) -> AddrRange {
        MODULE
    }

    /// As much as any anchor asks for.
    fn code_size(&self) -> u64 {
        u64::MAX
    }

    fn symbols(&self) -> &ModuleSymbols {
        &self.symbols
    }

    fn exported(&self, name: &str) -> Option<(Svma, u64)> {
        self.exported.get(name).map(|at| (Svma::new(*at), 8))
    }

    fn image(&self) -> Option<&Arc<Image>> {
        None
    }

    fn svma(&self, at: Addr) -> Option<Svma> {
        Some(Svma::new(at.get()))
    }

    fn addr(&self, svma: Svma) -> Option<Addr> {
        Some(Addr::new(svma.get()))
    }
}
