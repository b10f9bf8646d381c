//! Values of PHP as trees: `zend_types.h`.

use std::cell::Cell;

use kcore_mem::Addr;

use super::{
    array::{Elements, Key},
    memory::{ARRAY, Memory, OBJECT, REFERENCE, STRING, UNDEFINED, Value},
};
use crate::{
    ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar, TextRest, VariableLimits,
    script_text::{self, rest_of},
};

const NULL: u8 = 1;
const FALSE: u8 = 2;
const TRUE: u8 = 3;
const INTEGER: u8 = 4;
const FLOAT: u8 = 5;
const RESOURCE: u8 = 9;
/// `handle` of `zend_resource` is what a program sees of it.
const HANDLE: u64 = 8;
/// The class of functions without a name, and where the function lies in them.
const CLOSURE: &str = "Closure";
const CLOSURE_FUNCTION: u64 = 56;
const INTERNAL: u8 = 1;

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
        match value.kind {
            NULL => word("null", "null"),
            FALSE => word("bool", "false"),
            TRUE => word("bool", "true"),
            INTEGER => {
                let digits = value.word.cast_signed().to_string();
                ScriptNode::scalar("int", ScriptScalar::Integer(digits.into()))
            }
            FLOAT => ScriptNode::scalar("float", ScriptScalar::Number(f64::from_bits(value.word))),
            STRING => ScriptNode { at: Some(at), ..self.string(at) },
            ARRAY => ScriptNode { at: Some(at), ..self.array(at, depth) },
            OBJECT => ScriptNode { at: Some(at), ..self.object(at, depth) },
            RESOURCE => match self.memory.word(at, HANDLE) {
                Some(handle) => note("resource", format!("resource {}", handle & 0xffff_ffff)),
                None => note("resource", "unreadable".to_owned()),
            },
            UNDEFINED => note("undefined", "undefined".to_owned()),
            REFERENCE => note("reference", "reference".to_owned()),
            _ => note("unreadable", "no value".to_owned()),
        }
    }

    fn string(&self, at: Addr) -> ScriptNode {
        let Some((bytes, length)) = self.memory.text_bytes(at) else {
            return note("string", "unreadable".to_owned());
        };
        let wanted = length.min(self.limits.characters);
        let held = self.memory.space.read_held(bytes, wanted);
        let rest = rest_of(held.len() as u64, wanted, length);
        let (kind, text) = text(&held, rest);
        let scalar = ScriptScalar::Text { text: text.into(), rest };
        ScriptNode { length: Some(length), ..ScriptNode::scalar(kind, scalar) }
    }

    /// An array: elements from 0 on in order without their keys, as a program would write it.
    fn array(&self, at: Addr, depth: u32) -> ScriptNode {
        let Some(elements) = Elements::of(self.memory, at) else {
            return note("array", "unreadable".to_owned());
        };
        let length = Some(elements.count);
        let Some(depth) = depth.checked_sub(1).filter(|_| self.left.get() > 0) else {
            return ScriptNode { length, ..ScriptNode::scalar("array", ScriptScalar::Elided) };
        };
        let most = usize::try_from(self.limits.entries).unwrap_or(usize::MAX);
        let mut expected = 0_i64;
        let mut parts = Vec::new();
        for (key, value, _) in elements.take(most) {
            let label = match key {
                Key::Index(index) if index == expected => ScriptLabel::Item,
                key => ScriptLabel::Entry(Box::new(self.key(&key))),
            };
            if label == ScriptLabel::Item {
                expected = expected.saturating_add(1);
            }
            parts.push(ScriptPart::new(label, self.node(value, depth)));
        }
        let is_cut = length.is_some_and(|length| parts.len() as u64 != length);
        let parts = Some(ScriptParts { is_list: false, parts, is_cut });
        ScriptNode { kind: "array", length, parts, ..ScriptNode::default() }
    }

    fn key(&self, key: &Key) -> ScriptNode {
        match key {
            Key::Index(index) => {
                ScriptNode::scalar("int", ScriptScalar::Integer(index.to_string().into()))
            }
            Key::Name(name) => self.string(*name),
        }
    }

    fn object(&self, at: Addr, depth: u32) -> ScriptNode {
        let class = self.memory.class_of(at).and_then(|class| self.memory.class_name(class));
        let Some(class) = class else { return note("object", "unreadable".to_owned()) };
        if class == CLOSURE {
            return self.closure(at);
        }
        let has_more = self.memory.has_own_storage(at, &class);
        let class = Some(class.into());
        let Some(depth) = depth.checked_sub(1).filter(|_| self.left.get() > 0) else {
            return ScriptNode { class, ..ScriptNode::scalar("object", ScriptScalar::Elided) };
        };
        let most = usize::try_from(self.limits.entries).unwrap_or(usize::MAX);
        let all = self.memory.properties(at);
        let is_cut = all.len() > most;
        let part = |(name, value): (String, Value)| {
            ScriptPart::new(ScriptLabel::Name(name.into()), self.node(value, depth))
        };
        let mut parts: Vec<ScriptPart> = all.into_iter().take(most).map(part).collect();
        let storage = || note("internal", "not told: internal state".to_owned());
        parts.extend(has_more.then(|| ScriptPart::new(ScriptLabel::Item, storage())));
        let parts = Some(ScriptParts { is_list: false, parts, is_cut });
        ScriptNode { kind: "object", class, parts, ..ScriptNode::default() }
    }

    fn closure(&self, at: Addr) -> ScriptNode {
        let function = at.checked_add(CLOSURE_FUNCTION);
        let code = self.memory.layout.code;
        let own = function.filter(|at| self.memory.byte(*at, 0).is_some_and(|it| it != INTERNAL));
        let file = own.and_then(|at| self.memory.text(self.memory.pointer(at, code.file)?));
        let line = own.and_then(|at| self.memory.uint(at, code.first_line, 4));
        let line = line.and_then(|line| u32::try_from(line).ok());
        let scalar =
            ScriptScalar::Function { word: CLOSURE, name: None, file: file.map(Into::into), line };
        ScriptNode { class: Some(CLOSURE.into()), ..ScriptNode::scalar("object", scalar) }
    }
}

/// The kind of a string and its text: one that is not all UTF-8 is spelled as between double quotes of PHP.
fn text(held: &[u8], rest: TextRest) -> (&'static str, String) {
    script_text::text(held, rest, spelled)
}

fn spelled(bytes: &[u8]) -> String {
    let mut spelled = String::new();
    for chunk in bytes.utf8_chunks() {
        for sign in chunk.valid().chars() {
            match sign {
                '"' | '\\' | '$' => spelled.extend(['\\', sign]),
                '\n' => spelled.push_str("\\n"),
                '\r' => spelled.push_str("\\r"),
                '\t' => spelled.push_str("\\t"),
                sign if sign.is_ascii_control() => spelled.push_str(&escape(sign)),
                sign => spelled.push(sign),
            }
        }
        chunk.invalid().iter().for_each(|byte| spelled.push_str(&escape(*byte)));
    }
    spelled
}

fn escape(byte: impl Into<u32>) -> String {
    format!("\\x{:02x}", byte.into())
}

fn note(kind: &'static str, note: String) -> ScriptNode {
    ScriptNode::scalar(kind, ScriptScalar::Note(note.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_not_lost() {
        let whole = |held: &[u8]| text(held, TextRest::None);
        assert_eq!(whole("ü\0\"".as_bytes()), ("string", "ü\0\"".to_owned()));
        assert_eq!(whole(b"\0\x01\xff"), ("binary", "\\x00\\x01\\xff".to_owned()));
        let mixed = ("binary", "\\xc3\\\\x\\$\\nü".to_owned());
        assert_eq!(whole(b"\xc3\\x$\n\xc3\xbc"), mixed);
        assert_eq!(whole(b"a\xc3"), ("binary", "a\\xc3".to_owned()));
    }

    #[test]
    fn a_character_that_a_limit_cuts_is_left_out() {
        assert_eq!(text(b"a\xc3", TextRest::Cut), ("string", "a".to_owned()));
        assert_eq!(text(b"\xffa\xc3", TextRest::Cut).0, "binary");
    }
}
