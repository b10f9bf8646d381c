//! Values of LuaJIT as trees: `lj_obj.h`.

use std::{cell::Cell, sync::Arc};

use kcore_mem::Addr;

use super::{
    memory::{FUNCTION, Function, Kind, Memory, STRING, TABLE, THREAD, USERDATA, VALUE, Value},
    proto::Proto,
};
use crate::{
    ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar, VariableLimits,
    lua_text::{is_whole, spelled},
    script_text::{rest_of, text},
};

/// `array`, `metatable`, `node`, `asize` and `hmask` of a table, bytes of a node and where it has its key.
const ARRAY: u64 = 16;
const META: u64 = 32;
const NODES: u64 = 40;
const ARRAY_SIZE: u64 = 48;
const NODE_MASK: u64 = 52;
const NODE: u64 = 24;
const KEY: u64 = 8;
/// Places of a table without a value, one after another, before it is given up.
const MAX_EMPTY: u64 = 1 << 16;
/// `len` of a userdata.
const LENGTH: u64 = 24;
/// The member of a metatable that names what it is for.
const NAME: &str = "__name";
const MAX_MEMBERS: usize = 1024;
/// From here on whole numbers are spelled with an exponent.
const MAX_PLAIN: f64 = 1e14;

/// What tells values.
pub struct Teller<'a> {
    memory: &'a Memory<'a>,
    limits: VariableLimits,
    /// Nodes that may still be told: depth and length alone would allow too many.
    left: Cell<u64>,
}

impl<'a> Teller<'a> {
    /// One with limits.
    pub fn new(memory: &'a Memory<'a>, limits: VariableLimits) -> Self {
        Self { memory, limits, left: Cell::new(limits.entries.saturating_mul(64)) }
    }

    /// What a value is.
    pub fn value(&self, value: Value) -> ScriptNode {
        self.node(value, self.limits.depth)
    }

    fn node(&self, value: Value, depth: u32) -> ScriptNode {
        self.left.set(self.left.get().saturating_sub(1));
        let word = |kind, word| ScriptNode::scalar(kind, ScriptScalar::Word(word));
        let at = value.address();
        let node = match value.kind() {
            Kind::Nil => return word("nil", "nil"),
            Kind::True => return word("boolean", "true"),
            Kind::False => return word("boolean", "false"),
            Kind::Number => return number(f64::from_bits(value.0)),
            // Segments of such pointers are numbered, which is not undone here.
            Kind::Light => return note("userdata", "a pointer"),
            Kind::Object(STRING) => self.string(at),
            Kind::Object(TABLE) => self.table(at, depth),
            Kind::Object(FUNCTION) => self.function(at),
            Kind::Object(USERDATA) => ScriptNode {
                class: self.class(at),
                length: self.memory.uint(at, LENGTH, 4),
                ..note("userdata", "userdata")
            },
            Kind::Object(THREAD) => note("thread", "coroutine"),
            Kind::Object(_) => note("cdata", "cdata"),
        };
        ScriptNode { at: Some(at), ..node }
    }

    fn string(&self, at: Addr) -> ScriptNode {
        let Some((bytes, length)) = self.memory.text_bytes(at) else {
            return note("string", "unreadable");
        };
        let wanted = length.min(self.limits.characters);
        let held = self.memory.space.read_held(bytes, wanted);
        let rest = rest_of(held.len() as u64, wanted, length);
        let (kind, text) = text(&held, rest, spelled);
        let scalar = ScriptScalar::Text { text: text.into(), rest };
        ScriptNode { length: Some(length), ..ScriptNode::scalar(kind, scalar) }
    }

    /// A table: elements from 1 on without their keys, as a program would write it.
    fn table(&self, at: Addr, depth: u32) -> ScriptNode {
        let Some(mut entries) = Entries::of(self.memory, at) else {
            return note("table", "unreadable");
        };
        let class = self.class(at);
        let Some(depth) = depth.checked_sub(1).filter(|_| self.left.get() > 0) else {
            return ScriptNode { class, ..ScriptNode::scalar("table", ScriptScalar::Elided) };
        };
        let most = usize::try_from(self.limits.entries).unwrap_or(usize::MAX);
        let mut parts = Vec::new();
        let (mut expected, mut is_cut) = (1_u32, false);
        for (key, value) in entries.by_ref() {
            if parts.len() >= most {
                is_cut = true;
                break;
            }
            let value = self.node(value, depth);
            #[allow(clippy::float_cmp)]
            let is_next =
                key.kind() == Kind::Number && f64::from_bits(key.0) == f64::from(expected);
            let label = match key.object(STRING).and_then(|at| self.memory.text(at)) {
                Some(name) if is_whole(&name) => ScriptLabel::Name(name.into()),
                _ if is_next => {
                    expected = expected.saturating_add(1);
                    ScriptLabel::Item
                }
                _ => ScriptLabel::Entry(Box::new(self.node(key, depth.min(1)))),
            };
            parts.push(ScriptPart::new(label, value));
        }
        is_cut |= entries.gave_up;
        let parts = Some(ScriptParts { is_list: false, parts, is_cut });
        ScriptNode { kind: "table", class, parts, ..ScriptNode::default() }
    }

    fn function(&self, at: Addr) -> ScriptNode {
        let (word, file, line) = match self.memory.function(at) {
            Some(Function::Lua(proto)) => match Proto::load(self.memory, proto) {
                Some(proto) => {
                    let line = u32::try_from(proto.first_line).ok();
                    ("function", Some(Arc::from(proto.file())), line)
                }
                None => return note("function", "a function that cannot be read"),
            },
            Some(_) => ("builtin", None, None),
            None => return note("function", "a function that cannot be read"),
        };
        let function = ScriptScalar::Function { word, name: None, file, line };
        ScriptNode::scalar("function", function)
    }

    /// What the metatable calls it.
    fn class(&self, at: Addr) -> Option<Arc<str>> {
        let members = Entries::of(self.memory, self.memory.pointer(at, META)?)?;
        let is_name = |(key, _): &(Value, Value)| {
            key.object(STRING).and_then(|key| self.memory.text(key)).as_deref() == Some(NAME)
        };
        let name = { members }.take(MAX_MEMBERS).find(is_name)?.1.object(STRING)?;
        self.memory.text(name).map(Arc::from)
    }
}

/// The entries of a table.
pub struct Entries<'a> {
    memory: &'a Memory<'a>,
    array: Option<Addr>,
    array_size: u64,
    nodes: Option<Addr>,
    node_count: u64,
    next: u64,
    gave_up: bool,
}

impl<'a> Entries<'a> {
    /// Those of the table at an address.
    pub fn of(memory: &'a Memory<'a>, table: Addr) -> Option<Self> {
        (memory.byte(table, super::memory::TAG)? == TABLE).then_some(())?;
        Some(Self {
            memory,
            array: memory.pointer(table, ARRAY),
            array_size: memory.uint(table, ARRAY_SIZE, 4)?,
            nodes: memory.pointer(table, NODES),
            node_count: memory.uint(table, NODE_MASK, 4)?.checked_add(1)?,
            next: 0,
            gave_up: false,
        })
    }

    fn look(&self, place: u64) -> Option<(Value, Value)> {
        if place < self.array_size {
            let value = self.memory.value(self.array?.checked_add(place.checked_mul(VALUE)?)?)?;
            let key = f64::from(u32::try_from(place).ok()?);
            return Some((Value(key.to_bits()), value));
        }
        let node = place.checked_sub(self.array_size)?.checked_mul(NODE)?;
        let at = self.nodes?.checked_add(node)?;
        Some((self.memory.value(at.checked_add(KEY)?)?, self.memory.value(at)?))
    }
}

impl Iterator for Entries<'_> {
    type Item = (Value, Value);

    fn next(&mut self) -> Option<Self::Item> {
        let end = self.array_size.checked_add(self.node_count)?;
        let mut empty = 0_u64;
        while self.next < end {
            let place = self.next;
            self.next = self.next.checked_add(1)?;
            if let Some((key, value)) = self.look(place).filter(|(_, it)| it.kind() != Kind::Nil) {
                return Some((key, value));
            }
            empty = empty.checked_add(1)?;
            if empty >= MAX_EMPTY {
                self.gave_up = true;
                return None;
            }
        }
        None
    }
}

/// A number; whole ones are spelled without a point.
fn number(number: f64) -> ScriptNode {
    let scalar = match number.fract() == 0.0 && number.abs() < MAX_PLAIN {
        true => ScriptScalar::Integer(format!("{number:.0}").into()),
        false => ScriptScalar::Number(number),
    };
    ScriptNode::scalar("number", scalar)
}

fn note(kind: &'static str, text: &'static str) -> ScriptNode {
    ScriptNode::scalar(kind, ScriptScalar::Note(text.into()))
}
