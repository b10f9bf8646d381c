//! Values of Python as trees of script values.

use std::sync::Arc;

use super::{
    text::Text,
    value::{Items, Value, ValueKind},
};
use crate::{ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar, TextRest};

/// The tree of a value.
pub fn node(value: &Value) -> ScriptNode {
    ScriptNode { at: value.at, class: value.class.clone(), ..of_kind(value) }
}

fn of_kind(value: &Value) -> ScriptNode {
    match &value.kind {
        ValueKind::Word(word) => ScriptNode::scalar(kind_of_word(word), ScriptScalar::Word(word)),
        ValueKind::Int(digits) => ScriptNode::scalar("int", ScriptScalar::Integer(digits.clone())),
        ValueKind::Float(number) => ScriptNode::scalar("float", ScriptScalar::Number(*number)),
        ValueKind::Complex(real, imaginary) => complex(*real, *imaginary),
        ValueKind::Str(text) => string(text),
        ValueKind::Bytes { bytes, length } => self::bytes(bytes, *length),
        ValueKind::Items { of, items, length } => self::items(*of, items, *length),
        ValueKind::Dict { entries, length } => dict(entries, *length),
        ValueKind::Function { name, file, line } => {
            let scalar = ScriptScalar::Function {
                word: if value.class.as_deref() == Some("code") { "code" } else { "function" },
                name: name.clone(),
                file: file.clone(),
                line: *line,
            };
            ScriptNode::scalar("function", scalar)
        }
        ValueKind::Type(name) => entity("type", "class", Some(name.clone())),
        ValueKind::Module(name) => entity("module", "module", name.clone()),
        ValueKind::Object { arguments, attributes, has_more } => {
            object(arguments.as_deref(), attributes, *has_more)
        }
        ValueKind::With { value, attributes, has_more } => {
            with(of_kind(value), attributes, *has_more)
        }
        ValueKind::Opaque { type_name, attributes, has_more } => {
            with(opaque(type_name, value), attributes, *has_more)
        }
        ValueKind::Elided => ScriptNode::scalar(elided(value), ScriptScalar::Elided),
        ValueKind::Circular => {
            ScriptNode::scalar("circular", ScriptScalar::Note("circular".into()))
        }
        ValueKind::Unreadable(why) => ScriptNode::scalar(
            "unreadable",
            ScriptScalar::Note(format!("unreadable: {why}").into()),
        ),
    }
}

fn kind_of_word(word: &str) -> &'static str {
    match word {
        "True" | "False" => "bool",
        "None" => "none",
        _ => "constant",
    }
}

/// What the kind is of a value that is not told.
fn elided(value: &Value) -> &'static str {
    let kinds = ["list", "tuple", "dict", "set", "frozenset"];
    let class = value.class.as_deref().unwrap_or_default();
    kinds.into_iter().find(|kind| *kind == class).unwrap_or("object")
}

fn entity(kind: &'static str, word: &'static str, name: Option<Arc<str>>) -> ScriptNode {
    ScriptNode::scalar(kind, ScriptScalar::Function { word, name, file: None, line: None })
}

fn complex(real: f64, imaginary: f64) -> ScriptNode {
    let part = |name: &str, number| {
        let value = ScriptNode::scalar("float", ScriptScalar::Number(number));
        ScriptPart::new(ScriptLabel::Name(name.into()), value)
    };
    of_parts("complex", vec![part("real", real), part("imag", imaginary)], false, None)
}

fn string(text: &Text) -> ScriptNode {
    let rest = match (text.is_whole, text.is_complete()) {
        (false, _) => TextRest::Unreadable,
        (true, false) => TextRest::Cut,
        (true, true) => TextRest::None,
    };
    let scalar = match text.lone.is_empty() {
        true => ScriptScalar::Text { text: text.text.as_str().into(), rest },
        false => ScriptScalar::Points { points: points(text), rest },
    };
    ScriptNode { length: Some(text.length), ..ScriptNode::scalar("str", scalar) }
}

/// The code points of a text that has lone surrogates.
fn points(text: &Text) -> Arc<[u32]> {
    let mut points: Vec<u32> = text.text.chars().map(u32::from).collect();
    for (place, surrogate) in &text.lone {
        if let Some(point) = points.get_mut(*place) {
            *point = u32::from(*surrogate);
        }
    }
    points.into()
}

/// Bytes as `repr` has them, without their quotes.
fn bytes(bytes: &[u8], length: u64) -> ScriptNode {
    let text: String = bytes.iter().map(|byte| escaped(*byte)).collect();
    let rest = if (bytes.len() as u64) < length { TextRest::Cut } else { TextRest::None };
    let scalar = ScriptScalar::Text { text: text.into(), rest };
    ScriptNode { length: Some(length), ..ScriptNode::scalar("bytes", scalar) }
}

fn escaped(byte: u8) -> String {
    match byte {
        b'\\' => "\\\\".to_owned(),
        b'\n' => "\\n".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\t' => "\\t".to_owned(),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    }
}

fn items(of: Items, items: &[Value], length: u64) -> ScriptNode {
    let kind = match of {
        Items::List => "list",
        Items::Tuple => "tuple",
        Items::Set => "set",
        Items::FrozenSet => "frozenset",
    };
    let is_ordered = matches!(of, Items::List | Items::Tuple);
    let parts = items.iter().zip(0..).map(|(item, index)| {
        let label = if is_ordered { ScriptLabel::Index(index) } else { ScriptLabel::Item };
        ScriptPart::new(label, node(item))
    });
    of_parts(kind, parts.collect(), (items.len() as u64) < length, Some(length))
}

fn dict(entries: &[(Value, Value)], length: u64) -> ScriptNode {
    let parts = entries
        .iter()
        .map(|(key, value)| ScriptPart::new(ScriptLabel::Entry(Box::new(node(key))), node(value)));
    of_parts("dict", parts.collect(), (entries.len() as u64) < length, Some(length))
}

fn object(
    arguments: Option<&Value>,
    attributes: &[(Arc<str>, Value)],
    has_more: bool,
) -> ScriptNode {
    let arguments = arguments.map(|arguments| match &arguments.kind {
        ValueKind::Items { items, .. } => items.as_slice(),
        _ => std::slice::from_ref(arguments),
    });
    let arguments = arguments.unwrap_or_default().iter().zip(0..);
    let arguments =
        arguments.map(|(value, index)| ScriptPart::new(ScriptLabel::Index(index), node(value)));
    of_parts("object", arguments.chain(named(attributes)).collect(), has_more, None)
}

/// A value with attributes beside it.
fn with(node: ScriptNode, attributes: &[(Arc<str>, Value)], has_more: bool) -> ScriptNode {
    if attributes.is_empty() && !has_more {
        return node;
    }
    let mut parts = node.parts.clone().unwrap_or_default();
    parts.parts.extend(named(attributes));
    parts.is_cut |= has_more;
    ScriptNode { parts: Some(parts), ..node }
}

/// What `object.__repr__` has, in `Objects/typeobject.c`: nothing of what is in it is known. An object of a class that is
/// derived from the type has parts, if no others then none, so that its class is named.
fn opaque(type_name: &str, value: &Value) -> ScriptNode {
    let at = value.at.map(|at| format!(" at {:#x}", at.get())).unwrap_or_default();
    let note = ScriptScalar::Note(format!("{type_name} object{at}").into());
    let name = type_name.rsplit('.').next().unwrap_or(type_name);
    let is_derived = value.class.as_deref().is_some_and(|class| class != name);
    let parts = is_derived.then(ScriptParts::default);
    ScriptNode { parts, ..ScriptNode::scalar("object", note) }
}

fn named(attributes: &[(Arc<str>, Value)]) -> impl Iterator<Item = ScriptPart> {
    let part = |(name, value): &(Arc<str>, Value)| {
        ScriptPart::new(ScriptLabel::Name(name.clone()), node(value))
    };
    attributes.iter().map(part)
}

fn of_parts(
    kind: &'static str,
    parts: Vec<ScriptPart>,
    is_cut: bool,
    length: Option<u64>,
) -> ScriptNode {
    let is_list = matches!(kind, "list" | "tuple" | "set" | "frozenset");
    let parts = Some(ScriptParts { is_list, parts, is_cut });
    ScriptNode { kind, parts, length, ..ScriptNode::default() }
}
