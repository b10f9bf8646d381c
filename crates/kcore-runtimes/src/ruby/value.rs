//! Values of Ruby as trees: `object.c` (`rb_inspect`), `include/ruby/internal/{special_consts,fixnum}.h`, `numeric.c`.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Ruby,
    heap::{
        ARRAY, BIGNUM, CLASS, COMPLEX, FILE, FLOAT, HASH, Heap, ICLASS, MODULE, OBJECT, Object,
        RATIONAL, REGEXP, STRING, STRUCT, SYMBOL,
    },
    text::is_static_symbol,
};
use crate::{
    Host, ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar, TextRest, VariableLimits,
};

/// `Qtrue`.
const TRUE: u64 = 0x14;
/// `true` before 3.2.
const FIXNUM: u64 = 1;
const FLONUM_MASK: u64 = 3;
const FLONUM: u64 = 2;
/// The flonum of 0.0.
const ZERO: u64 = 0x8000_0000_0000_0002;
/// Digits of an integer that are told, at most: `BDIGIT` of `internal/bignum.h` has 32 bits.
const MAX_DIGITS: u64 = 128;
const DIGIT: u64 = 4;
/// Flags of a big integer: it is positive; its digits lie in it.
const POSITIVE: u32 = 1;
const EMBEDDED: u32 = 2;

impl Ruby {
    /// What a value is.
    pub fn value(&self, host: &dyn Host, value: u64, limits: VariableLimits) -> ScriptNode {
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
struct Teller<'a> {
    heap: &'a Heap<'a>,
    limits: VariableLimits,
    /// Nodes that may still be told: depth and length alone would allow too many.
    left: std::cell::Cell<u64>,
}

impl Teller<'_> {
    fn node(&self, value: u64, depth: u32) -> ScriptNode {
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
        self.heap.class_name(class)
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
            OBJECT => self.instance(object, depth),
            kind => note("object", word_of(kind)),
        }
    }

    fn string(&self, object: Object) -> ScriptNode {
        let Some(bytes) = self.heap.bytes_of(object) else { return note("string", "unreadable") };
        let wanted = bytes.length.min(self.limits.characters.saturating_mul(4));
        let held = self.heap.space.read_held(bytes.at, wanted);
        let is_whole = held.len() as u64 == wanted;
        let text = String::from_utf8_lossy(&held);
        let most = usize::try_from(self.limits.characters).unwrap_or(usize::MAX);
        let shown: String = text.chars().take(most).collect();
        let rest = match (is_whole, wanted < bytes.length || shown.len() < text.len()) {
            (false, _) => TextRest::Unreadable,
            (true, true) => TextRest::Cut,
            (true, false) => TextRest::None,
        };
        let scalar = ScriptScalar::Text { text: shown.into(), rest };
        ScriptNode { length: Some(bytes.length), ..ScriptNode::scalar("string", scalar) }
    }

    fn big(&self, object: Object) -> ScriptNode {
        let digits = || {
            let (at, count) = match object.has(EMBEDDED) {
                true => (object.at.checked_add(16)?, object.flags >> 15 & 7),
                false => {
                    (Addr::new(self.heap.word(object.at, 24)?), self.heap.word(object.at, 16)?)
                }
            };
            (count <= MAX_DIGITS).then_some(())?;
            let digits = (0..count).map(|index| self.heap.uint(at, index.checked_mul(DIGIT)?, 4));
            Some(decimal(digits.collect::<Option<Vec<u64>>>()?))
        };
        match digits() {
            Some(text) => {
                let sign = if object.has(POSITIVE) { "" } else { "-" };
                ScriptNode::scalar("integer", ScriptScalar::Integer(format!("{sign}{text}").into()))
            }
            None => note("integer", "a big integer"),
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
        let word = if object.kind() == MODULE { "module" } else { "class" };
        let name = self.heap.class_name(object.at).map(Arc::from);
        ScriptNode::scalar("class", ScriptScalar::Function { word, name, file: None, line: None })
    }

    /// An object with its variables, or an exception with its message before them.
    fn instance(&self, object: Object, depth: u32) -> ScriptNode {
        let Some(variables) = self.heap.variables(object) else {
            return note("object", "its variables are not known");
        };
        let Some(depth) = self.deeper(depth) else {
            return elided("object", variables.len() as u64);
        };
        let length = variables.len() as u64;
        let most = usize::try_from(self.limits.entries).unwrap_or(usize::MAX);
        let part =
            |(name, value)| ScriptPart::new(ScriptLabel::Name(name), self.node(value, depth));
        let parts = variables.into_iter().take(most).map(part).collect();
        of_parts("object", parts, length)
    }

    /// The depth of what lies inside, if that is told.
    fn deeper(&self, depth: u32) -> Option<u32> {
        depth.checked_sub(1).filter(|_| self.left.get() > 0)
    }
}

fn note(kind: &'static str, text: &'static str) -> ScriptNode {
    ScriptNode::scalar(kind, ScriptScalar::Note(text.into()))
}

fn elided(kind: &'static str, length: u64) -> ScriptNode {
    ScriptNode { length: Some(length), ..ScriptNode::scalar(kind, ScriptScalar::Elided) }
}

fn of_parts(kind: &'static str, parts: Vec<ScriptPart>, length: u64) -> ScriptNode {
    let is_cut = (parts.len() as u64) < length;
    let parts = Some(ScriptParts { is_list: kind == "array", parts, is_cut });
    ScriptNode { kind, parts, length: Some(length), ..ScriptNode::default() }
}

fn word_of(kind: u64) -> &'static str {
    match kind {
        STRUCT => "a struct",
        REGEXP => "a regular expression",
        FILE => "an IO",
        COMPLEX => "a complex number",
        RATIONAL => "a rational number",
        _ => "an object of C code",
    }
}

/// A float that its word holds: `rb_float_flonum_value`.
fn flonum(value: u64) -> f64 {
    if value == ZERO {
        return 0.0;
    }
    let high = value >> 63;
    let bits = (2_u64.wrapping_sub(high)) | (value & !3);
    f64::from_bits(bits.rotate_right(3))
}

/// Digits of 32 bits, the lowest first, in decimal.
fn decimal(mut digits: Vec<u64>) -> String {
    const PART: u64 = 1_000_000_000;
    let mut parts: Vec<u64> = Vec::new();
    while digits.iter().any(|digit| *digit != 0) {
        let mut rest = 0_u64;
        for digit in digits.iter_mut().rev() {
            let whole = rest << 32 | *digit;
            *digit = whole.checked_div(PART).unwrap_or_default();
            rest = whole.checked_rem(PART).unwrap_or_default();
        }
        parts.push(rest);
    }
    let Some(first) = parts.pop() else { return "0".to_owned() };
    let rest = parts.iter().rev().map(|part| format!("{part:09}"));
    std::iter::once(first.to_string()).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_in_a_word_are_what_ruby_made_of_them() {
        // `rb_float_new_inline` of include/ruby/internal/... : the bits turned by three, with the tag.
        let made = |number: f64| number.to_bits().rotate_left(3) & !3 | FLONUM;
        for number in [1.0, -1.0, 0.1, 3.25, 1e10, -2.5e-10, 1e70] {
            assert_eq!(flonum(made(number)), number);
        }
        assert_eq!(flonum(ZERO), 0.0);
    }

    #[test]
    fn big_integers_are_spelled_in_decimal() {
        assert_eq!(decimal(vec![0, 0, 1]), "18446744073709551616");
        assert_eq!(decimal(vec![0, 0, 0, 0, 1]), "340282366920938463463374607431768211456");
        assert_eq!(
            (decimal(vec![]), decimal(vec![1_000_000_000])),
            ("0".into(), "1000000000".into())
        );
    }
}
