//! How fibers are found.

use std::sync::OnceLock;

use kcore_elf::SymbolTableKind;
use kcore_mem::{Addr, Svma};

use super::{Fibers, scheduler::Scheduler};
use crate::{Damage, Finding, Host, HostModule, Identity, Probe, TaskProbe};

/// Looks for fibers of Boost.Fiber. It costs a search through the names of each module that exports nothing of
/// it, and a look at the thread-local variables of those that have it.
pub const PROBE: TaskProbe = TaskProbe { probe: Probe { name: NAME, find }, begins_task };

/// What they are called.
pub const NAME: &str = "fiber";

/// Tables of virtual functions, and how much comes in one before the functions.
const SCHEDULER: &str = "_ZTVN5boost6fibers9schedulerE";
const ALGORITHMS: [&str; 2] =
    ["_ZTVN5boost6fibers4algo11round_robinE", "_ZTVN5boost6fibers4algo11shared_workE"];
const STEALING: &str = "_ZTVN5boost6fibers4algo13work_stealingE";
const BEFORE_FUNCTIONS: u64 = 16;
/// The queue of all schedulers with the algorithm `shared_work`.
const SHARED: &str = "_ZN5boost6fibers4algo11shared_work7rqueue_E";
/// The variable of each thread that points to the fiber that it runs.
const ACTIVE: &str = "_ZN5boost6fibers19context_initializer7active_E";
/// The function with which the stacks of fibers begin, before its template's arguments.
const FIRST: &str = "boost::context::detail::fiber_entry";

/// What the scheduler's own fiber does, of which a library without symbols has the name yet.
const DISPATCH: &str = "boost::fibers::scheduler::dispatch";

/// Whether a function of this name, demangled and without parameters, begins the stacks of fibers.
fn begins_task(function: &str) -> bool {
    is_first(function) || function == DISPATCH
}

/// Whether it is the one that all stacks begin with.
pub fn is_first(function: &str) -> bool {
    let rest = function.strip_prefix(FIRST);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('<'))
}

/// What a module without a file exports is read from memory, and asked of those alone that have so much code.
const MIN_CODE: u64 = 16 << 10;

/// Where the library's own data lie that are looked at.
#[derive(Clone, Debug, Default)]
pub struct LibraryData {
    /// The tables of the algorithms whose fibers are ready when their hooks say so.
    pub algorithms: Vec<Addr>,
    /// That of `work_stealing`.
    pub stealing: Vec<Addr>,
    /// `shared_work::rqueue_`.
    pub shared: Vec<Addr>,
}

/// Several modules may have the library in them, and the dynamic linker takes one for all, or each keeps its own.
fn find(host: &dyn Host) -> Vec<Finding> {
    let modules = host.modules().into_iter();
    let having: Vec<&dyn HostModule> = modules.filter(|module| has_it(*module)).collect();
    let tables = |name: &str| {
        let tables = having.iter().filter_map(|module| symbol(*module, name));
        tables.filter_map(|at| at.checked_add(BEFORE_FUNCTIONS)).collect::<Vec<Addr>>()
    };
    let places = LibraryData {
        algorithms: ALGORITHMS.iter().flat_map(|name| tables(name)).collect(),
        stealing: tables(STEALING),
        shared: having.iter().filter_map(|module| symbol(*module, SHARED)).collect(),
    };
    let tables = tables(SCHEDULER);
    let found = having.iter().filter_map(|module| find_in(host, *module, &tables, &places));
    found.collect()
}

fn has_it(module: &dyn HostModule) -> bool {
    let is_worth = module.image().is_some() || module.code_size() >= MIN_CODE;
    is_worth && (module.exported(SCHEDULER).is_some() || names(module))
}

/// The fibers of threads whose variables are those of one module. A library whose fibers nobody uses is none.
fn find_in(
    host: &dyn Host,
    module: &dyn HostModule,
    tables: &[Addr],
    places: &LibraryData,
) -> Option<Finding> {
    let active = module.symbols().table().lookup(ACTIVE).map(|symbol| symbol.value());
    let threads = host.threads();
    let can_read = |thread| host.thread_local(thread, module, Svma::new(0)).is_some();
    if !threads.iter().any(|thread| can_read(*thread)) {
        let why = format!(
            "fibers of {}: the thread-local variables that lead to them were not found",
            module.name()
        );
        return Some(Finding::Damaged(Damage {
            name: NAME,
            version: None,
            why: why.into(),
            stand_in: None,
        }));
    }
    let of = |thread| Scheduler::of_thread(host, module, thread, active, tables);
    let schedulers: Vec<Scheduler> = threads.into_iter().filter_map(of).collect();
    let layout = schedulers.first()?.layout;
    let identity = Identity {
        name: NAME,
        version: None,
        instance: module.name().into(),
        metadata: format!("the layout of Boost {}, which fits memory", layout.releases).into(),
        undecoded: Vec::new(),
    };
    Some(Finding::Found(Box::new(Fibers {
        identity,
        schedulers,
        layout,
        places: places.clone(),
        known: OnceLock::new(),
    })))
}

/// Whether a module's own symbols have a scheduler among them.
fn names(module: &dyn HostModule) -> bool {
    let strings = module.image().map(|image| image.symbol_strings(SymbolTableKind::Full));
    let strings = strings.filter(|strings| !strings.is_empty());
    strings.is_some_and(|it| memchr::memmem::find(&it, SCHEDULER.as_bytes()).is_some())
}

fn symbol(module: &dyn HostModule, name: &str) -> Option<Addr> {
    let exported = module.exported(name).map(|(svma, _)| svma);
    let svma = exported.or_else(|| Some(module.symbols().table().lookup(name)?.value()))?;
    module.addr(svma)
}
