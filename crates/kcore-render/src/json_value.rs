//! Values of types as JSON: a tree in which every node has the same keys.

use kcore_mem::Addr;
use kcore_symbols::{Type, TypeKind};
use kcore_values::{
    Absent, Content, EnumValue, Field, FloatValue, Number, Pointee, Pointer, SymbolName, Text,
    Value,
};

use crate::json_cell::push_text;
use crate::value::{signed, spelled};

/// Appends the tree of a value. `name` is null where there is none.
pub(crate) fn push(json: &mut String, name: Option<&str>, value: &Value) {
    let name = name.filter(|name| !name.is_empty());
    Tree { json, is_first: true }.node(name, None, value);
}

/// A node under construction.
struct Tree<'j> {
    json: &'j mut String,
    is_first: bool,
}

impl Tree<'_> {
    fn node(mut self, name: Option<&str>, key: Option<&Value>, value: &Value) {
        self.json.push('{');
        self.optional("name", name);
        self.text("type", &value.ty.spelled());
        self.raw("address", &value.at.map_or_else(null, address));
        self.bits(value);
        self.text("kind", kind(value));
        self.raw("value", &number_or_text(value));
        self.optional("symbol", symbol(value).as_deref());
        self.optional("text", text(value).as_deref());
        self.optional("dynamic_type", dynamic_type(value).as_deref());
        self.optional("absent", absent(&value.content));
        self.key("key");
        match key {
            Some(key) => self.inner().node(None, None, key),
            None => self.json.push_str("null"),
        }
        self.counts(value);
        self.children(value);
        self.raw("total", &total(&value.content).map_or_else(null, |total| total.to_string()));
        self.raw("cut", if is_cut(&value.content) { "true" } else { "false" });
        self.json.push('}');
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

    fn raw(&mut self, key: &str, value: &str) {
        self.key(key);
        self.json.push_str(value);
    }

    fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        push_text(self.json, text);
    }

    fn optional(&mut self, key: &str, text: Option<&str>) {
        match text {
            Some(text) => self.text(key, text),
            None => self.raw(key, "null"),
        }
    }

    fn bits(&mut self, value: &Value) {
        let bits = value.bits.map_or_else(null, |bits| {
            format!("{{\"offset\":{},\"size\":{}}}", bits.offset, bits.size)
        });
        self.raw("bits", &bits);
    }

    fn counts(&mut self, value: &Value) {
        self.key("counts");
        let counts = match &value.content {
            Content::Pointer(pointer) if !pointer.counts.is_empty() => &pointer.counts,
            _ => return self.json.push_str("null"),
        };
        self.json.push('{');
        let mut inner = self.inner();
        for (name, count) in counts {
            inner.raw(name, &count.to_string());
        }
        self.json.push('}');
    }

    fn children(&mut self, value: &Value) {
        self.key("children");
        self.json.push('[');
        let mut list = List { json: self.json, is_first: true };
        match &value.content {
            Content::Fields(fields) => list.fields(fields),
            Content::Variant(variant) => list.fields(&variant.fields),
            Content::Elements(elements) => {
                elements.values.iter().for_each(|value| list.child(None, None, value));
            }
            Content::Entries { entries, .. } => {
                entries.iter().for_each(|entry| list.child(None, Some(&entry.key), &entry.value));
            }
            Content::Pointer(Pointer { pointee: Some(Pointee::Value(value)), .. }) => {
                list.child(None, None, value);
            }
            _ => {}
        }
        self.json.push(']');
    }
}

/// Children under construction.
struct List<'j> {
    json: &'j mut String,
    is_first: bool,
}

impl List<'_> {
    fn fields(&mut self, fields: &[Field]) {
        fields.iter().for_each(|field| self.child(field.name.as_deref(), None, &field.value));
    }

    fn child(&mut self, name: Option<&str>, key: Option<&Value>, value: &Value) {
        if !std::mem::replace(&mut self.is_first, false) {
            self.json.push(',');
        }
        Tree { json: self.json, is_first: true }.node(name, key, value);
    }
}

fn null() -> String {
    "null".to_owned()
}

fn address(at: Addr) -> String {
    format!("\"{:#x}\"", at.get())
}

/// What kind of value it is; for one that is not there, what its type would make it.
fn kind(value: &Value) -> &'static str {
    match &value.content {
        Content::Absent(_) | Content::Elided => kind_of_type(&value.ty),
        Content::Integer(_) => "integer",
        Content::Character(_) => "character",
        Content::Bool(_) => "bool",
        Content::Float(_) => "float",
        Content::Complex(..) => "complex",
        Content::Enum(_) => "enum",
        Content::Pointer(_) => "pointer",
        Content::Function(_) => "function",
        Content::Text(_) => "text",
        Content::Fields(_) => "struct",
        Content::Elements(_) => "array",
        Content::Entries { .. } => "map",
        Content::Variant(_) => "variant",
        Content::Empty => "empty",
        Content::Other(_) => "other",
    }
}

fn kind_of_type(ty: &Type) -> &'static str {
    use kcore_symbols::Encoding;
    let Ok(ty) = ty.stripped() else { return "other" };
    match ty.kind() {
        TypeKind::Base(base) => match base.encoding {
            Encoding::Signed | Encoding::Unsigned | Encoding::UnsignedChar => "integer",
            Encoding::SignedChar | Encoding::Unicode => "character",
            Encoding::Bool => "bool",
            Encoding::Float => "float",
            Encoding::ComplexFloat => "complex",
            Encoding::Other(_) => "other",
        },
        TypeKind::Pointer(_) => "pointer",
        TypeKind::Composite(_) => "struct",
        TypeKind::Enumeration(_) => "enum",
        TypeKind::Array(_) => "array",
        TypeKind::Function(_) => "function",
        _ => "other",
    }
}

fn number_or_text(value: &Value) -> String {
    match &value.content {
        Content::Integer(number) | Content::Enum(EnumValue { number, .. }) => integer(number),
        Content::Character(code) => code.to_string(),
        Content::Bool(number) => match number.bits {
            0 => "false".to_owned(),
            1 => "true".to_owned(),
            _ => integer(number),
        },
        Content::Float(number) => float(*number),
        Content::Complex(real, imaginary) => format!("[{},{}]", float(*real), float(*imaginary)),
        Content::Pointer(pointer) => pointer.to.map_or_else(null, address),
        Content::Function(_) => value.at.map_or_else(null, address),
        Content::Text(text) => quoted(&text.text),
        Content::Other(words) => quoted(words),
        _ => null(),
    }
}

/// A number; beyond 64 bits its decimal digits as text.
fn integer(number: &Number) -> String {
    match signed(number) {
        value if value < 0 && number.signed => match i64::try_from(value) {
            Ok(value) => value.to_string(),
            Err(_) => format!("\"{value}\""),
        },
        _ => match u64::try_from(number.bits) {
            Ok(value) => value.to_string(),
            Err(_) => format!("\"{}\"", number.bits),
        },
    }
}

/// JSON has no word for what is not finite.
fn float(number: FloatValue) -> String {
    match number.value {
        value if value.is_finite() => {
            serde_json::Number::from_f64(value).map_or_else(null, |number| number.to_string())
        }
        value if value.is_nan() => "\"nan\"".to_owned(),
        value if value < 0.0 => "\"-inf\"".to_owned(),
        _ => "\"inf\"".to_owned(),
    }
}

fn quoted(text: &str) -> String {
    let mut json = String::new();
    push_text(&mut json, text);
    json
}

/// The name of a number, of what lies at an address, of a variant.
fn symbol(value: &Value) -> Option<String> {
    let name = |symbol: &Option<SymbolName>| {
        symbol.as_ref().map(|symbol| spelled(symbol, Addr::default(), 16))
    };
    match &value.content {
        Content::Enum(number) => number.decoded(),
        Content::Pointer(pointer) => name(&pointer.symbol),
        Content::Function(symbol) => name(symbol),
        Content::Variant(variant) => Some(variant.name.to_string()),
        _ => None,
    }
}

/// The characters behind a pointer; a character as text.
fn text(value: &Value) -> Option<String> {
    match &value.content {
        Content::Pointer(Pointer { text: Some(Text { text, .. }), .. }) => Some(text.to_string()),
        Content::Character(code) => char::from_u32(*code).map(String::from),
        _ => None,
    }
}

fn dynamic_type(value: &Value) -> Option<String> {
    match &value.content {
        Content::Pointer(pointer) => pointer.dynamic.as_ref().map(Type::spelled),
        _ => None,
    }
}

fn absent(content: &Content) -> Option<&'static str> {
    match content {
        Content::Absent(why) => Some(Absent::as_str(why)),
        Content::Elided => Some("elided"),
        _ => None,
    }
}

fn total(content: &Content) -> Option<u64> {
    match content {
        Content::Elements(elements) => elements.total,
        Content::Entries { total, .. } => *total,
        _ => None,
    }
}

/// Whether more of a text or of a list follows than there is here.
fn is_cut(content: &Content) -> bool {
    match content {
        Content::Text(text) => text.is_cut,
        Content::Pointer(pointer) => pointer.text.as_ref().is_some_and(|text| text.is_cut),
        Content::Elements(elements) => elements.total != Some(elements.values.len() as u64),
        Content::Entries { entries, total } => *total != Some(entries.len() as u64),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use kcore_symbols::Keyword;
    use kcore_values::{Content, Entry, Pointee};

    use super::*;
    use crate::value::made::{self, *};

    fn tree(value: &Value) -> serde_json::Value {
        let mut json = String::new();
        push(&mut json, Some("x"), value);
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn every_key_is_always_there() {
        let expected = serde_json::json!({
            "name": "x", "type": "int", "address": "0x10", "bits": null, "kind": "integer",
            "value": -7, "symbol": null, "text": null, "dynamic_type": null, "absent": null,
            "key": null, "counts": null, "children": [], "total": null, "cut": false,
        });
        assert_eq!(tree(&int(0x10, -7)), expected);
    }

    #[test]
    fn numbers_beyond_64_bits_are_their_digits() {
        let wide = |of, signed| {
            let content = Content::Integer(number(of, 128, signed));
            tree(&value(int_type(), 0, content))["value"].clone()
        };
        assert_eq!(wide(-1, false), "340282366920938463463374607431768211455");
        assert_eq!(wide(i128::MIN, true), "-170141183460469231731687303715884105728");
        assert_eq!(wide(i128::from(u64::MAX), true), u64::MAX);
        assert_eq!(wide(-1, true), -1);
    }

    #[test]
    fn what_is_not_finite_is_a_word() {
        assert_eq!(tree(&made::float(0, 0.5))["value"], 0.5);
        assert_eq!(tree(&made::float(0, f64::NAN))["value"], "nan");
        assert_eq!(tree(&made::float(0, f64::NEG_INFINITY))["value"], "-inf");
    }

    #[test]
    fn structures_and_arrays_have_children() {
        let tree = tree(&node());
        let child = |name: &str| {
            let mut children = tree["children"].as_array().unwrap().iter();
            children.find(|child| child["name"] == name).unwrap().clone()
        };
        assert_eq!((&tree["kind"], &tree["type"]), (&"struct".into(), &"struct node".into()));
        assert_eq!(child("n_mode")["symbol"], "READ|WRITE");
        assert_eq!(child("n_name")["text"], "first");
        assert_eq!(child("n_name")["value"], "0x4008d8");
        assert_eq!(
            (&child("n_tag")["kind"], &child("n_tag")["value"]),
            (&"text".into(), &"leaf".into())
        );
        assert_eq!(child("n_vals")["total"], 4);
        assert_eq!(child("n_pts")["children"][1]["children"][0]["value"], 3);
    }

    #[test]
    fn children_of_a_map_have_keys_and_cut_ones_a_total() {
        let entries = vec![Entry { key: int(0, 1), value: int(4, 2) }];
        let map = composite(Keyword::Class, "map");
        let tree = tree(&value(map, 0, Content::Entries { entries, total: Some(3) }));
        assert_eq!((&tree["kind"], &tree["total"]), (&"map".into(), &3.into()));
        assert_eq!(tree["cut"], true);
        let child = &tree["children"][0];
        assert_eq!((&child["key"]["value"], &child["value"]), (&1.into(), &2.into()));
    }

    #[test]
    fn absent_parts_keep_the_kind_of_their_type() {
        let gone = tree(&value(int_type(), 0, Content::Absent(Absent::OptimizedOut)));
        assert_eq!((&gone["kind"], &gone["absent"]), (&"integer".into(), &"optimized_out".into()));
        let elided = tree(&value(composite(Keyword::Struct, "s"), 0, Content::Elided));
        assert_eq!((&elided["kind"], &elided["absent"]), (&"struct".into(), &"elided".into()));
    }

    #[test]
    fn pointers_have_what_they_own_as_a_child() {
        let Content::Pointer(pointer) = pointer_to(&int_type(), 0, 0x5555).content else {
            panic!()
        };
        let pointee = Some(Pointee::Value(Box::new(int(0x5555, 1))));
        let counts = vec![("strong", 2)];
        let owner = Content::Pointer(Pointer { pointee, counts, ..pointer });
        let tree = tree(&value(composite(Keyword::Class, "Rc"), 0, owner));
        assert_eq!((&tree["value"], &tree["children"][0]["value"]), (&"0x5555".into(), &1.into()));
        assert_eq!(tree["counts"], serde_json::json!({ "strong": 2 }));
    }

    #[test]
    fn characters_are_codes_and_bits_say_where_they_are() {
        let letter = tree(&value(char_type(), 0, Content::Character(0x47)));
        assert_eq!((&letter["value"], &letter["text"]), (&0x47.into(), &"G".into()));
        let bits = tree(&bit_field(0x10, 3, 5, -7, true));
        assert_eq!(bits["bits"], serde_json::json!({ "offset": 3, "size": 5 }));
    }
}
