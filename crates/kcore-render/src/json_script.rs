//! Values of script languages as JSON: a tree in which every node has the same keys.

use kcore_dcmd::{Rest, ScriptLabel, ScriptNode, ScriptPart, ScriptScalar, iso_time};

use crate::json_cell::push_text;
use crate::script::{escaped, javascript_number};

/// What is told of text that JSON has not.
const ESCAPED: &str = "escaped: it has lone surrogates";

/// Appends the tree of a value.
pub(crate) fn push(json: &mut String, node: &ScriptNode) {
    Tree { json, is_first: true }.node(None, node);
}

/// A node under construction.
struct Tree<'j> {
    json: &'j mut String,
    is_first: bool,
}

impl Tree<'_> {
    fn node(mut self, part: Option<&ScriptPart>, node: &ScriptNode) {
        self.json.push('{');
        self.label(part);
        self.optional_raw("address", node.at.map(|at| format!("\"{:#x}\"", at.get())));
        self.text("kind", node.kind);
        self.optional("class", node.class.as_deref());
        self.scalar(node.scalar.as_ref());
        self.optional_raw("length", node.length.map(|length| length.to_string()));
        let rest = match &node.scalar {
            Some(ScriptScalar::Text { rest, .. } | ScriptScalar::Points { rest, .. }) => *rest,
            Some(ScriptScalar::Elided) => Rest::Cut,
            _ => Rest::None,
        };
        let is_cut = rest != Rest::None || node.parts.as_ref().is_some_and(|parts| parts.is_cut);
        self.flag("cut", is_cut);
        self.flag("unreadable", rest == Rest::Unreadable);
        self.children(node);
        self.json.push('}');
    }

    fn label(&mut self, part: Option<&ScriptPart>) {
        let label = part.map(|part| &part.label);
        self.optional("role", label.map(role));
        let name = label.and_then(|label| match label {
            ScriptLabel::Name(name) | ScriptLabel::Symbol(name) | ScriptLabel::Private(name) => {
                Some(&**name)
            }
            ScriptLabel::Fact(name) => Some(*name),
            _ => None,
        });
        self.optional("name", name);
        let index = label.and_then(|label| match label {
            ScriptLabel::Index(index) => Some(index.to_string()),
            _ => None,
        });
        self.optional_raw("index", index);
        self.key("key");
        match label {
            Some(ScriptLabel::Entry(key)) => self.inner().node(None, key),
            _ => self.json.push_str("null"),
        }
        self.flag("hidden", part.is_some_and(|part| part.is_hidden));
    }

    fn scalar(&mut self, scalar: Option<&ScriptScalar>) {
        self.optional_raw("value", scalar.and_then(value));
        let (flags, file, line, text, note) = match scalar {
            Some(ScriptScalar::Pattern { flags, .. }) => (Some(&**flags), None, None, None, None),
            Some(ScriptScalar::Function { file, line, .. }) => {
                (None, file.as_deref(), *line, None, None)
            }
            Some(ScriptScalar::Time(time)) => (None, None, None, iso_time(*time), None),
            Some(ScriptScalar::Points { .. }) => (None, None, None, None, Some(ESCAPED)),
            Some(ScriptScalar::Note(note)) => (None, None, None, None, Some(&**note)),
            _ => (None, None, None, None, None),
        };
        self.optional("flags", flags);
        self.optional("file", file);
        self.optional_raw("line", line.map(|line| line.to_string()));
        self.optional("iso", text.as_deref());
        self.optional("note", note);
    }

    fn children(&mut self, node: &ScriptNode) {
        self.key("children");
        self.json.push('[');
        let parts = node.parts.iter().flat_map(|parts| &parts.parts);
        for (index, part) in parts.enumerate() {
            self.json.push_str(if index > 0 { "," } else { "" });
            self.inner().node(Some(part), &part.value);
        }
        self.json.push(']');
    }

    fn inner(&mut self) -> Tree<'_> {
        Tree { json: self.json, is_first: true }
    }

    fn key(&mut self, key: &str) {
        if !std::mem::replace(&mut self.is_first, false) {
            self.json.push(',');
        }
        push_text(self.json, key);
        self.json.push(':');
    }

    fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        push_text(self.json, text);
    }

    fn flag(&mut self, key: &str, value: bool) {
        self.key(key);
        self.json.push_str(if value { "true" } else { "false" });
    }

    fn optional(&mut self, key: &str, text: Option<&str>) {
        match text {
            Some(text) => self.text(key, text),
            None => self.optional_raw(key, None),
        }
    }

    fn optional_raw(&mut self, key: &str, json: Option<String>) {
        self.key(key);
        self.json.push_str(json.as_deref().unwrap_or("null"));
    }
}

const fn role(label: &ScriptLabel) -> &'static str {
    match label {
        ScriptLabel::Index(_) => "element",
        ScriptLabel::Name(_) => "property",
        ScriptLabel::Symbol(_) => "symbol",
        ScriptLabel::Private(_) => "private",
        ScriptLabel::Entry(_) => "entry",
        ScriptLabel::Item => "item",
        ScriptLabel::Fact(_) => "fact",
    }
}

/// What a scalar is in JSON; numbers that JSON does not have are text.
fn value(scalar: &ScriptScalar) -> Option<String> {
    let text = |text: &str| {
        let mut json = String::new();
        push_text(&mut json, text);
        json
    };
    match scalar {
        ScriptScalar::Word(word) => matches!(*word, "true" | "false").then(|| (*word).to_owned()),
        ScriptScalar::Number(value) | ScriptScalar::Time(value) => Some(number(*value)),
        ScriptScalar::Integer(digits) => Some(text(digits)),
        ScriptScalar::Text { text: content, .. } => Some(text(content)),
        ScriptScalar::Points { points, .. } => Some(text(&escaped(points.iter().copied()))),
        ScriptScalar::Symbol(description) => description.as_deref().map(text),
        ScriptScalar::Function { name, .. } => name.as_deref().map(text),
        ScriptScalar::Pattern { source, .. } => Some(text(source)),
        ScriptScalar::Address(at) => Some(format!("\"{:#x}\"", at.get())),
        ScriptScalar::Elided | ScriptScalar::Note(_) => None,
    }
}

fn number(value: f64) -> String {
    let written = javascript_number(value);
    let is_json = value.is_finite() && (value != 0.0 || value.is_sign_positive());
    if is_json { written } else { format!("\"{written}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(node: &ScriptNode) -> serde_json::Value {
        let mut json = String::new();
        push(&mut json, node);
        serde_json::from_str(&json).expect("it is JSON")
    }

    #[test]
    fn numbers_that_json_has_not_are_text() {
        let of = |value| json(&ScriptNode::scalar("number", ScriptScalar::Number(value)));
        assert_eq!(of(1e21)["value"], 1e21);
        assert_eq!(of(-0.5)["value"], -0.5);
        assert_eq!(of(-0.0)["value"], "-0");
        assert_eq!(of(f64::NAN)["value"], "NaN");
    }

    #[test]
    fn parts_say_what_they_are() {
        let key = ScriptLabel::Entry(Box::new(ScriptNode::text("key")));
        let parts = vec![ScriptPart::new(key, ScriptNode::text("held\u{1b}"))];
        let node = ScriptNode {
            kind: "map",
            parts: Some(kcore_dcmd::ScriptParts { is_list: false, parts, is_cut: true }),
            ..ScriptNode::default()
        };
        let json = json(&node);
        assert_eq!(json["cut"], true);
        let child = &json["children"][0];
        assert_eq!(child["role"], "entry");
        assert_eq!(child["key"]["value"], "key");
        assert_eq!(child["value"], "held\u{1b}");
    }
}
