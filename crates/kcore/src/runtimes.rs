//! The runtimes of a process, and the process as they see it.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use kcore_elf::Image;
use kcore_mem::{Addr, AddrRange, AddressSpace, Budget, CodeAddr, Region, Svma};
use kcore_runtimes::{
    Anchors, Dialect, Host, HostModule, HostRange, MappedScript, Runtimes, ScriptNode,
    SourceMapFile, ThreadFacts, VariableLimits,
};
use kcore_symbols::ModuleSymbols;
use kcore_unwind::{Frame, Phase, Regs, RuleFrame, RuleStep, StepRule};

use crate::{
    Core, MAX_FRAMES, Mapping, MappingKind, MemoryView, Module, Tid, native_heap::BlockState,
    native_host::NativeHost,
};

impl MemoryView<'_> {
    /// The object of a language that begins at an address; `None` where none does.
    pub fn script_value(self, at: Addr, limits: VariableLimits) -> Option<(Dialect, ScriptNode)> {
        self.core.runtimes().value(self.core, at, limits)
    }
}

impl Core {
    /// The language runtimes that the process holds. They are looked for once, when first asked for.
    pub fn runtimes(&self) -> &Runtimes {
        let find = || Arc::new(Runtimes::find(self.probes.runtimes, &NativeHost(self)));
        self.runtimes.get_or_build(self.budget(), find)
    }

    /// Lets runtimes of versions whose layouts are not known be decoded by those of the nearest one, or
    /// no longer. What is told so is marked as doubtful.
    pub fn set_nearest_layouts(&self, allowed: bool) {
        self.nearest_layouts.store(allowed, Relaxed);
    }

    /// What runtimes know of a thread, and for what they do not know what the system said of it, when
    /// it was live.
    pub fn thread_facts(&self, tid: Tid) -> ThreadFacts {
        let facts = self.runtimes().thread(self, tid);
        let Some(live) = self.thread(tid).and_then(|thread| thread.live.as_ref()) else {
            return facts;
        };
        let name = Some(live.name.as_str()).filter(|name| !name.is_empty());
        ThreadFacts {
            name: facts.name.or_else(|| name.map(Into::into)),
            state: facts.state.or_else(|| live.state.map(|state| state.to_string().into())),
        }
    }

    /// What is to be asked about code without unwind information, if anything.
    pub(crate) fn step_rule(&self) -> Option<&dyn StepRule> {
        let has_some = !self.runtimes().is_empty() || !self.anchors().is_empty();
        has_some.then_some(self as &dyn StepRule)
    }

    fn anchors(&self) -> &Anchors {
        let find = || Arc::new(Anchors::find(self.probes.anchors, &NativeHost(self)));
        self.anchors.get_or_build(self.budget(), find)
    }
}

impl StepRule for Core {
    fn step(&self, phase: Phase, frame: &RuleFrame<'_>, caller: &mut Regs) -> Option<RuleStep> {
        let host = NativeHost(self);
        let by_runtime = self.runtimes().step(&host, phase, frame, caller);
        by_runtime.or_else(|| self.anchors().step(&host, phase, frame, caller))
    }
}

impl Host for Core {
    fn budget(&self) -> Option<&Budget> {
        Some(self.budget())
    }

    fn space(&self) -> &dyn AddressSpace {
        Self::space(self)
    }

    fn regions(&self) -> Vec<Region> {
        let mut held = self.space().regions();
        self.cut_repetitions(&mut held);
        held
    }

    fn modules(&self) -> Vec<&dyn HostModule> {
        Self::modules(self).in_scope_order().map(|module| module as &dyn HostModule).collect()
    }

    fn module_at(&self, at: Addr) -> Option<&dyn HostModule> {
        Self::modules(self).at(at).map(|module| module as &dyn HostModule)
    }

    fn range_at(&self, at: Addr) -> Option<HostRange> {
        self.mapping_at(at).map(host_range)
    }

    fn ranges(&self) -> Vec<HostRange> {
        self.mappings().iter().map(host_range).collect()
    }

    fn threads(&self) -> Vec<Tid> {
        self.tids()
    }

    fn thread_pointer(&self, thread: Tid) -> Option<Addr> {
        self.tls().pointer(thread)
    }

    fn thread_local(&self, thread: Tid, module: &dyn HostModule, offset: Svma) -> Option<Addr> {
        let module = Self::modules(self).at(module.span().start)?;
        let block = self.tls().block(thread, module).ok()?;
        block.checked_add(offset.get())
    }

    fn main_thread(&self) -> Option<Tid> {
        let main = Tid::new(self.process().pid()?);
        self.tids().contains(&main).then_some(main)
    }

    fn thread_of_stack(&self, at: Addr) -> Option<Tid> {
        self.stacks().thread_at(at)
    }

    fn is_used_block(&self, at: Addr) -> Option<bool> {
        match self.heaps().block_at(at)?.block.state {
            BlockState::Used => Some(true),
            BlockState::Cached | BlockState::Free => Some(false),
            BlockState::Internal => None,
        }
    }

    fn stack_pointer(&self, thread: Tid) -> Option<Addr> {
        self.registers().stack_pointer(thread)
    }

    fn registers(&self, thread: Tid) -> Option<Regs> {
        self.registers().of_thread(thread)
    }

    fn allows_nearest(&self) -> bool {
        self.nearest_layouts.load(Relaxed)
    }

    fn frames(&self, thread: Tid) -> Vec<Frame> {
        self.stacks().of_thread(thread, MAX_FRAMES).frames
    }

    /// What a snapshot did not copy is read for what is to be copied, unless it is read later.
    fn reads_source_maps(&self) -> bool {
        let live = self.parts.as_ref().and_then(|parts| parts.live.as_ref());
        live.is_none_or(|live| live.reads_later)
    }

    fn source_maps(&self, script: MappedScript<'_>, take: &mut dyn FnMut(SourceMapFile) -> bool) {
        let exe = Self::modules(self).exe().and_then(Module::file_path);
        self.source_map_files.of_script(script, &self.finder, exe, take);
    }

    fn function_at(&self, at: CodeAddr) -> Option<Arc<str>> {
        self.symbols().at(at.lookup()).map(|symbol| symbol.name)
    }
}

fn host_range(mapping: &Mapping) -> HostRange {
    HostRange {
        range: mapping.range,
        readable: mapping.may_be_read(),
        executable: mapping.may_hold_code(),
        is_file: matches!(mapping.kind, MappingKind::File { .. }),
    }
}

impl HostModule for Module {
    fn name(&self) -> &str {
        Self::name(self)
    }

    fn span(&self) -> AddrRange {
        Self::span(self)
    }

    /// What the core says, or else the file. Neither is read further than its headers.
    fn code_size(&self) -> u64 {
        self.executable_size()
    }

    fn data(&self) -> Vec<AddrRange> {
        let segments = self.segments();
        let data = segments.iter().filter(|it| it.is_load() && it.is_writable());
        { data }
            .filter_map(|it| Some(AddrRange::with_len(Self::addr(self, it.svma)?, it.mem_size)))
            .collect()
    }

    fn symbols(&self) -> &ModuleSymbols {
        Self::symbols(self)
    }

    fn exported(&self, name: &str) -> Option<(Svma, u64)> {
        if let Some(image) = Self::image(self) {
            return image.exported(name).map(|symbol| (symbol.value, symbol.size));
        }
        let symbol = Self::symbols(self).table().lookup(name)?;
        Some((symbol.value(), symbol.size()))
    }

    fn image(&self) -> Option<&Arc<Image>> {
        Self::image(self)
    }

    fn svma(&self, at: Addr) -> Option<Svma> {
        Self::svma(self, at)
    }

    fn addr(&self, svma: Svma) -> Option<Addr> {
        Self::addr(self, svma)
    }
}
