//! What MDB has no words for.

use kcore_values::{Elements, Entry, Field, Pointee, Pointer, VariantValue};

use super::*;

fn string(of: &str) -> Value {
    value(composite(Keyword::Class, "std::string"), 0, Content::Text(text_of(of)))
}

fn list(values: Vec<Value>) -> Value {
    let total = Some(values.len() as u64);
    let vector = composite(Keyword::Class, "std::vector");
    value(vector, 0, Content::Elements(Elements { values, total }))
}

fn variant(name: &str, fields: Vec<(&str, Value)>) -> Value {
    let field =
        |(name, value): (&str, Value)| Field { name: Some(name.into()), is_base: false, value };
    let fields = fields.into_iter().map(field).collect();
    let shape = composite(Keyword::Struct, "Shape");
    value(shape, 0, Content::Variant(VariantValue { name: name.into(), fields }))
}

#[test]
fn sequences_are_arrays() {
    assert_eq!(shown(&list(vec![int(0, 1), int(4, 2)]), PLAIN), "[ 0x1, 0x2 ]");
    assert_eq!(shown(&list(vec![string("a"), string("b")]), PLAIN), "[ \"a\", \"b\" ]");
    assert_eq!(shown(&list(vec![]), PLAIN), "[]");
    let nested = list(vec![list(vec![int(0, 1)]), list(vec![])]);
    assert_eq!(shown(&nested, PLAIN), "[\n    [ 0x1 ]\n    []\n]");
}

#[test]
fn maps_have_a_line_for_each_key() {
    let entries = vec![
        Entry { key: string("one"), value: int(0, 1) },
        Entry { key: int(0, 2), value: sub() },
    ];
    let map = |total| {
        let map = composite(Keyword::Class, "std::map");
        value(map, 0, Content::Entries { entries: entries.clone(), total })
    };
    let expected = "{\n    [\"one\"] = 0x1\n    [0x2] = {\n        s_count = 0x7\n        \
        s_ratio = +5.0000000e-01\n    }\n}";
    assert_eq!(shown(&map(Some(2)), PLAIN), expected);
    assert!(shown(&map(Some(3)), PLAIN).ends_with("    }\n    ...\n}"));
    assert!(shown(&map(None), PLAIN).ends_with("    }\n    ...\n}"));
}

#[test]
fn variants_show_what_they_have() {
    assert_eq!(shown(&variant("Some", vec![("0", int(0, 42))]), PLAIN), "Some(0x2a)");
    assert_eq!(shown(&variant("None", vec![]), PLAIN), "None");
    let circle = variant("Shape::Circle", vec![("radius", int(0, 1))]);
    assert_eq!(shown(&circle, PLAIN), "Shape::Circle {\n    radius = 0x1\n}");
    let nested = variant("Some", vec![("0", sub())]);
    let expected =
        "Some {\n    0 = {\n        s_count = 0x7\n        s_ratio = +5.0000000e-01\n    }\n}";
    assert_eq!(shown(&nested, PLAIN), expected);
    let inline = ValueStyle::inline(Endian::Little);
    assert_eq!(shown(&circle, inline), "{ ... }");
}

#[test]
fn owning_pointers_show_what_they_own() {
    let owner = |pointee, counts| {
        let Content::Pointer(pointer) = pointer_to(&int_type(), 0, 0x5555).content else {
            panic!()
        };
        let content = Pointer { pointee: Some(pointee), counts, ..pointer };
        value(composite(Keyword::Class, "std::shared_ptr"), 0, Content::Pointer(content))
    };
    let owned = |value| owner(Pointee::Value(Box::new(value)), Vec::new());
    assert_eq!(shown(&owned(int(0, 1)), PLAIN), "0x5555 -> 0x1");
    let expected = "0x5555 -> {\n    s_count = 0x7\n    s_ratio = +5.0000000e-01\n}";
    assert_eq!(shown(&owned(sub()), PLAIN), expected);
    assert_eq!(shown(&owner(Pointee::Shown, Vec::new()), PLAIN), "0x5555");
    let counted = owner(Pointee::Shown, vec![("strong", 2), ("weak", 1)]);
    assert_eq!(shown(&counted, PLAIN), "0x5555 (strong 2, weak 1)");
}

#[test]
fn base_classes_stand_in_angle_brackets() {
    let base = Field { name: Some("Base".into()), is_base: true, value: sub() };
    let derived = value(composite(Keyword::Class, "Derived"), 0, Content::Fields(vec![base]));
    assert_eq!(shown(&derived, PLAIN).lines().nth(1), Some("    <Base> = {"));
}
