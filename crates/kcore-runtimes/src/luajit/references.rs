//! What objects of LuaJIT refer to: `gc_mark` and `propagatemark` of `lj_gc.c`.

use kcore_mem::Addr;

use super::{
    heap::Kind,
    memory::{Function, Kind as ValueKind, Memory, STRING, VALUE, Value},
    proto::Proto,
    value::Entries,
};
use crate::{
    lua_text::is_whole,
    objects::{Edge, NamedEdge},
};

/// References of one object, at most.
const MAX_EDGES: usize = 1 << 22;
/// The member of a metatable that says which references of its tables are weak, and how many are looked at.
const MODE: &str = "__mode";
const MAX_MEMBERS: usize = 1024;
/// `env` of functions and userdata, and of threads.
const ENVIRONMENT: u64 = 16;
const GLOBALS: u64 = 72;
/// `nupvalues`, `uvptr` of a function of Lua, and `upvalue` of one of C.
const UPVALUES: u64 = 11;
const FIRST_SHARED: u64 = 40;
const FIRST_VALUE: u64 = 48;
/// `v` of an upvalue.
const PLACE: u64 = 32;
/// `stack` and `top` of a thread.
const STACK: u64 = 56;
const TOP: u64 = 40;
/// `k`, `sizekgc` and `chunkname` of code.
const CONSTANTS: u64 = 32;
const CONSTANT_COUNT: u64 = 48;
const CHUNK: u64 = 64;
/// `startpt` of a trace.
const START: u64 = 64;

/// What collects the references of one object.
pub struct References<'a> {
    memory: &'a Memory<'a>,
    /// They.
    pub found: Vec<NamedEdge>,
}

impl<'a> References<'a> {
    /// Those of an object.
    pub fn of(memory: &'a Memory<'a>, at: Addr, kind: Kind) -> Self {
        let mut references = Self { memory, found: Vec::new() };
        match kind {
            Kind::Text | Kind::Cdata => {}
            Kind::Table => references.of_table(at),
            Kind::Function => references.of_function(at),
            Kind::Userdata => {
                references.to(memory.metatable(at), Edge::Slot("metatable"), false);
                references.add_pointer(at, ENVIRONMENT, "environment");
            }
            Kind::Thread => references.of_thread(at),
            Kind::Proto => references.of_proto(at),
            Kind::Trace => references.add_pointer(at, START, "proto"),
            Kind::Upvalue => references.add_at(memory.pointer(at, PLACE), Edge::Slot("value")),
        }
        references
    }

    fn to(&mut self, to: Option<Addr>, edge: Edge, is_weak: bool) {
        if let Some(to) = to.filter(|_| self.found.len() < MAX_EDGES) {
            self.found.push(NamedEdge { to, edge, is_weak });
        }
    }

    fn add(&mut self, value: Value, edge: Edge, is_weak: bool) {
        if let ValueKind::Object(_) = value.kind() {
            self.to(Some(value.address()), edge, is_weak);
        }
    }

    fn add_at(&mut self, place: Option<Addr>, edge: Edge) {
        if let Some(value) = place.and_then(|place| self.memory.value(place)) {
            self.add(value, edge, false);
        }
    }

    fn add_pointer(&mut self, at: Addr, offset: u64, name: &'static str) {
        self.to(self.memory.pointer(at, offset), Edge::Slot(name), false);
    }

    fn of_table(&mut self, at: Addr) {
        let memory = self.memory;
        let metatable = memory.metatable(at);
        self.to(metatable, Edge::Slot("metatable"), false);
        let mode = || memory.text(memory.member(metatable?, MODE, MAX_MEMBERS)?.object(STRING)?);
        let mode = mode().unwrap_or_default();
        let (weak_keys, weak_values) = (mode.contains('k'), mode.contains('v'));
        for (key, value) in Entries::of(memory, at).into_iter().flatten().take(MAX_EDGES) {
            self.add(key, Edge::Key, weak_keys);
            if matches!(value.kind(), ValueKind::Object(_)) {
                let edge = self.edge_of(key);
                self.add(value, edge, weak_values);
            }
        }
    }

    fn edge_of(&self, key: Value) -> Edge {
        let text = key.object(STRING).and_then(|at| self.memory.text(at));
        match (text, key.kind()) {
            (Some(name), _) if is_whole(&name) => Edge::Member(name.into()),
            (Some(name), _) => Edge::Entry(name.into()),
            (None, ValueKind::Number) => whole(key).map_or(Edge::Value, Edge::Numbered),
            (None, _) => Edge::Value,
        }
    }

    fn of_function(&mut self, at: Addr) {
        let memory = self.memory;
        self.add_pointer(at, ENVIRONMENT, "environment");
        let count = memory.uint(at, UPVALUES, 1).unwrap_or_default();
        let place = |first: u64, index: u64| {
            at.saturating_add(first).saturating_add(index.saturating_mul(8))
        };
        let Some(Function::Lua(proto)) = memory.function(at) else {
            for index in 0..count {
                self.add_at(Some(place(FIRST_VALUE, index)), Edge::Slot("upvalue"));
            }
            return;
        };
        self.to(Some(proto), Edge::Slot("proto"), false);
        let code = Proto::load(memory, proto);
        for index in 0..count {
            let shared = memory.pointer(place(FIRST_SHARED, index), 0);
            self.to(shared, Edge::Slot("upvalue"), false);
            let name = code.as_ref().and_then(|code| code.upvalue(memory, index));
            let edge = name.map_or(Edge::Slot("upvalue"), |name| Edge::Variable(name.into()));
            self.add_at(shared.and_then(|at| memory.pointer(at, PLACE)), edge);
        }
    }

    /// The values on the stack of a thread.
    fn of_thread(&mut self, at: Addr) {
        self.add_pointer(at, GLOBALS, "globals");
        let ends = self.memory.pointer(at, STACK).zip(self.memory.pointer(at, TOP));
        let Some((first, top)) = ends else { return };
        let count = top.offset_from(first).and_then(|bytes| bytes.checked_div(VALUE));
        for index in 0..count.unwrap_or_default().min(MAX_EDGES as u64) {
            let place = first.saturating_add(index.saturating_mul(VALUE));
            if self.memory.value(place).is_none() {
                return;
            }
            self.add_at(Some(place), Edge::Slot("stack"));
        }
    }

    /// Constants that are objects, which lie before the numbers, and what the code was read from.
    fn of_proto(&mut self, at: Addr) {
        self.add_pointer(at, CHUNK, "source");
        let count = self.memory.uint(at, CONSTANT_COUNT, 4).unwrap_or_default();
        let Some(middle) = self.memory.pointer(at, CONSTANTS) else { return };
        for index in 1..=count.min(MAX_EDGES as u64) {
            let Some(place) = middle.get().checked_sub(index.saturating_mul(8)) else { return };
            self.add_pointer(Addr::new(place), 0, "constant");
        }
    }
}

/// The whole number that a key is.
fn whole(key: Value) -> Option<i64> {
    let number = f64::from_bits(key.0);
    #[allow(clippy::cast_possible_truncation)]
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}
