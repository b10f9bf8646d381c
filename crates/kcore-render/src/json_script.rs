//! Values of script languages as JSON: a tree in which every node has the same keys.

use kcore_dcmd::{ScriptLabel, ScriptNode, ScriptPart, ScriptScalar, TextRest, iso_time};

use crate::json_text::{self, JsonObject, JsonText};
use crate::script::{escaped, javascript_number};

/// What is told of text that JSON has not.
const ESCAPED: &str = "escaped: it has lone surrogates";

/// Appends the tree of a value.
pub(crate) fn push(json: &mut JsonText<'_>, node: &ScriptNode) {
    push_node(json, None, node);
}

fn push_node(json: &mut JsonText<'_>, part: Option<&ScriptPart>, node: &ScriptNode) {
    json.raw("{");
    Tree { object: JsonObject::new(json) }.node(part, node);
    json.raw("}");
}

/// A node under construction.
struct Tree<'j, 'o> {
    object: JsonObject<'j, 'o>,
}

impl Tree<'_, '_> {
    fn node(&mut self, part: Option<&ScriptPart>, node: &ScriptNode) {
        self.label(part);
        let at = node.at.map(|at| json_text::hex(at.get()));
        self.object.optional_raw("address", at.as_deref());
        self.object.text("kind", node.kind);
        self.object.optional_text("class", node.class.as_deref());
        self.scalar(node.scalar.as_ref());
        let length = node.length.map(json_text::integer);
        self.object.optional_raw("length", length.as_deref());
        let rest = match &node.scalar {
            Some(ScriptScalar::Text { rest, .. } | ScriptScalar::Points { rest, .. }) => *rest,
            Some(ScriptScalar::Elided) => TextRest::Cut,
            _ => TextRest::None,
        };
        let is_cut =
            rest != TextRest::None || node.parts.as_ref().is_some_and(|parts| parts.is_cut);
        self.object.flag("cut", is_cut);
        self.object.flag("unreadable", rest == TextRest::Unreadable);
        self.children(node);
    }

    fn label(&mut self, part: Option<&ScriptPart>) {
        let label = part.map(|part| &part.label);
        self.object.optional_text("role", label.map(role));
        let name = label.and_then(|label| match label {
            ScriptLabel::Name(name) | ScriptLabel::Symbol(name) | ScriptLabel::Private(name) => {
                Some(&**name)
            }
            ScriptLabel::Fact(name) => Some(*name),
            _ => None,
        });
        self.object.optional_text("name", name);
        let index = label.and_then(|label| match label {
            ScriptLabel::Index(index) => Some(json_text::integer(*index)),
            _ => None,
        });
        self.object.optional_raw("index", index.as_deref());
        match label {
            Some(ScriptLabel::Entry(key)) => push_node(self.object.key("key"), None, key),
            _ => self.object.null("key"),
        }
        self.object.flag("hidden", part.is_some_and(|part| part.is_hidden));
    }

    fn scalar(&mut self, scalar: Option<&ScriptScalar>) {
        self.object.optional_raw("value", scalar.and_then(value).as_deref());
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
        self.object.optional_text("flags", flags);
        self.object.optional_text("file", file);
        let line = line.map(|line| line.to_string());
        self.object.optional_raw("line", line.as_deref());
        self.object.optional_text("iso", text.as_deref());
        self.object.optional_text("note", note);
    }

    fn children(&mut self, node: &ScriptNode) {
        let json = self.object.key("children");
        json.raw("[");
        let parts = node.parts.iter().flat_map(|parts| &parts.parts);
        for (index, part) in parts.enumerate() {
            json.raw(if index > 0 { "," } else { "" });
            push_node(json, Some(part), &part.value);
        }
        json.raw("]");
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
    let text = json_text::string;
    match scalar {
        ScriptScalar::Word(word) => matches!(*word, "true" | "false").then(|| (*word).to_owned()),
        ScriptScalar::Number(value) | ScriptScalar::Time(value) => Some(number(*value)),
        ScriptScalar::Integer(digits) => Some(text(digits)),
        ScriptScalar::Text { text: content, .. } => Some(text(content)),
        ScriptScalar::Points { points, .. } => Some(text(&escaped(points.iter().copied()))),
        ScriptScalar::Symbol(description) => description.as_deref().map(text),
        ScriptScalar::Function { name, .. } => name.as_deref().map(text),
        ScriptScalar::Pattern { source, .. } => Some(text(source)),
        ScriptScalar::Address(at) => Some(json_text::hex(at.get())),
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
        let mut json = JsonText::new(crate::JsonForm::Full);
        push(&mut json, node);
        serde_json::from_str(&json.into_string()).expect("it is JSON")
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
