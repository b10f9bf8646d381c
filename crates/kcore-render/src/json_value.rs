//! Values of types as JSON: a tree in which every node has the same keys.

use kcore_mem::Addr;
use kcore_symbols::{Type, TypeKind};
use kcore_values::{
    Absent, Content, EnumValue, Field, FloatValue, Number, Pointee, Pointer, SymbolName, Text,
    Value,
};

use crate::json_text::{self, JsonObject, JsonText};
use crate::value::{signed, spelled, wide_exponential};

/// Appends the tree of a value. `name` is null where there is none.
pub(crate) fn push(json: &mut JsonText<'_>, name: Option<&str>, value: &Value) {
    push_node(json, name.filter(|name| !name.is_empty()), None, value);
}

fn push_node(json: &mut JsonText<'_>, name: Option<&str>, key: Option<&Value>, value: &Value) {
    json.raw("{");
    Tree { object: JsonObject::new(json) }.node(name, key, value);
    json.raw("}");
}

/// A node under construction.
struct Tree<'j, 'o> {
    object: JsonObject<'j, 'o>,
}

impl Tree<'_, '_> {
    /// A value that means something has it as its `symbol`, and is what it is otherwise.
    fn node(&mut self, name: Option<&str>, key: Option<&Value>, value: &Value) {
        match &value.content {
            Content::Meant(meant) => {
                let plain = Value { content: meant.of.plain().clone(), ..value.clone() };
                self.keys(name, key, &plain, Some(meant.words.to_string()));
            }
            _ => self.keys(name, key, value, symbol(value)),
        }
    }

    fn keys(
        &mut self,
        name: Option<&str>,
        key: Option<&Value>,
        value: &Value,
        symbol: Option<String>,
    ) {
        self.object.optional_text("name", name);
        self.object.text("type", &value.ty.spelled());
        self.object.optional_raw("address", value.at.map(address).as_deref());
        self.bits(value);
        self.object.text("kind", kind(value));
        self.object.optional_raw("value", number_or_text(value).as_deref());
        self.object.optional_text("symbol", symbol.as_deref());
        self.object.optional_text("text", text(value).as_deref());
        self.object.optional_text("dynamic_type", dynamic_type(value).as_deref());
        self.object.optional_text("absent", absent(&value.content));
        match key {
            Some(key) => push_node(self.object.key("key"), None, None, key),
            None => self.object.null("key"),
        }
        self.counts(value);
        self.children(value);
        let total = total(&value.content).map(json_text::integer);
        self.object.optional_raw("total", total.as_deref());
        self.object.flag("cut", is_cut(&value.content));
    }

    fn bits(&mut self, value: &Value) {
        let bits =
            value.bits.map(|bits| format!("{{\"offset\":{},\"size\":{}}}", bits.offset, bits.size));
        self.object.optional_raw("bits", bits.as_deref());
    }

    fn counts(&mut self, value: &Value) {
        let counts = match &value.content {
            Content::Pointer(pointer) if !pointer.counts.is_empty() => &pointer.counts,
            _ => return self.object.null("counts"),
        };
        let json = self.object.key("counts");
        json.raw("{");
        let mut inner = JsonObject::new(json);
        for (name, count) in counts {
            inner.key(name).raw(&json_text::integer(*count));
        }
        json.raw("}");
    }

    fn children(&mut self, value: &Value) {
        let json = self.object.key("children");
        json.raw("[");
        let mut list = List { json, is_first: true };
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
        json.raw("]");
    }
}

/// Children under construction.
struct List<'j, 'o> {
    json: &'j mut JsonText<'o>,
    is_first: bool,
}

impl List<'_, '_> {
    fn fields(&mut self, fields: &[Field]) {
        fields.iter().for_each(|field| self.child(field.name.as_deref(), None, &field.value));
    }

    fn child(&mut self, name: Option<&str>, key: Option<&Value>, value: &Value) {
        if !std::mem::replace(&mut self.is_first, false) {
            self.json.raw(",");
        }
        push_node(self.json, name, key, value);
    }
}

fn address(at: Addr) -> String {
    json_text::hex(at.get())
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
        Content::Text(_) | Content::Bytes(_) => "text",
        Content::Fields(_) => "struct",
        Content::Elements(_) => "array",
        Content::Entries { .. } => "map",
        Content::Variant(_) => "variant",
        Content::Empty | Content::Meant(_) => "empty",
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

fn number_or_text(value: &Value) -> Option<String> {
    Some(match &value.content {
        Content::Integer(number) | Content::Enum(EnumValue { number, .. }) => integer(number),
        Content::Character(code) => character(*code, &value.ty).to_string(),
        Content::Bool(number) => match number.bits {
            0 => "false".to_owned(),
            1 => "true".to_owned(),
            _ => integer(number),
        },
        Content::Float(number) => float(*number),
        Content::Complex(real, imaginary) => format!("[{},{}]", float(*real), float(*imaginary)),
        Content::Pointer(pointer) => address(pointer.to?),
        Content::Function(_) => address(value.at?),
        Content::Text(text) => json_text::string(&text.text),
        Content::Bytes(bytes) => json_text::string(&String::from_utf8_lossy(bytes)),
        Content::Other(words) => json_text::string(words),
        _ => return None,
    })
}

fn integer(number: &Number) -> String {
    match signed(number) {
        value if value < 0 && number.signed => json_text::integer(value),
        _ => json_text::integer(number.bits),
    }
}

/// The code of a character with the sign that its type has.
fn character(code: u32, ty: &Type) -> i64 {
    use kcore_symbols::Encoding::{Signed, SignedChar};
    let stripped = ty.stripped().ok();
    let encoding = stripped.as_ref().and_then(|ty| match ty.kind() {
        TypeKind::Base(base) => Some(base.encoding),
        _ => None,
    });
    let is_signed = matches!(encoding, Some(Signed | SignedChar));
    match stripped.and_then(|ty| ty.size()) {
        Some(1) if is_signed => i64::from(code as u8 as i8),
        Some(4) if is_signed => i64::from(code.cast_signed()),
        _ => i64::from(code),
    }
}

/// JSON has no word for what is not finite, and readers make doubles of its numbers.
fn float(number: FloatValue) -> String {
    if let Some(wide) = number.wide.filter(|_| !number.is_double()) {
        let sign = if number.value.is_sign_negative() { "-" } else { "" };
        return format!("\"{sign}{}\"", wide_exponential(&wide));
    }
    match number.value {
        value if value.is_nan() => "\"nan\"".to_owned(),
        value if value == f64::INFINITY => "\"inf\"".to_owned(),
        value if value == f64::NEG_INFINITY => "\"-inf\"".to_owned(),
        value => serde_json::Number::from_f64(value)
            .map_or_else(|| "\"nan\"".to_owned(), |number| number.to_string()),
    }
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
        // A byte that is no character of ASCII says so only beside others.
        Content::Character(code) if *code > 0x7f && value.ty.size() == Some(1) => None,
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
        let mut json = JsonText::new(crate::JsonForm::Full);
        push(&mut json, Some("x"), value);
        serde_json::from_str(&json.into_string()).unwrap()
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
    fn numbers_beyond_53_bits_are_their_digits() {
        let wide = |of, signed| {
            let content = Content::Integer(number(of, 128, signed));
            tree(&value(int_type(), 0, content))["value"].clone()
        };
        assert_eq!(wide(-1, false), "340282366920938463463374607431768211455");
        assert_eq!(wide(i128::MIN, true), "-170141183460469231731687303715884105728");
        assert_eq!(wide(i128::from(u64::MAX), true), u64::MAX.to_string());
        assert_eq!(wide(-1, true), -1);
        assert_eq!(wide(-(1 << 53) - 1, true), "-9007199254740993");
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
    fn a_number_that_no_double_is_stands_as_text() {
        let long = |double, significand, power| {
            let wide = Some(kcore_values::WideFloat { significand, power, digits: 21 });
            let content = Content::Float(FloatValue { value: double, size: 16, wide });
            tree(&value(int_type(), 0, content))["value"].clone()
        };
        assert_eq!(long(-2.5, 5, -1), -2.5);
        assert_eq!(long(f64::INFINITY, 1, 16383), "5.94865747678615882543e+4931");
        assert_eq!(long(-0.0, 1, -16445), "-3.64519953188247460253e-4951");
    }

    #[test]
    fn characters_are_codes_and_bits_say_where_they_are() {
        let letter = tree(&value(char_type(), 0, Content::Character(0x47)));
        assert_eq!((&letter["value"], &letter["text"]), (&0x47.into(), &"G".into()));
        let bits = tree(&bit_field(0x10, 3, 5, -7, true));
        assert_eq!(bits["bits"], serde_json::json!({ "offset": 3, "size": 5 }));
    }
}
