//! Values of JavaScript as trees of script values.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    V8,
    value::{
        Contents, Element, Key, Member, Object, PromiseState, Reference, Slot, Text, Value,
        ValueKind,
    },
};
use crate::{Host, ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar, TextRest};

/// Properties that every function has.
const OF_FUNCTIONS: [&str; 5] = ["length", "name", "prototype", "arguments", "caller"];

/// Makes trees of values of one V8.
#[derive(Clone, Copy)]
pub struct Tree<'c> {
    /// The process.
    pub host: &'c dyn Host,
    /// Its V8, which names objects of its own.
    pub v8: &'c V8,
}

impl Tree<'_> {
    /// The tree of a value.
    pub fn node(&self, value: &Value) -> ScriptNode {
        let node = match &value.kind {
            ValueKind::Undefined => word("undefined", "undefined"),
            ValueKind::Null => word("null", "null"),
            ValueKind::Boolean(true) => word("boolean", "true"),
            ValueKind::Boolean(false) => word("boolean", "false"),
            ValueKind::Hole => word("hole", "hole"),
            ValueKind::Number(number) => {
                ScriptNode::scalar("number", ScriptScalar::Number(*number))
            }
            ValueKind::BigInt(digits) => {
                ScriptNode::scalar("bigint", ScriptScalar::Integer(digits.clone()))
            }
            ValueKind::String(text) => string(text),
            ValueKind::Symbol(description) => {
                ScriptNode::scalar("symbol", ScriptScalar::Symbol(description.clone()))
            }
            ValueKind::Object(object) => self.object(object),
            ValueKind::Elided(reference) => elided(reference),
            ValueKind::Circular(reference) => ScriptNode {
                class: Some(reference.class.clone()),
                ..note("circular", format!("circular: {:x}", reference.at.get() | 1))
            },
            ValueKind::Internal(_) => self.internal(value.word.unwrap_or_default()),
            ValueKind::Unreadable(why) => note("unreadable", (*why).to_owned()),
        };
        ScriptNode { at: value.word.map(Addr::new), ..node }
    }

    /// The tree of what a property is.
    pub fn slot(&self, slot: &Slot) -> ScriptNode {
        match slot {
            Slot::Value(value) => self.node(value),
            Slot::Accessor { getter, setter } => self.accessor(getter.as_ref(), setter.as_ref()),
        }
    }

    fn accessor(&self, getter: Option<&Value>, setter: Option<&Value>) -> ScriptNode {
        let word = match (getter, setter) {
            (Some(_), Some(_)) => "getter, setter",
            (None, Some(_)) => "setter",
            _ => "getter",
        };
        let parts = [("get", getter), ("set", setter)];
        let parts = parts.into_iter().filter_map(|(name, part)| Some(fact(name, self.node(part?))));
        ScriptNode { parts: Some(record(parts.collect(), false)), ..note("accessor", word.into()) }
    }

    /// What JavaScript never sees, in mdb_v8's words.
    fn internal(&self, word: u64) -> ScriptNode {
        let text = match self.v8.type_of(self.host, word) {
            Ok(found) if found.name == "Oddball" => {
                found.detail.unwrap_or_default().trim_matches('"').to_owned()
            }
            Ok(found) => format!("unknown JavaScript object type \"{}\"", found.name),
            Err(why) => why.to_owned(),
        };
        note("internal", text)
    }

    fn object(&self, object: &Object) -> ScriptNode {
        let node = self.contents(object);
        let own = object.properties.iter().filter(|member| is_shown(object, member));
        let own: Vec<ScriptPart> = own.map(|member| self.member(member)).collect();
        let elements = object.elements.iter().map(|element| self.element(element));
        let mut parts = node.parts.unwrap_or_default();
        parts.parts.extend(elements);
        parts.parts.extend(own);
        parts.is_cut |= object.has_more_elements || object.has_more_properties;
        // An array that is shorter than it says has holes, and no more elements.
        ScriptNode { class: Some(object.class.clone()), parts: Some(parts), ..node }
    }

    fn member(&self, member: &Member) -> ScriptPart {
        let label = match &member.key {
            Key::Name(name) => ScriptLabel::Name(name.clone()),
            Key::Symbol(name) => ScriptLabel::Symbol(name.clone()),
            Key::Private(name) => ScriptLabel::Private(name.clone()),
        };
        ScriptPart { label, value: self.slot(&member.slot), is_hidden: !member.is_enumerable }
    }

    fn element(&self, element: &Element) -> ScriptPart {
        ScriptPart::new(ScriptLabel::Index(element.index), self.slot(&element.slot))
    }

    /// What an object is by its kind, without its properties and elements.
    fn contents(&self, object: &Object) -> ScriptNode {
        match &object.contents {
            Contents::Plain => of_kind("object", record(Vec::new(), false)),
            Contents::Array { length } => {
                ScriptNode { length: Some(*length), ..of_kind("array", list()) }
            }
            Contents::Arguments => of_kind("arguments", list()),
            Contents::Function { name, file, line, is_class } => {
                let word = if *is_class { "class" } else { "function" };
                let (name, file, line) = (name.clone(), file.clone(), *line);
                ScriptNode::scalar("function", ScriptScalar::Function { word, name, file, line })
            }
            Contents::Bound { target, this, arguments } => self.bound(target, this, arguments),
            Contents::Date(time) => ScriptNode::scalar("date", ScriptScalar::Time(*time)),
            Contents::RegExp { source, flags } => {
                let (source, flags) = (source.clone(), flags.clone());
                ScriptNode::scalar("regexp", ScriptScalar::Pattern { source, flags })
            }
            Contents::Error { stack } => {
                let stack = stack.iter().map(|stack| fact("stack", lines(stack)));
                of_kind("error", record(stack.collect(), false))
            }
            Contents::Boxed(value) => ScriptNode { kind: "boxed", ..self.node(value) },
            Contents::Buffer { length, data } => bytes("arraybuffer", *length, *data),
            Contents::Typed { element: None, length, data } => bytes("dataview", *length, *data),
            Contents::Typed { element: Some(element), length, .. } => {
                let count = length.checked_div(element.size());
                ScriptNode { length: count, ..of_kind("typedarray", list()) }
            }
            _ => self.holder(object),
        }
    }

    /// Kinds that hold other values.
    fn holder(&self, object: &Object) -> ScriptNode {
        match &object.contents {
            Contents::Map { size, entries } => self.entries("map", *size, entries),
            Contents::Weak { is_map: true, size, entries } => {
                self.entries("weakmap", *size, entries)
            }
            Contents::Weak { is_map: false, size, entries } => {
                self.items("weakset", *size, entries.iter().map(|(key, _)| key))
            }
            Contents::Set { size, values } => self.items("set", *size, values.iter()),
            Contents::WeakRef(target) => {
                of_kind("weakref", record(vec![fact("target", self.node(target))], false))
            }
            Contents::Promise { state, result } => self.promise(*state, result.as_ref()),
            Contents::Proxy { target, handler } => {
                let facts =
                    vec![fact("target", self.node(target)), fact("handler", self.node(handler))];
                of_kind("proxy", record(facts, false))
            }
            Contents::Generator { function, state, at } => {
                let mut facts = vec![
                    fact("function", self.node(function)),
                    fact("state", ScriptNode::text(*state)),
                ];
                facts.extend(at.as_ref().map(|at| fact("at", ScriptNode::text(&**at))));
                of_kind("generator", record(facts, false))
            }
            _ => of_kind("object", record(Vec::new(), false)),
        }
    }

    fn bound(&self, target: &Value, this: &Value, arguments: &[Value]) -> ScriptNode {
        let held = arguments
            .iter()
            .zip(0..)
            .map(|(value, index)| ScriptPart::new(ScriptLabel::Index(index), self.node(value)));
        let parts = ScriptParts { is_list: true, parts: held.collect(), is_cut: false };
        let facts = vec![
            fact("target", self.node(target)),
            fact("this", self.node(this)),
            fact(
                "arguments",
                ScriptNode {
                    class: Some("Array".into()),
                    length: Some(arguments.len() as u64),
                    ..of_kind("array", parts)
                },
            ),
        ];
        ScriptNode {
            parts: Some(record(facts, false)),
            ..note("function", "bound function".to_owned())
        }
    }

    fn promise(&self, state: PromiseState, result: Option<&Value>) -> ScriptNode {
        let mut facts = vec![fact("state", ScriptNode::text(state.as_str()))];
        facts.extend(result.map(|result| fact("result", self.node(result))));
        of_kind("promise", record(facts, false))
    }

    fn entries(&self, kind: &'static str, size: u64, entries: &[(Value, Value)]) -> ScriptNode {
        let parts = entries.iter().map(|(key, value)| {
            ScriptPart::new(ScriptLabel::Entry(Box::new(self.node(key))), self.node(value))
        });
        let is_cut = (entries.len() as u64) < size;
        ScriptNode { length: Some(size), ..of_kind(kind, record(parts.collect(), is_cut)) }
    }

    fn items<'v>(
        &self,
        kind: &'static str,
        size: u64,
        values: impl Iterator<Item = &'v Value>,
    ) -> ScriptNode {
        let parts: Vec<_> =
            values.map(|value| ScriptPart::new(ScriptLabel::Item, self.node(value))).collect();
        let is_cut = (parts.len() as u64) < size;
        ScriptNode { length: Some(size), ..of_kind(kind, record(parts, is_cut)) }
    }
}

/// Whether a property is worth showing: functions have some that say nothing, errors a `stack` that is
/// computed, and classes mark their objects.
fn is_shown(object: &Object, member: &Member) -> bool {
    let Key::Name(name) = &member.key else {
        return !matches!(&member.key, Key::Private(name) if !name.starts_with('#'));
    };
    let is_function = matches!(object.contents, Contents::Function { .. } | Contents::Bound { .. });
    let is_error = matches!(object.contents, Contents::Error { .. });
    let is_computed = matches!(member.slot, Slot::Accessor { .. });
    let says_nothing = is_function && !member.is_enumerable && OF_FUNCTIONS.contains(&&**name);
    !(says_nothing || is_error && is_computed && **name == *"stack")
}

fn word(kind: &'static str, word: &'static str) -> ScriptNode {
    ScriptNode::scalar(kind, ScriptScalar::Word(word))
}

fn note(kind: &'static str, text: String) -> ScriptNode {
    ScriptNode::scalar(kind, ScriptScalar::Note(text.into()))
}

fn fact(name: &'static str, value: ScriptNode) -> ScriptPart {
    ScriptPart::new(ScriptLabel::Fact(name), value)
}

const fn record(parts: Vec<ScriptPart>, is_cut: bool) -> ScriptParts {
    ScriptParts { is_list: false, parts, is_cut }
}

const fn list() -> ScriptParts {
    ScriptParts { is_list: true, parts: Vec::new(), is_cut: false }
}

fn of_kind(kind: &'static str, parts: ScriptParts) -> ScriptNode {
    ScriptNode { kind, parts: Some(parts), ..ScriptNode::default() }
}

/// Text, and why it ends where it does.
pub fn string(text: &Text) -> ScriptNode {
    let rest = match (text.is_cut, text.is_damaged) {
        (_, true) => TextRest::Unreadable,
        (true, false) => TextRest::Cut,
        (false, false) => TextRest::None,
    };
    let scalar = ScriptScalar::Text { text: text.text.clone(), rest };
    ScriptNode { length: Some(text.length), ..ScriptNode::scalar("string", scalar) }
}

fn elided(reference: &Reference) -> ScriptNode {
    let kind = if reference.is_array { "array" } else { "object" };
    let class = Some(reference.class.clone());
    ScriptNode { class, ..ScriptNode::scalar(kind, ScriptScalar::Elided) }
}

/// The lines of a text, each a text.
fn lines(text: &Arc<str>) -> ScriptNode {
    let parts = text
        .lines()
        .zip(0..)
        .map(|(line, index)| ScriptPart::new(ScriptLabel::Index(index), ScriptNode::text(line)));
    of_kind("array", ScriptParts { is_list: true, parts: parts.collect(), is_cut: false })
}

fn bytes(kind: &'static str, length: u64, data: Addr) -> ScriptNode {
    let facts = vec![
        fact("byteLength", ScriptNode::scalar("number", ScriptScalar::Number(length as f64))),
        fact("data", ScriptNode::scalar("address", ScriptScalar::Address(data))),
    ];
    ScriptNode { length: Some(length), ..of_kind(kind, record(facts, false)) }
}
