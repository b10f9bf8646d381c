//! How trio is found.

use std::any::Any;

use super::{
    super::{self as python, Python, heap::STR},
    Trio, runs,
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
    let found = (python::PROBE.find)(host).into_iter();
    let pythons = found.filter_map(|finding| {
        let Finding::Found(runtime) = finding else { return None };
        let runtime: Box<dyn Any> = runtime;
        runtime.downcast::<Python>().ok()
    });
    let running = pythons.filter(|python| runs::are_there(python, host));
    running.map(|python| Finding::Found(Box::new(Trio::of(host, *python)))).collect()
}

impl Trio {
    /// The one of a CPython, whether it runs or not.
    pub fn of(host: &dyn Host, python: Python) -> Self {
        let identity = Identity {
            version: version(&python, host).map(Into::into),
            metadata: "the names of its classes' fields".into(),
            ..Identity::new(NAME, &python.identity.instance)
        };
        Self::new(identity, python)
    }

    /// The one of the first CPython of a process that can be decoded, whether it runs or not.
    pub fn of_process(host: &dyn Host) -> Option<Self> {
        let mut found = (python::PROBE.find)(host).into_iter();
        let python = found.find_map(|finding| {
            let Finding::Found(runtime) = finding else { return None };
            let runtime: Box<dyn Any> = runtime;
            runtime.downcast::<Python>().ok()
        })?;
        Some(Self::of(host, *python))
    }
}

/// `trio.__version__`.
fn version(python: &Python, host: &dyn Host) -> Option<String> {
    let heap = python.heap(host);
    let mut interpreters = python.state(host).interpreters.iter();
    let module = interpreters.find_map(|it| python.module_dict(&heap, it.at, NAME))?;
    heap.name(heap.lookup(module, "__version__").filter(|text| text.is(STR))?)
}
