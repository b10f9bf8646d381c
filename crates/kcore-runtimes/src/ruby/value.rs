//! Values of Ruby as trees: `object.c` (`rb_inspect`), `include/ruby/internal/{special_consts,fixnum}.h`.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Ruby,
    heap::{
        ARRAY, BIGNUM, CLASS, COMPLEX, DATA, FILE, FLOAT, HASH, Heap, ICLASS, MODULE, OBJECT,
        Object, RATIONAL, REGEXP, STRING, STRUCT, SYMBOL,
    },
    numbers::{FLONUM, FLONUM_MASK, flonum},
    text::is_static_symbol,
};
use crate::{Host, ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar, VariableLimits};

/// `Qtrue`.
const TRUE: u64 = 0x14;
/// The bit of small integers.
const FIXNUM: u64 = 1;

impl Ruby {
    /// What a value is.
    pub fn script_value(&self, host: &dyn Host, value: u64, limits: VariableLimits) -> ScriptNode {
        let heap = self.heap(host);
        Teller {
            heap: &heap,
            limits,
            left: std::cell::Cell::new(limits.entries.saturating_mul(64)),
        }
        .node(value, limits.depth)
    }
}

/// What tells a value.
pub(super) struct Teller<'a> {
    pub(super) heap: &'a Heap<'a>,
    pub(super) limits: VariableLimits,
    /// Nodes that may still be told: depth and length alone would allow too many.
    left: std::cell::Cell<u64>,
}

impl Teller<'_> {
    pub(super) fn node(&self, value: u64, depth: u32) -> ScriptNode {
        if let Some(node) = self.special(value) {
            return node;
        }
        self.left.set(self.left.get().saturating_sub(1));
        let Some(object) = self.heap.object(value) else {
            return ScriptNode {
                at: Some(Addr::new(value)),
                ..note("unreadable", "unreadable: no object lies there")
            };
        };
        let class = self.class(object);
        ScriptNode {
            at: Some(object.at),
            class: class.map(Arc::from),
            ..self.of_object(object, depth)
        }
    }

    /// A value that is no object.
    fn special(&self, value: u64) -> Option<ScriptNode> {
        let word = |kind, word| Some(ScriptNode::scalar(kind, ScriptScalar::Word(word)));
        match value {
            0 => return word("boolean", "false"),
            TRUE => return word("boolean", "true"),
            _ if value == self.heap.layout.nil => return word("nil", "nil"),
            _ if value == self.heap.layout.undef => return word("undefined", "undef"),
            _ => {}
        }
        if value & FIXNUM != 0 {
            let number = value.cast_signed() >> 1;
            return Some(ScriptNode::scalar(
                "integer",
                ScriptScalar::Integer(number.to_string().into()),
            ));
        }
        if value & FLONUM_MASK == FLONUM {
            return Some(ScriptNode::scalar("float", ScriptScalar::Number(flonum(value))));
        }
        is_static_symbol(value).then(|| self.symbol(value))
    }

    fn class(&self, object: Object) -> Option<String> {
        let class = self.heap.real_class(self.heap.class_of(object)?)?;
        let name = self.heap.class_name(class);
        // A struct without a name is spelled without one.
        let is_told = object.kind() != STRUCT || self.heap.hides_name(class);
        name.or_else(|| is_told.then(|| self.heap.unnamed(class).to_owned()))
    }

    fn symbol(&self, value: u64) -> ScriptNode {
        match self.heap.symbol(value) {
            Some(name) => ScriptNode::scalar("symbol", ScriptScalar::Symbol(Some(name.into()))),
            None => note("symbol", "a symbol without a readable name"),
        }
    }

    fn of_object(&self, object: Object, depth: u32) -> ScriptNode {
        match object.kind() {
            STRING => self.string(object),
            SYMBOL => self.symbol(object.at.get()),
            FLOAT => match self.heap.word(object.at, 16) {
                Some(bits) => {
                    ScriptNode::scalar("float", ScriptScalar::Number(f64::from_bits(bits)))
                }
                None => note("float", "unreadable"),
            },
            BIGNUM => self.big(object),
            ARRAY => self.array(object, depth),
            HASH => self.hash(object, depth),
            CLASS | MODULE | ICLASS => self.named(object),
            OBJECT => {
                let exception = self.exception(object, depth);
                exception.unwrap_or_else(|| self.instance(object, depth))
            }
            STRUCT => self.structure(object, depth),
            COMPLEX | RATIONAL => self.pair(object),
            REGEXP => self.pattern(object),
            FILE => self.io(object),
            DATA => self.data(object),
            _ => note("object", "an object that only MRI itself sees"),
        }
    }

    fn array(&self, object: Object, depth: u32) -> ScriptNode {
        let Some((first, length)) = self.heap.elements(object) else {
            return note("array", "unreadable");
        };
        let Some(depth) = self.deeper(depth) else { return elided("array", length) };
        let element = |index: u64| {
            let value = self.heap.word(first, index.checked_mul(8)?)?;
            Some(ScriptPart::new(ScriptLabel::Index(index), self.node(value, depth)))
        };
        let parts = (0..length.min(self.limits.entries)).map_while(element).collect();
        of_parts("array", parts, length)
    }

    fn hash(&self, object: Object, depth: u32) -> ScriptNode {
        let Some(entries) = self.heap.hash_entries(object) else {
            return note("hash", "unreadable");
        };
        let length = entries.count;
        let Some(depth) = self.deeper(depth) else { return elided("hash", length) };
        let most = usize::try_from(self.limits.entries).unwrap_or(usize::MAX);
        let part = |(key, value)| {
            let key = Box::new(self.node(key, depth));
            ScriptPart::new(ScriptLabel::Entry(key), self.node(value, depth))
        };
        of_parts("hash", entries.take(most).map(part).collect(), length)
    }

    fn named(&self, object: Object) -> ScriptNode {
        let word = if object.kind() == MODULE { "Module" } else { "Class" };
        let name = self.heap.class_name(object.at).or_else(|| {
            let attached = self.heap.is_singleton(object).then(|| self.heap.attached(object))??;
            Some(format!("#<Class:{}>", self.heap.class_name(Addr::new(attached))?))
        });
        let name = name.map(Arc::from);
        ScriptNode::scalar("class", ScriptScalar::Function { word, name, file: None, line: None })
    }

    /// An object with those of its variables that a program sees.
    fn instance(&self, object: Object, depth: u32) -> ScriptNode {
        let Some(mut variables) = self.heap.variables(object) else {
            return note("object", "its variables are not known");
        };
        variables.retain(|(name, _)| name.starts_with('@'));
        self.named_parts("object", variables, depth)
    }

    /// What has parts with names.
    pub(super) fn named_parts(
        &self,
        kind: &'static str,
        named: Vec<(Arc<str>, u64)>,
        depth: u32,
    ) -> ScriptNode {
        let length = named.len() as u64;
        let Some(depth) = self.deeper(depth) else { return elided(kind, length) };
        let most = usize::try_from(self.limits.entries).unwrap_or(usize::MAX);
        let part =
            |(name, value)| ScriptPart::new(ScriptLabel::Name(name), self.node(value, depth));
        of_parts(kind, named.into_iter().take(most).map(part).collect(), length)
    }

    /// The depth of what lies inside, if that is told.
    pub(super) fn deeper(&self, depth: u32) -> Option<u32> {
        depth.checked_sub(1).filter(|_| self.left.get() > 0)
    }
}

pub(super) fn note(kind: &'static str, text: &'static str) -> ScriptNode {
    ScriptNode::scalar(kind, ScriptScalar::Note(text.into()))
}

pub(super) fn elided(kind: &'static str, length: u64) -> ScriptNode {
    ScriptNode { length: Some(length), ..ScriptNode::scalar(kind, ScriptScalar::Elided) }
}

pub(super) fn of_parts(kind: &'static str, parts: Vec<ScriptPart>, length: u64) -> ScriptNode {
    let is_cut = (parts.len() as u64) < length;
    let parts = Some(ScriptParts { is_list: kind == "array", parts, is_cut });
    ScriptNode { kind, parts, length: Some(length), ..ScriptNode::default() }
}
