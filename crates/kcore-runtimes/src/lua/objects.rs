//! The objects of Lua as all runtimes have them.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Lua,
    heap::{Filling, Kind},
    memory::Memory,
    references::References,
    state::State,
};
use crate::{
    Host,
    graph::{GraphCell, Nodes, Root, RootKind},
    object_list::ObjectList,
    objects::{HeapObject, NamedEdge, Objects, Stopped, Watch},
};

/// What C code keeps, and the global variables.
pub const REGISTRY: RootKind = RootKind::certain("global", "the registry");
/// A thread of Lua that a thread of the process runs.
pub const RUNNING: RootKind = RootKind::certain("stack", "a thread of Lua");
/// What all values of a type have in common, such as the functions of strings.
pub const METATABLE: RootKind = RootKind::certain("metatable", "the metatable of a type");
/// Types with a metatable.
const TYPES: u64 = 9;

/// The objects of all global states of a process.
#[derive(Debug, Default)]
pub struct Heaps {
    /// The main thread of each.
    pub mains: Vec<State>,
    /// They.
    pub list: ObjectList,
}

impl Lua {
    /// All objects. They are looked for once.
    fn heaps(&self, host: &dyn Host) -> &Heaps {
        self.heaps.get_or_init(|| {
            // Of two modules with Lua one has the states.
            let mains = if self.lists_coroutines { self.mains(host) } else { Vec::new() };
            let mut list = ObjectList::default();
            for (heap, main) in (0_u32..).zip(&mains) {
                let memory = main.memory(host.space());
                let mut filling = Filling::new(list, self.module, memory, main, heap);
                filling.fill(main);
                list = filling.list;
            }
            list.finish();
            Heaps { mains, list }
        })
    }

    /// The object that begins at an address: what it is, and the memory that has it.
    fn object<'h>(&self, host: &'h dyn Host, at: Addr) -> Option<(Kind, Memory<'h>)> {
        let heaps = self.heaps(host);
        let listed = heaps.list.at(at)?;
        let main = heaps.mains.get(usize::try_from(listed.heap).ok()?)?;
        let memory = main.memory(host.space());
        Some((memory.object_kind(at)?, memory))
    }

    /// What an object is, in one line.
    pub(super) fn identify_object(&self, host: &dyn Host, at: Addr) -> Option<String> {
        let list = &self.heaps(host).list;
        list.identify(at, &self.class_at(host, list.holding(at)?.at)?)
    }

    /// The object at an address as a value, with the memory that has it.
    pub(super) fn object_value<'h>(
        &self,
        host: &'h dyn Host,
        at: Addr,
    ) -> Option<(super::Value, Memory<'h>)> {
        let (kind, memory) = self.object(host, at)?;
        let is_value = !matches!(kind, Kind::Proto | Kind::Upvalue);
        let value = is_value.then(|| memory.value_of_object(at))??;
        Some((value, memory))
    }
}

impl Objects for Lua {
    fn holder(&self, host: &dyn Host, at: Addr) -> Option<HeapObject> {
        self.heaps(host).list.holding(at).map(HeapObject::from)
    }

    fn class_at(&self, host: &dyn Host, at: Addr) -> Option<Arc<str>> {
        let list = &self.heaps(host).list;
        let named = list.class_name(list.at(at)?);
        Some(named.unwrap_or(self.object(host, at)?.0.word().into()))
    }

    fn each_object(
        &self,
        host: &dyn Host,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(HeapObject),
    ) -> Result<(), Stopped> {
        self.heaps(host).list.each(watch, tell)
    }

    fn missing(&self, _host: &dyn Host) -> Option<String> {
        let heaps = self.heaps.get()?;
        if heaps.mains.is_empty() && self.lists_coroutines {
            return Some("no global state is found".to_owned());
        }
        let cut = "a list of objects is damaged, or was not dumped: there may be more";
        heaps.list.is_cut.then(|| cut.to_owned())
    }

    fn edges(&self, host: &dyn Host, at: Addr) -> Vec<NamedEdge> {
        let Some((kind, memory)) = self.object(host, at) else { return Vec::new() };
        let mut edges = References::of(&memory, at, kind).found;
        edges.retain(|edge| self.heaps(host).list.at(edge.to).is_some());
        edges
    }

    fn roots(
        &self,
        host: &dyn Host,
        nodes: &dyn Nodes,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Root),
    ) -> Result<(), Stopped> {
        let mut tell = |root: Root| {
            if nodes.number(root.to).is_some() {
                tell(root);
            }
        };
        for main in &self.heaps(host).mains {
            if watch(0, 0).is_break() {
                return Err(Stopped);
            }
            let memory = main.memory(host.space());
            let layout = &main.layout.global;
            tell(Root::new(&RUNNING, main.at));
            let registry = main.global.checked_add(layout.registry);
            let registry = registry.and_then(|at| memory.value(at)?.object(super::memory::TABLE));
            registry.into_iter().for_each(|to| tell(Root::new(&REGISTRY, to)));
            for number in 0..TYPES {
                let offset = number.saturating_mul(8).saturating_add(layout.metatables);
                let metatable = memory.pointer(main.global, offset);
                metatable.into_iter().for_each(|to| tell(Root::new(&METATABLE, to)));
            }
        }
        for thread in host.threads() {
            for running in self.running(host, thread, &host.frames(thread)) {
                let to = running.state.at;
                tell(Root { thread: Some(thread), ..Root::new(&RUNNING, to) });
            }
        }
        Ok(())
    }

    fn unknown_roots(&self) -> &'static str {
        "names that Lua itself uses, and what C code keeps in its own memory"
    }

    fn graph_cell(&self) -> &GraphCell {
        &self.graph
    }
}
