//! How trio is found.

use std::{any::Any, sync::OnceLock};

use kcore_mem::Addr;

use super::{
    super::{self as python, Python, heap::STR},
    Trio, list, runs,
};
use crate::{Finding, Host, Identity, Probe, TaskProbe};

/// Looks for runs of trio. Where CPython is, it costs a look at the names of its modules.
pub const PROBE: TaskProbe = TaskProbe { probe: Probe { name: NAME, find }, begins_task };

/// What the runtime is called.
pub const NAME: &str = "trio";

/// Its tasks have no stacks.
fn begins_task(_function: &str) -> bool {
    false
}

/// Each CPython in which trio runs.
fn find(host: &dyn Host) -> Vec<Finding> {
    let running = pythons(host).filter(|python| runs::are_there(python, host));
    running.map(|python| Finding::Found(Box::new(Trio::of(host, python)))).collect()
}

impl Trio {
    fn of(host: &dyn Host, python: Python) -> Self {
        let identity = Identity {
            version: version(&python, host).map(Into::into),
            metadata: "the names of its classes' fields".into(),
            ..Identity::new(NAME, &python.identity.instance)
        };
        Self::new(identity, python)
    }

    /// Some tasks of a run, for who knows where both lie; `None` where the process has no CPython that can be decoded, or
    /// no object is there.
    pub fn of_tasks(host: &dyn Host, runner: Addr, tasks: &[Addr]) -> Option<Self> {
        let python = pythons(host).next()?;
        let found = list::some(&python, host, runner, tasks)?;
        let known = OnceLock::from(found);
        Some(Self { identity: Identity::new(NAME, ""), python, known })
    }
}

/// Those of the process that can be decoded.
fn pythons(host: &dyn Host) -> impl Iterator<Item = Python> {
    let found = (python::PROBE.find)(host).into_iter();
    found.filter_map(|finding| {
        let Finding::Found(runtime) = finding else { return None };
        let runtime: Box<dyn Any> = runtime;
        runtime.downcast().ok().map(|python| *python)
    })
}

/// `trio.__version__`.
fn version(python: &Python, host: &dyn Host) -> Option<String> {
    let heap = python.heap(host);
    let mut interpreters = python.state(host).interpreters.iter();
    let module = interpreters.find_map(|it| python.module_dict(&heap, it.at, NAME))?;
    heap.name(heap.lookup(module, "__version__").filter(|text| text.is(STR))?)
}
