//! The objects of LuaJIT as all runtimes have them.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    LuaJit,
    heap::{Filling, Kind},
    memory::{Memory, Value},
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

/// The objects of all global states of a process.
#[derive(Debug, Default)]
pub struct Heaps {
    /// The main thread of each.
    pub mains: Vec<State>,
    /// They.
    pub list: ObjectList,
}

impl LuaJit {
    /// All objects. They are looked for once.
    fn heaps(&self, host: &dyn Host) -> &Heaps {
        self.heaps.get_or_init(|| {
            let mains = self.mains(host);
            let mut list = ObjectList::default();
            for (heap, main) in (0_u32..).zip(&mains) {
                let mut filling = Filling::new(list, Memory { space: host.space() }, main, heap);
                filling.fill(main);
                list = filling.list;
            }
            list.finish();
            Heaps { mains, list }
        })
    }

    fn kind_at(&self, host: &dyn Host, at: Addr) -> Option<Kind> {
        self.heaps(host).list.at(at)?;
        Memory { space: host.space() }.object_kind(at)
    }

    /// What an object is, in one line.
    pub(super) fn identify_object(&self, host: &dyn Host, at: Addr) -> Option<String> {
        let list = &self.heaps(host).list;
        list.identify(at, &self.class_at(host, list.holding(at)?.at)?)
    }

    /// The object at an address as a value.
    pub(super) fn object_value(&self, host: &dyn Host, at: Addr) -> Option<Value> {
        Some(Value::of_object(at, self.kind_at(host, at)?.tag()?))
    }
}

impl Objects for LuaJit {
    fn holder(&self, host: &dyn Host, at: Addr) -> Option<HeapObject> {
        self.heaps(host).list.holding(at).map(HeapObject::from)
    }

    fn class_at(&self, host: &dyn Host, at: Addr) -> Option<Arc<str>> {
        let list = &self.heaps(host).list;
        let named = list.class_name(list.at(at)?);
        Some(named.unwrap_or(self.kind_at(host, at)?.word().into()))
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
        if heaps.mains.is_empty() {
            return Some("no global state is found".to_owned());
        }
        let cut = "a list of objects is damaged, or was not dumped: there may be more";
        heaps.list.is_cut.then(|| cut.to_owned())
    }

    fn edges(&self, host: &dyn Host, at: Addr) -> Vec<NamedEdge> {
        let Some(kind) = self.kind_at(host, at) else { return Vec::new() };
        let memory = Memory { space: host.space() };
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
        let memory = Memory { space: host.space() };
        let mut tell = |root: Root| {
            if nodes.number(root.to).is_some() {
                tell(root);
            }
        };
        for main in &self.heaps(host).mains {
            if watch(0, 0).is_break() {
                return Err(Stopped);
            }
            tell(Root::new(&RUNNING, main.at));
            let registry = main.registry(&memory);
            registry.into_iter().for_each(|to| tell(Root::new(&REGISTRY, to)));
        }
        for thread in host.threads() {
            for at in self.innermost(host, thread) {
                tell(Root { thread: Some(thread), ..Root::new(&RUNNING, at) });
            }
        }
        Ok(())
    }

    fn unknown_roots(&self) -> &'static str {
        "constants of traces, values of C, names that LuaJIT itself uses, and what C code keeps in its own memory"
    }

    fn graph_cell(&self) -> &GraphCell {
        &self.graph
    }
}
