//! The heap of PHP as all runtimes have one. PHP counts references, and has no list of its arrays and strings: they are
//! those that objects, variables of calls and global variables refer to.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Php,
    array::{Elements, Key},
    contents::{Content, Reference},
    memory::{ARRAY, Memory, OBJECT, STRING, pointer},
};
use crate::{
    Host,
    graph::{GraphCell, Nodes, Root, RootKind},
    objects::{Edge, HeapObject, NamedEdge, Objects, Stopped, Watch},
};

/// A variable of a call.
pub const CALL: RootKind = RootKind::certain("stack", "the variable");
/// A global variable.
pub const GLOBAL: RootKind = RootKind::certain("global", "the global variable");
/// Objects between two looks at whether to go on.
const EVERY: usize = 1 << 14;
/// References of one object or array, at most.
const MAX_EDGES: usize = 1 << 22;

impl From<&Content> for HeapObject {
    fn from(content: &Content) -> Self {
        Self { at: content.at, class: Some(content.class), size: content.size }
    }
}

impl Objects for Php {
    fn holder(&self, host: &dyn Host, at: Addr) -> Option<HeapObject> {
        self.contents(host).holding(at).map(HeapObject::from)
    }

    fn class_at(&self, host: &dyn Host, at: Addr) -> Option<Arc<str>> {
        let content = self.contents(host).at(at)?;
        match content.kind() {
            ARRAY => Some("(array)".into()),
            STRING => Some("(string)".into()),
            _ => self.memory(host).class_name(content.class).map(Arc::from),
        }
    }

    fn each_object(
        &self,
        host: &dyn Host,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(HeapObject),
    ) -> Result<(), Stopped> {
        let all = &self.contents(host).all;
        for (index, content) in all.iter().enumerate() {
            if index.is_multiple_of(EVERY) && watch(index as u64, all.len() as u64).is_break() {
                return Err(Stopped);
            }
            tell(content.into());
        }
        Ok(())
    }

    fn missing(&self, _host: &dyn Host) -> Option<String> {
        let contents = self.contents.get()?;
        if contents.is_cut {
            return Some("there are too many objects".to_owned());
        }
        let unknown = contents.unknown.filter(|unknown| *unknown > 0)?;
        Some(format!("of what PHP has in use, {unknown} bytes are of no type that is known"))
    }

    fn edges(&self, host: &dyn Host, at: Addr) -> Vec<NamedEdge> {
        let Some(content) = self.contents(host).at(at) else { return Vec::new() };
        let references = self.memory(host).references(content);
        let edge = |(edge, value): Reference| {
            let to = pointer(value.word)?;
            matches!(value.kind, STRING | ARRAY | OBJECT).then_some(())?;
            self.contents(host).at(to)?;
            Some(NamedEdge { to, edge, is_weak: false })
        };
        references.into_iter().filter_map(edge).collect()
    }

    fn roots(
        &self,
        host: &dyn Host,
        nodes: &dyn Nodes,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Root),
    ) -> Result<(), Stopped> {
        for (globals, thread) in self.all_globals(host) {
            if watch(0, 0).is_break() {
                return Err(Stopped);
            }
            for (is_global, name, value) in self.rooted(host, &globals) {
                let to = pointer(value.word).filter(|to| nodes.number(*to).is_some());
                let Some(to) = to.filter(|_| matches!(value.kind, STRING | ARRAY | OBJECT)) else {
                    continue;
                };
                let kind = if is_global { &GLOBAL } else { &CALL };
                let thread = thread.filter(|_| !is_global);
                tell(Root { name: Some(name), thread, ..Root::new(kind, to) });
            }
        }
        Ok(())
    }

    fn unknown_roots(&self) -> &'static str {
        "static variables and properties, constants, suspended generators and fibers, and what C code keeps"
    }

    fn graph_cell(&self) -> &GraphCell {
        &self.graph
    }
}

impl Memory<'_> {
    /// What an object or array refers to.
    fn references(&self, content: &Content) -> Vec<Reference> {
        match content.kind() {
            OBJECT => {
                let own = self.properties(content.at).into_iter();
                own.map(|(name, value)| (Edge::Member(name.into()), value)).collect()
            }
            ARRAY => {
                let elements = Elements::of(self, content.at).into_iter().flatten();
                elements
                    .take(MAX_EDGES)
                    .map(|(key, value, _)| (self.edge_of(&key), value))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    fn edge_of(&self, key: &Key) -> Edge {
        match key {
            Key::Index(index) => Edge::Numbered(*index),
            Key::Name(name) => self.text(*name).map_or(Edge::Value, |it| Edge::Entry(it.into())),
        }
    }
}
