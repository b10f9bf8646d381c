//! Go: goroutines, and functions with their lines from the tables that Go's linker makes, stripped files or not.
//!
//! Facts come from golang/go, `src/runtime/{symtab.go,symtabinl.go,runtime2.go,traceback.go,proc.go,asm_amd64.s,
//! asm_arm64.s}` and `src/internal/abi/symtab.go`, and from the debug information of programs: Go 1.18 to 1.27,
//! on x86-64 and aarch64.

mod abi;
mod arguments;
mod bubble;
mod bytes;
mod channel;
mod code;
mod context;
mod crossing;
mod ending;
mod entry;
mod fatal;
mod function;
mod goroutine;
mod goroutines;
mod heap;
mod inline;
mod labels;
mod layout;
mod lock_kind;
mod name;
mod pc_value;
mod poll;
mod printed_value;
mod probe;
mod processors;
mod reason;
mod role;
mod roots;
mod semaphore;
mod state;
mod step;
mod tables;
mod task;
#[cfg(test)]
mod tests;
mod timer_layout;
mod timers;
mod type_shape;
mod types;
mod value;
mod version;

use std::sync::{Arc, OnceLock};

use kcore_mem::{Addr, Arch, CodeAddr};
use kcore_unwind::{Phase, Regs, RuleFrame, RuleStep};

pub use bubble::TimerBubble;
pub use channel::Channel;
pub use context::{ContextKind, GoContext};
pub use goroutine::{FaultSignal, Goroutine, SavedRegisters};
pub use goroutines::GoroutineView;
pub use heap::{Collector, CollectorPhase, GoSpecial, SizeClass, Special, SpecialKind};
pub use poll::AwaitedIo;
pub use probe::PROBE;
pub use semaphore::Semaphore;
pub use state::State;
pub use timers::{Timer, TimerAction, Timers};
pub use value::{Form, GoValue, GoValueLimits, Typed};

use abi::Abi;
use code::{Code, CodePlace};
use fatal::Backlog;
use goroutines::Goroutines;
use heap::HeapCell;
use layout::Layout;
use role::Role;
use tables::Tables;

use crate::{
    DyingStack, Ending, FrameKind, Host, Identity, LanguageFrame, NativeStack, Runtime, Span, Task,
    objects::Objects, tokio::Deadline,
};

/// Why no frame of C follows a call of Go by C.
const GAP: &str = "the frames of C that called it are gone, since a panic has passed them";

/// What Go's linker made of one module of a process.
pub struct Go {
    identity: Identity,
    abi: &'static Abi,
    layout: Layout,
    /// Its `runtime.moduledata`.
    module: Addr,
    tables: Tables,
    code: Arc<Code>,
    /// Where `runtime.allgs` lies, if the module has it: a plugin uses that of the program.
    goroutines: Option<Addr>,
    /// Whether another runtime of Go in the process has the same numbers.
    by_address: bool,
    backlog: Option<Backlog>,
    known: OnceLock<Goroutines>,
    heap: HeapCell,
    /// Where `runtime.allp` lies, where somebody said so.
    processors: Option<Addr>,
}

impl Go {
    /// That whose `runtime.moduledata` lies at `module`, made by Go 1.`minor`, with its `runtime.allgs` if it has one:
    /// for who knows where they lie.
    ///
    /// # Errors
    /// In words, where the version is not known, or what lies there does not hold together.
    pub fn with_roots(
        host: &dyn Host,
        minor: u8,
        module: Addr,
        goroutines: Option<Addr>,
    ) -> Result<Self, String> {
        let abi = Abi::of(host.space().target().arch)
            .ok_or("its stacks are known on x86-64 and aarch64 only")?;
        let layout = Layout::of(minor)
            .ok_or_else(|| format!("the layouts of Go 1.{minor} are not known"))?;
        let tables = Tables::load(host.space(), module, &layout)?;
        let identity = Identity::new(probe::NAME, "");
        let (code, known) = (Code::default().into(), OnceLock::new());
        Ok(Self {
            identity,
            abi,
            layout,
            module,
            tables,
            code,
            goroutines,
            by_address: false,
            backlog: None,
            known,
            heap: HeapCell::default(),
            processors: None,
        })
    }

    /// The same one, whose `runtime.allp` lies at an address: for who knows where that is.
    #[must_use]
    pub fn with_processors(self, at: Addr) -> Self {
        Self { processors: Some(at), ..self }
    }

    /// The same one with the calling convention of another machine; unchanged where that is not known.
    #[must_use]
    pub fn with_machine(self, arch: Arch) -> Self {
        Self { abi: Abi::of(arch).unwrap_or(self.abi), ..self }
    }

    /// The same one, whose `runtime.mheap_` lies at an address: for who knows where that is.
    #[must_use]
    pub fn with_heap(self, at: Addr) -> Self {
        Self { heap: HeapCell::at(at), ..self }
    }

    /// The goroutines that have not ended. They are looked for once.
    pub fn goroutines<'a>(&'a self, host: &'a dyn Host) -> GoroutineView<'a> {
        let known = self.known.get_or_init(|| match self.goroutines {
            Some(slice) => Goroutines::load(host, &self.layout, slice, self.by_address),
            None => Goroutines::default(),
        });
        GoroutineView::new(known, host.space(), &self.layout)
    }

    /// Whether it has the list of goroutines, if perhaps an unreadable one.
    pub const fn has_goroutines(&self) -> bool {
        self.goroutines.is_some()
    }

    fn place(&self, host: &dyn Host, pc: CodeAddr) -> Option<Arc<CodePlace>> {
        self.code.at(&self.tables, host, pc)
    }

    /// Whether a frame is of a function that the compiler made around another, and Go's traces leave it out: unless
    /// that is where a panic began.
    fn is_hidden(&self, host: &dyn Host, stack: &NativeStack<'_>, index: usize) -> bool {
        let place = |index: usize| {
            let frame = stack.frames.get(index).filter(|frame| !frame.signal_trampoline)?;
            self.place(host, frame.pc)
        };
        let is_wrapper = place(index).is_some_and(|place| place.function.id == self.layout.wrapper);
        is_wrapper && {
            let called = index.checked_sub(1).and_then(place);
            !called.is_some_and(|it| matches!(it.role, Role::Injected | Role::Panics))
        }
    }

    /// Whether a frame is `runtime.cgocallback`, by which C calls Go, and the frame that follows it is not one of C.
    fn is_without_c(&self, host: &dyn Host, stack: &NativeStack<'_>, index: usize) -> bool {
        let role = |index: usize| {
            let place = self.place(host, stack.frames.get(index)?.pc)?;
            Some(place.role)
        };
        role(index) == Some(Role::CalledByC)
            && role(index.saturating_add(1)).is_some_and(|next| !next.is_from_c())
    }

    /// The calls that are inlined into the function of a frame: they are shown even if that is hidden.
    fn inlined(
        &self,
        host: &dyn Host,
        stack: &NativeStack<'_>,
        index: usize,
    ) -> Vec<LanguageFrame> {
        let pc = stack.frames.get(index).map(|frame| frame.pc);
        let mut frames =
            pc.and_then(|pc| self.locate(host, pc)).map_or_else(Vec::new, |(_, frames)| frames);
        frames.pop();
        frames
    }
}

/// The frame of `runtime.cgocallback`, with the reason why frames of C are missing behind it.
fn before_gap() -> LanguageFrame {
    LanguageFrame { kind: FrameKind::Go, doubt: Some(GAP.into()), ..LanguageFrame::default() }
}

impl Runtime for Go {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn step(
        &self,
        host: &dyn Host,
        phase: Phase,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        (phase == Phase::BeforeCfi).then_some(())?;
        self.step_out(host, frame, caller)
    }

    fn decode(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Vec<Span> {
        let all = 0..stack.frames.len();
        let hidden = all.clone().filter(|index| self.is_hidden(host, stack, *index));
        let hidden = hidden.map(|index| Span::replacing(index, self.inlined(host, stack, index)));
        let gaps = all.filter(|index| self.is_without_c(host, stack, *index));
        hidden.chain(gaps.map(|index| Span::replacing(index, vec![before_gap()]))).collect()
    }

    fn locate(&self, host: &dyn Host, at: CodeAddr) -> Option<(Addr, Vec<LanguageFrame>)> {
        let place = self.place(host, at)?;
        let frames = inline::frames_at(&self.tables, host.space(), &place.function, at.lookup());
        Some((place.function.code.start, frames))
    }

    fn later(&self) -> Option<Arc<dyn Runtime>> {
        let (identity, code, known) = (self.identity.clone(), self.code.clone(), OnceLock::new());
        let (layout, tables, goroutines) = (self.layout, self.tables.clone(), self.goroutines);
        let (by_address, backlog) = (self.by_address, self.backlog);
        Some(Arc::new(Self {
            identity,
            abi: self.abi,
            layout,
            module: self.module,
            tables,
            code,
            goroutines,
            by_address,
            backlog,
            known,
            heap: HeapCell::default(),
            processors: self.processors,
        }))
    }

    fn end(&self, host: &dyn Host, dying: &DyingStack<'_>) -> Vec<Ending> {
        self.ending(host, dying)
    }

    fn argument_words(&self, host: &dyn Host, pc: CodeAddr, cfa: Addr) -> Option<String> {
        self.arguments(host, pc, cfa)
    }

    fn identify(&self, host: &dyn Host, at: Addr) -> Option<String> {
        self.what_holds(host, at)
    }

    fn is_off_threads(&self, host: &dyn Host, at: Addr) -> bool {
        match self.goroutines(host).holding(at) {
            Some(goroutine) => goroutine.thread.is_none(),
            None if self.has_goroutines() => match self.heap(host) {
                Ok(heap) => heap.has_beside_stacks(at),
                Err(_) => self.is_far_from_threads(host, at),
            },
            None => false,
        }
    }

    fn objects(&self, host: &dyn Host) -> Option<&dyn Objects> {
        self.has_heap(host).then_some(self)
    }

    fn keeps_stacks(&self) -> bool {
        self.goroutines.is_some()
    }

    fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        let threads = host.threads().into_iter().collect();
        let task = |goroutine: Arc<Goroutine>| Task {
            until: self.sleeps_until(host, &goroutine).map(Deadline::from_nanos),
            ..task::of(self, host, &goroutine, &threads)
        };
        self.goroutines(host).iter().map(task).collect()
    }
}
