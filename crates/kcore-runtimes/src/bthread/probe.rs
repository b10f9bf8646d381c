//! How bthreads are found.

use std::sync::OnceLock;

use kcore_elf::SymbolTableKind;
use kcore_mem::Addr;

use super::{Bthreads, calibrate, dwarf, pool::Pool};
use crate::{Damage, Finding, Host, HostModule, Identity, Probe, TaskProbe};

/// Looks for bthreads. It costs a search through the names of each module that exports nothing of
/// bRPC's, so it is for those who ask for stacks that belong to no thread.
pub const PROBE: TaskProbe =
    TaskProbe { probe: Probe { name: NAME, find }, begins_task: is_runner };

/// What they are called.
pub const NAME: &str = "bthread";

/// Where constants lie that a program prints, and one of them: a `gflags` setting of
/// `src/bthread/bthread.cpp`, in all releases.
const CONSTANTS: &str = ".rodata";
const SETTING: &[u8] = b"bthread_concurrency";
/// The statics of the pool.
const GROUP_COUNT: &str = "_ZN5butil12ResourcePoolIN7bthread8TaskMetaEE7_ngroupE";
const GROUPS: &str = "_ZN5butil12ResourcePoolIN7bthread8TaskMetaEE13_block_groupsE";
/// Those of the pool of timers.
const TIMER_COUNT: &str = "_ZN5butil12ResourcePoolIN7bthread11TimerThread4TaskEE7_ngroupE";
const TIMERS: &str = "_ZN5butil12ResourcePoolIN7bthread11TimerThread4TaskEE13_block_groupsE";
/// The variable of each worker that points to its `bthread::TaskGroup`.
const WORKER: &str = "_ZN7bthread14tls_task_groupE";
/// The function with which every stack begins, as its symbol and as people have it.
const RUNNER: &str = "_ZN7bthread9TaskGroup11task_runnerEl";
const RUNNER_NAME: &str = "bthread::TaskGroup::task_runner";

/// What workers do, on whose own stacks some bthreads run.
const WORKER_NAME: &str = "bthread::TaskControl::worker_thread";

/// Whether a function of this name, demangled and without parameters, begins the stacks of bthreads.
fn is_runner(function: &str) -> bool {
    function == RUNNER_NAME || function == WORKER_NAME
}

fn find(host: &dyn Host) -> Vec<Finding> {
    let modules = host.modules().into_iter();
    let worth = modules.filter(|module| module.image().is_some() || module.code_size() >= MIN_CODE);
    worth.filter_map(|module| find_in(host, module)).collect()
}

fn exports(module: &dyn HostModule) -> bool {
    module.exported(GROUPS).is_some()
}

/// What a module without a file exports is read from memory, and asked of those alone that have so much code.
const MIN_CODE: u64 = 512 << 10;

/// The pool that a module holds. A pool in which nothing was ever made is none.
fn find_in(host: &dyn Host, module: &dyn HostModule) -> Option<Finding> {
    if !exports(module) && !names(module) {
        return says_so(module).then(|| damaged(module, "its symbols were stripped"));
    }
    let pool = pool_of(module, GROUP_COUNT, GROUPS)?;
    match host.space().read_word(pool.group_count) {
        Ok(0) => return None,
        Ok(_) => {}
        Err(fault) => return Some(damaged(module, &format!("its pool cannot be read: {fault}"))),
    }
    let layout = dwarf::layout(module).or_else(|| calibrate::calibrate(host.space(), &pool));
    let Some(layout) = layout else {
        return Some(damaged(module, "no layout of its tasks fits what lies in its pool"));
    };
    let identity = Identity {
        name: NAME,
        version: None,
        instance: module.name().into(),
        metadata: layout.source.clone(),
        undecoded: Vec::new(),
    };
    Some(Finding::Found(Box::new(Bthreads {
        identity,
        pool,
        timers: pool_of(module, TIMER_COUNT, TIMERS),
        layout,
        runner: symbol(module, RUNNER),
        worker: module.symbols().table().lookup(WORKER).map(|symbol| symbol.value()),
        known: OnceLock::new(),
    })))
}

fn damaged(module: &dyn HostModule, why: &str) -> Finding {
    let why = format!("bthreads of {}: {why}", module.name()).into();
    Finding::Damaged(Damage { name: NAME, version: None, why, stand_in: None })
}

/// Whether a module's own symbols have the pool among them.
fn names(module: &dyn HostModule) -> bool {
    let strings = module.image().map(|image| image.symbol_strings(SymbolTableKind::Full));
    match strings.filter(|strings| !strings.is_empty()) {
        Some(strings) => memchr::memmem::find(&strings, GROUPS.as_bytes()).is_some(),
        None => says_so(module) && module.symbols().table().lookup(GROUPS).is_some(),
    }
}

/// Whether a module without symbols of its own has the name of bRPC's best known setting.
fn says_so(module: &dyn HostModule) -> bool {
    let constants = module.image().and_then(|image| image.section_data(CONSTANTS));
    constants.is_some_and(|constants| memchr::memmem::find(&constants, SETTING).is_some())
}

fn pool_of(module: &dyn HostModule, group_count: &str, groups: &str) -> Option<Pool> {
    Some(Pool { group_count: symbol(module, group_count)?, groups: symbol(module, groups)? })
}

fn symbol(module: &dyn HostModule, name: &str) -> Option<Addr> {
    let exported = module.exported(name).map(|(svma, _)| svma);
    let svma = exported.or_else(|| Some(module.symbols().table().lookup(name)?.value()))?;
    module.addr(svma)
}
