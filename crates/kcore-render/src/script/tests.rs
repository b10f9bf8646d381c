use kcore_dcmd::{
    Dialect, ScriptCell, ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar,
    ScriptStyle, TextRest,
};
use kcore_mem::Addr;

use crate::number::Numbers;

const STYLE: ScriptStyle =
    ScriptStyle { dialect: Dialect::JavaScript, addresses: false, indent: 0 };

fn shown_as(node: &ScriptNode, style: ScriptStyle) -> String {
    let cell = ScriptCell { node: std::borrow::Cow::Borrowed(node), style };
    super::text(&cell, Numbers { radix: 16, word_size: 8 })
}

fn shown(node: &ScriptNode) -> String {
    shown_as(node, STYLE)
}

fn number(value: f64) -> ScriptNode {
    ScriptNode::scalar("number", ScriptScalar::Number(value))
}

fn node(kind: &'static str, class: &str, is_list: bool, parts: Vec<ScriptPart>) -> ScriptNode {
    ScriptNode {
        at: Some(Addr::new(0x1f01)),
        kind,
        class: Some(class.into()),
        parts: Some(ScriptParts { is_list, parts, is_cut: false }),
        ..ScriptNode::default()
    }
}

fn named(name: &str, value: ScriptNode) -> ScriptPart {
    ScriptPart::new(ScriptLabel::Name(name.into()), value)
}

fn element(index: u64, value: ScriptNode) -> ScriptPart {
    ScriptPart::new(ScriptLabel::Index(index), value)
}

#[test]
fn objects_have_a_line_for_each_property() {
    let list = node("array", "Array", true, vec![element(0, number(1.0)), element(1, number(2.0))]);
    let parts = vec![
        named("a", ScriptNode::text("text")),
        named("list", list),
        named("empty", node("object", "Object", false, vec![])),
        named("one", node("array", "Array", true, vec![element(0, number(0.5))])),
        named("deep", ScriptNode::scalar("object", ScriptScalar::Elided)),
    ];
    assert_eq!(
        shown(&node("object", "Object", false, parts)),
        "{\n    \"a\": \"text\",\n    \"list\": [\n        1,\n        2,\n    ],\n    \"empty\": {},\n    \
         \"one\": [ 0.5 ],\n    \"deep\": [...],\n}"
    );
}

#[test]
fn holes_and_what_is_cut_are_told() {
    let parts = vec![element(1, number(7.0)), element(5, number(8.0)), named("extra", number(1.0))];
    let mut list = node("array", "Array", true, parts);
    list.length = Some(7);
    let lines = "[\n    hole,\n    7,\n    <3 holes>,\n    8,\n    hole,\n    \"extra\": 1,\n]";
    assert_eq!(shown(&list), lines);
    list.length = Some(1000);
    list.parts.as_mut().unwrap().parts.truncate(1);
    list.parts.as_mut().unwrap().is_cut = true;
    assert_eq!(shown(&list), "[\n    hole,\n    7,\n    998 more ...\n]");
}

#[test]
fn what_mdb_has_no_words_for_is_built_of_the_same_parts() {
    let entry = ScriptLabel::Entry(Box::new(ScriptNode::text("key")));
    let map = node("map", "Map", false, vec![ScriptPart::new(entry, number(1.0))]);
    assert_eq!(shown(&map), "Map {\n    \"key\" => 1,\n}");
    let state = ScriptPart::new(ScriptLabel::Fact("state"), ScriptNode::text("pending"));
    let promise = node("promise", "Promise", false, vec![state]);
    assert_eq!(shown(&promise), "Promise {\n    <state>: \"pending\",\n}");
    let parts = vec![
        ScriptPart::new(ScriptLabel::Private("#balance".into()), number(3.0)),
        ScriptPart::new(ScriptLabel::Symbol("tag".into()), number(4.0)),
    ];
    let account = node("object", "Account", false, parts);
    assert_eq!(shown(&account), "Account {\n    #balance: 3,\n    [Symbol(tag)]: 4,\n}");
}

#[test]
fn what_says_enough_by_itself_has_no_braces() {
    let time = ScriptScalar::Time(1_709_210_096_789.0);
    let date = node("date", "Date", false, vec![]);
    let date = ScriptNode { scalar: Some(time), ..date };
    assert_eq!(shown(&date), "1709210096789 (2024-02-29T12:34:56.789Z)");
    let pattern = ScriptScalar::Pattern { source: "a+".into(), flags: "gi".into() };
    let parts = vec![named("lastIndex", number(0.0))];
    let regexp = ScriptNode { scalar: Some(pattern), ..node("regexp", "RegExp", false, parts) };
    assert_eq!(shown(&regexp), "/a+/gi {\n    \"lastIndex\": 0,\n}");
}

#[test]
fn addresses_stand_before_values() {
    let style = ScriptStyle { addresses: true, ..STYLE };
    let object = node("object", "Object", false, vec![named("a", number(1.0))]);
    assert_eq!(shown_as(&object, style), "1f01: {\n    \"a\": 1,\n}");
}

#[test]
fn nothing_of_the_process_reaches_the_terminal() {
    let text = |text: &str, rest| {
        let text = ScriptScalar::Text { text: text.into(), rest };
        shown(&ScriptNode::scalar("string", text))
    };
    assert_eq!(
        text("\x1b[31m \"q\" \\ \u{202e}", TextRest::None),
        r#""\x1b[31m \"q\" \\ \u{202e}""#
    );
    assert_eq!(text("begun", TextRest::Cut), "\"begun\"...");
    assert_eq!(text("begun", TextRest::Unreadable), "\"begun\"... <unreadable>");
    let parts = vec![named("\x1b]0;x\x07", number(1.0))];
    let object = node("object", "\x1bC", false, parts);
    assert_eq!(shown(&object), "\\x1bC {\n    \"\\x1b]0;x\\x07\": 1,\n}");
}

#[test]
fn a_variable_stands_before_its_value() {
    let object = node("object", "Object", false, vec![named("a", number(1.0))]);
    let variable = ScriptNode::variable("arg\x1b1", object);
    assert_eq!(shown(&variable), "arg\\x1b1 = {\n    \"a\": 1,\n}");
    let python = ScriptStyle { dialect: Dialect::Python, ..STYLE };
    let int = ScriptNode::scalar("int", ScriptScalar::Integer("12".into()));
    assert_eq!(shown_as(&ScriptNode::variable("count", int), python), "count = 12");
}
