//! Erlang's virtual machine, BEAM: its processes with their stacks, messages and tables, of OTP 25 and 27.
//!
//! The virtual machine exports its variables to libraries that it loads, so they are found in stripped programs too.
//! `roots` has them, `layout` the fields, `processes` the processes; `code` knows functions and lines, `stack` the frames of
//! a process and `joined` where they belong on the stack of a thread; `term` prints terms as Erlang does.

mod atoms;
mod code;
mod ets;
mod ids;
mod joined;
mod layout;
mod memory;
mod missing;
mod probe;
mod process;
mod processes;
mod roots;
mod schedulers;
mod stack;
mod task;
mod term;

use std::sync::{Arc, OnceLock};

use kcore_mem::{Addr, AddressSpace, Built, CodeAddr};

pub use code::{ErlangPlace, Mfa};
pub use ets::{EtsTable, EtsTables};
pub use ids::Pid;
pub use missing::Missing;
pub use probe::{NAME, PROBE};
pub use process::{ErlangProcess, ErlangState};
pub use processes::ErlangProcesses;
pub use schedulers::Scheduler;
pub use term::{PrintedTerm, TermKind, TermLimits};

use code::Code;
use ids::Ids;
use layout::Layout;
use memory::Memory;
use missing::Noting;
use roots::Roots;
use term::Terms;

use crate::{Host, Identity, LanguageFrame, NativeStack, Runtime, Span, Task};

/// Erlang's virtual machine.
pub struct Erlang {
    identity: Identity,
    layout: &'static Layout,
    roots: Roots,
    ids: Ids,
    ports: Ids,
    code: Arc<OnceLock<Result<Code, &'static str>>>,
    known: Built<ErlangProcesses>,
    schedulers: OnceLock<Vec<Scheduler>>,
}

impl Erlang {
    /// The processes that have not ended. They are looked for once.
    pub fn processes(&self, host: &dyn Host) -> &ErlangProcesses {
        let budget = host.budget().cloned().unwrap_or_default();
        self.known.get_or_build(&budget, || {
            let memory = self.memory(host);
            let schedulers = self.schedulers(host);
            ErlangProcesses::load(host, &memory, &self.ids, self.roots.processes, schedulers)
        })
    }

    /// The schedulers, those for long calls of C behind the others.
    pub fn schedulers(&self, host: &dyn Host) -> &[Scheduler] {
        self.schedulers.get_or_init(|| Scheduler::all(host, &self.memory(host), &self.roots))
    }

    /// The messages that a process has not received, oldest first, at most so many: where each lies, with its term.
    pub fn messages(&self, host: &dyn Host, of: &ErlangProcess, most: usize) -> Vec<(Addr, u64)> {
        of.queue(&self.memory(host), most)
    }

    /// A term as Erlang prints it.
    pub fn print(&self, host: &dyn Host, term: u64, limits: TermLimits) -> PrintedTerm {
        let noting = Noting::new(host.space());
        self.terms_in(&noting).print(term, limits, &noting)
    }

    /// The text of an atom, without quotes.
    ///
    /// # Errors
    /// With why it cannot be read.
    pub fn atom(&self, host: &dyn Host, term: u64) -> Result<Arc<str>, Missing> {
        self.read(host, |terms| terms.atom(term))
    }

    /// A function as Erlang prints it: `lists:map/2`.
    ///
    /// # Errors
    /// With why it cannot be read.
    pub fn function_name(&self, host: &dyn Host, mfa: Mfa) -> Result<Arc<str>, Missing> {
        let code = self.code(host).map_err(|_| Missing::Unreadable)?;
        self.read(host, |terms| code.name(terms, mfa))
    }

    /// What `get` reads, or why it cannot be read.
    fn read<T>(
        &self,
        host: &dyn Host,
        get: impl FnOnce(&Terms<'_>) -> Option<T>,
    ) -> Result<T, Missing> {
        let noting = Noting::new(host.space());
        get(&self.terms_in(&noting)).ok_or_else(|| noting.missing())
    }

    fn memory<'a>(&self, host: &'a dyn Host) -> Memory<'a> {
        Memory { space: host.space(), layout: self.layout }
    }

    fn terms<'a>(&self, host: &'a dyn Host) -> Terms<'a> {
        self.terms_in(host.space())
    }

    fn terms_in<'a>(&self, space: &'a dyn AddressSpace) -> Terms<'a> {
        let memory = Memory { space, layout: self.layout };
        Terms { memory, atoms: self.roots.atoms, ids: self.ids, ports: self.ports }
    }

    fn code(&self, host: &dyn Host) -> Result<&Code, &'static str> {
        let load = || {
            let tables = self.roots.ranges.ok_or("the ranges of its code are not found")?;
            Code::load(&self.memory(host), tables, self.roots.active_code)
        };
        self.code.get_or_init(load).as_ref().map_err(|why| *why)
    }
}

impl Runtime for Erlang {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn decode(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Vec<Span> {
        self.joined(host, stack).into_iter().collect()
    }

    fn locate(&self, host: &dyn Host, at: CodeAddr) -> Option<(Addr, Vec<LanguageFrame>)> {
        host.module_at(at.lookup()).is_none().then_some(())?;
        let place = self.code(host).ok()?.at(&self.terms(host), at)?;
        Some((place.start, vec![place.frame()]))
    }

    /// Processes begin and end, and code is loaded.
    fn later(&self) -> Option<Arc<dyn Runtime>> {
        Some(Arc::new(Self {
            identity: self.identity.clone(),
            layout: self.layout,
            roots: self.roots.clone(),
            ids: self.ids,
            ports: self.ports,
            code: Arc::default(),
            known: Built::new(),
            schedulers: OnceLock::new(),
        }))
    }

    fn keeps_stacks(&self) -> bool {
        true
    }

    /// Tables, schedulers and names of processes: lists of them are asked for in snapshots too.
    fn survey(&self, host: &dyn Host) {
        drop(self.tables(host));
        self.schedulers(host);
        for process in &self.processes(host).all {
            drop(process.registered.map(|name| self.atom(host, name)));
            let functions = process.initial.into_iter().chain(process.noted);
            functions.for_each(|mfa| drop(self.function_name(host, mfa)));
        }
    }

    fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        self.all_tasks(host)
    }

    fn task_frames(&self, host: &dyn Host, task: &Task) -> Vec<LanguageFrame> {
        let process = self.processes(host).numbered(Pid::unpacked(task.id));
        process.map(|process| self.frames(host, process)).unwrap_or_default()
    }
}
