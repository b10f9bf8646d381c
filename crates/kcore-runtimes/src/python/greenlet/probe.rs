//! How greenlets are found.

use std::{any::Any, sync::OnceLock};

use kcore_mem::Addr;

use super::{
    super::{self as python, Python, heap::STR},
    GreenletList, Greenlets,
    layout::GreenletLayout,
    list,
    switch::{self, Switch},
};
use crate::{Damage, Finding, Host, HostModule, Identity, Probe, TaskProbe};

/// Looks for greenlets. Where the module is, it costs a walk through the lists of CPython's collector.
pub const PROBE: TaskProbe = TaskProbe { probe: Probe { name: NAME, find }, begins_task };

/// What they are called.
pub const NAME: &str = "greenlet";

/// What the module exports, and how its file is called: since 1.0, and before.
const CLASS: &str = "PyGreenlet_Type";
const FILES: [&str; 2] = ["_greenlet.c", "greenlet.c"];
/// The function with which the stack of a greenlet begins: since 2.0, and before.
const FIRST: [&str; 2] = ["greenlet::UserGreenlet::g_initialstub", "g_initialstub"];

/// Whether a function of this name begins the stacks of greenlets.
fn begins_task(function: &str) -> bool {
    FIRST.contains(&function)
}

/// Whether a module is the one of greenlets, by its name: gevent has some that are called nearly so.
pub fn may_be_it(module: &dyn HostModule) -> bool {
    FILES.iter().any(|name| module.name().starts_with(name))
}

/// Each module with each CPython whose collector knows objects of its class.
fn find(host: &dyn Host) -> Vec<Finding> {
    let modules = host.modules().into_iter().filter(|module| may_be_it(*module));
    let having = modules.filter_map(|module| {
        let (class, _) = module.exported(CLASS)?;
        Some((module, module.addr(class)?))
    });
    let of_module = |(module, class)| {
        let pythons: Vec<Python> = pythons(host).collect();
        if pythons.is_empty() {
            return vec![damage(module, None, "the CPython that they belong to cannot be decoded")];
        }
        let found = pythons.into_iter().filter_map(|python| find_in(host, module, class, python));
        found.collect()
    };
    having.flat_map(of_module).collect()
}

fn damage(module: &dyn HostModule, version: Option<&str>, why: &str) -> Finding {
    let why = format!("greenlets of {}: {why}", module.name());
    let version = version.map(Into::into);
    Finding::Damaged(Damage { name: NAME, version, why: why.into(), stand_in: None })
}

/// Those of the process, apart from the ones that others share.
fn pythons(host: &dyn Host) -> impl Iterator<Item = Python> {
    let found = (python::PROBE.find)(host).into_iter();
    found.filter_map(|finding| {
        let Finding::Found(runtime) = finding else { return None };
        let runtime: Box<dyn Any> = runtime;
        runtime.downcast().ok().map(|python| *python)
    })
}

impl Greenlets {
    /// Those of some objects of a class, for who knows where they lie; `None` where the process has no CPython, or they
    /// are laid out in no way that is known.
    pub fn of_objects(host: &dyn Host, class: Addr, objects: &[Addr]) -> Option<Self> {
        let python = pythons(host).next()?;
        let heap = python.heap(host);
        let size = heap.word(class, heap.layout.types.basic_size)?;
        let layout = GreenletLayout::of(&heap, size, objects).ok()?;
        let (identity, switch) = (Identity::new(NAME, ""), Ok(Switch { pc: class, frame: None }));
        let (ends, known) = (OnceLock::new(), OnceLock::new());
        let found = Self { identity, python, class, layout, switch, ends, known };
        let all = objects.iter().filter_map(|at| found.load(host, *at)).collect();
        Some(Self { known: GreenletList { all, broken: 0 }.into(), ..found })
    }
}

fn find_in(
    host: &dyn Host,
    module: &dyn HostModule,
    class: Addr,
    python: Python,
) -> Option<Finding> {
    let (objects, broken) = list::objects(&python, host, class);
    let heap = python.heap(host);
    let version = version(&python, host);
    let size = heap.word(class, heap.layout.types.basic_size);
    if objects.is_empty() && broken == 0 {
        return None;
    }
    let damage = |why: &str| Some(damage(module, version.as_deref(), why));
    let layout = match size.map(|size| GreenletLayout::of(&heap, size, &objects)) {
        None => return damage("their class was not dumped"),
        Some(_) if objects.is_empty() => return damage("the lists that have them are damaged"),
        Some(Err(why)) => return damage(why),
        Some(Ok(layout)) => layout,
    };
    let identity = Identity {
        version: version.as_deref().map(Into::into),
        metadata: "the layout that fits its objects".into(),
        ..Identity::new(NAME, module.name())
    };
    let switch = switch::find(host, module);
    let (ends, known) = (OnceLock::new(), OnceLock::new());
    let found = Greenlets { identity, python, class, layout, switch, ends, known };
    Some(Finding::Found(Box::new(found)))
}

/// `greenlet.__version__`.
fn version(python: &Python, host: &dyn Host) -> Option<String> {
    let heap = python.heap(host);
    let module = python.module_dict(&heap, python.main, NAME)?;
    heap.name(heap.lookup(module, "__version__").filter(|text| text.is(STR))?)
}
