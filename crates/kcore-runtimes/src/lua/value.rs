//! Values of Lua as trees: `lobject.h`, `lapi.c`.

use std::{cell::Cell, sync::Arc};

use kcore_mem::Addr;

use super::{
    layout::Series,
    memory::{FUNCTION, Function, Memory, STRING, TABLE, THREAD, Value},
    proto::Proto,
    table::{Entries, layout_of},
};
use crate::{
    ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar, VariableLimits,
    lua_text::{is_whole, spelled},
    script_text::{rest_of, text},
};

const NIL: u8 = 0;
const BOOLEAN: u8 = 1;
const LIGHT: u8 = 2;
const NUMBER: u8 = 3;
const USERDATA: u8 = 7;
/// The variant of a tag.
const VARIANT: u8 = 0x10;
/// The member of a metatable that names what it is for.
const NAME: &str = "__name";
/// Members of a metatable that are looked at, at most.
const MAX_MEMBERS: usize = 1024;

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
        let at = Addr::new(value.word);
        match value.kind() {
            NIL => word("nil", "nil"),
            BOOLEAN if self.is_true(value) => word("boolean", "true"),
            BOOLEAN => word("boolean", "false"),
            NUMBER => self.number(value),
            LIGHT => ScriptNode::scalar("userdata", ScriptScalar::Address(at)),
            STRING => ScriptNode { at: Some(at), ..self.string(at) },
            TABLE => ScriptNode { at: Some(at), ..self.table(at, depth) },
            FUNCTION => self.function(value),
            USERDATA => ScriptNode {
                at: Some(at),
                class: self.class(at, self.memory.layout.userdata.0),
                length: self.memory.word(at, self.memory.layout.userdata.1),
                ..note("userdata", "userdata")
            },
            THREAD => ScriptNode { at: Some(at), ..note("thread", "coroutine") },
            _ => note("unreadable", "no value"),
        }
    }

    const fn is_true(&self, value: Value) -> bool {
        match self.memory.layout.series {
            Series::V54 => value.tag & VARIANT != 0,
            _ => value.word & 0xffff_ffff != 0,
        }
    }

    fn number(&self, value: Value) -> ScriptNode {
        let is_variant = value.tag & VARIANT != 0;
        let is_integer = match self.memory.layout.series {
            Series::V51 | Series::V52 => false,
            Series::V53 => is_variant,
            Series::V54 => !is_variant,
        };
        match is_integer {
            true => {
                let digits = value.word.cast_signed().to_string();
                ScriptNode::scalar("integer", ScriptScalar::Integer(digits.into()))
            }
            false => float(f64::from_bits(value.word), self.memory.layout.series),
        }
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
        let metatable = layout_of(self.memory, at).map(|layout| layout.metatable);
        let class = metatable.and_then(|metatable| self.class(at, metatable));
        let Some(depth) = depth.checked_sub(1).filter(|_| self.left.get() > 0) else {
            return ScriptNode { class, ..ScriptNode::scalar("table", ScriptScalar::Elided) };
        };
        let most = usize::try_from(self.limits.entries).unwrap_or(usize::MAX);
        let mut parts = Vec::new();
        let (mut expected, mut is_cut) = (1_u64, false);
        for (key, value) in entries.by_ref() {
            if parts.len() >= most {
                is_cut = true;
                break;
            }
            let value = self.node(value, depth);
            let label = match self.key(key, depth) {
                ScriptLabel::Entry(key) if is_index(&key, expected) => {
                    expected = expected.saturating_add(1);
                    ScriptLabel::Item
                }
                label => label,
            };
            parts.push(ScriptPart::new(label, value));
        }
        is_cut |= entries.gave_up;
        let parts = Some(ScriptParts { is_list: false, parts, is_cut });
        ScriptNode { kind: "table", class, parts, ..ScriptNode::default() }
    }

    fn key(&self, key: Value, depth: u32) -> ScriptLabel {
        let name = key.object(STRING).and_then(|at| self.memory.text(at));
        match name {
            Some(name) if is_whole(&name) => ScriptLabel::Name(name.into()),
            _ => ScriptLabel::Entry(Box::new(self.node(key, depth.min(1)))),
        }
    }

    fn function(&self, value: Value) -> ScriptNode {
        let (word, file, line) = match self.memory.function(value) {
            Some(Function::Lua { proto, .. }) => match Proto::load(self.memory, proto) {
                Some(proto) => {
                    let line = u32::try_from(proto.first_line).ok();
                    ("function", Some(proto.file()), line)
                }
                None => return note("function", "a function that cannot be read"),
            },
            Some(Function::C { .. }) => ("builtin", None, None),
            None => return note("function", "a function that cannot be read"),
        };
        let function = ScriptScalar::Function { word, name: None, file, line };
        ScriptNode { at: Some(Addr::new(value.word)), ..ScriptNode::scalar("function", function) }
    }

    /// What the metatable calls it.
    fn class(&self, at: Addr, metatable: u64) -> Option<Arc<str>> {
        let metatable = self.memory.pointer(at, metatable)?;
        let is_name = |(key, _): &(Value, Value)| {
            key.object(STRING).and_then(|key| self.memory.text(key)).as_deref() == Some(NAME)
        };
        let mut members = Entries::of(self.memory, metatable)?.take(MAX_MEMBERS);
        let name = members.find(is_name)?.1.object(STRING)?;
        self.memory.text(name).map(Arc::from)
    }
}

/// A number with a point. Before 5.3 all numbers are such, and whole ones are spelled without one.
fn float(number: f64, series: Series) -> ScriptNode {
    /// From here on numbers are spelled with an exponent.
    const MAX_PLAIN: f64 = 1e14;
    let scalar = match series < Series::V53 && number.fract() == 0.0 && number.abs() < MAX_PLAIN {
        true => ScriptScalar::Integer(format!("{number:.0}").into()),
        false => ScriptScalar::Number(number),
    };
    ScriptNode::scalar("number", scalar)
}

/// Whether a key is the index that follows those before it.
fn is_index(key: &ScriptNode, expected: u64) -> bool {
    match &key.scalar {
        Some(ScriptScalar::Integer(digits)) => digits.parse() == Ok(expected),
        #[allow(clippy::cast_precision_loss, clippy::float_cmp)]
        Some(ScriptScalar::Number(number)) => *number == expected as f64,
        _ => false,
    }
}

fn note(kind: &'static str, text: &'static str) -> ScriptNode {
    ScriptNode::scalar(kind, ScriptScalar::Note(text.into()))
}
