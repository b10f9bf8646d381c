//! Printers in files, on types and memory that are made for them.

mod own;

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_symbols::{Encoding, Enumeration, Enumerator, MemberPlace, Type, TypeKind};

use super::PrinterFile;
use crate::{
    Content, Limits, Object,
    made_process::{MadeProcess, base, char, int, member, named, structure},
};

const AT: u64 = 0x1000;

fn number() -> Type {
    base("unsigned long", 8, Encoding::Unsigned)
}

fn void_pointer() -> Type {
    Type::void().pointer(8)
}

/// A structure whose members have 8 bytes each.
fn of_words(name: &str, members: &[(&str, Type)]) -> Type {
    let offsets = (0_u64..).step_by(8);
    let members: Vec<_> = members
        .iter()
        .zip(offsets)
        .map(|((name, ty), offset)| member(name, ty, MemberPlace::Offset(offset)))
        .collect();
    structure(name, 8 * members.len() as u64, members)
}

fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A process with words at [`AT`], and the printers of a file.
fn process(words: &[u64], defined: &[Type], file: &str) -> MadeProcess {
    let mut process = MadeProcess::new(&[(AT, &bytes_of(words)), (0x8000, b"hello, world\0")]);
    process.defined = defined.to_vec();
    let file = PrinterFile::parse("test.kcore", file).expect("a file of printers");
    process.printers.load(Arc::new(file));
    process
}

fn shown(process: &MadeProcess, ty: &Type) -> String {
    process.content(ty, AT).to_string()
}

fn error(text: &str) -> String {
    PrinterFile::parse("test.kcore", text).unwrap_err().to_string()
}

fn text_type() -> Type {
    of_words("str", &[("len", number()), ("data", char().pointer(8))])
}

#[test]
fn a_text_has_the_length_that_its_printer_says() {
    let file = "[[type]]\nname = 'str'\ntext = { at = 'data', length = 'len' }\n";
    let short = process(&[5, 0x8000], &[], file);
    assert_eq!(shown(&short, &text_type()), "\"hello\"");
    let none = process(&[0, 0], &[], file);
    assert_eq!(shown(&none, &text_type()), "\"\"");
    let to_nul = process(&[5, 0x8000], &[], "[[type]]\nname = 'str'\ntext = { at = 'data' }\n");
    assert_eq!(shown(&to_nul, &text_type()), "\"hello, world\"");
}

#[test]
fn what_a_printer_cannot_show_is_shown_by_its_members_and_said_once() {
    let file = "# A comment.\n[[type]]\nname = 'str'\ntext = { at = 'data',\n length = 'size' }\n";
    let process = process(&[5, 0x8000], &[], file);
    let content = process.content(&text_type(), AT);
    assert!(matches!(content, Content::Fields(ref fields) if fields.len() == 2), "{content}");
    let told = process.printers.take_troubles();
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("test.kcore:5: size: "), "{told:?}");
    process.content(&text_type(), AT);
    assert!(process.printers.take_troubles().is_empty(), "said once");
}

#[test]
fn raw_values_ask_no_printer() {
    let file = "[[type]]\nname = 'str'\ntext = { at = 'data', length = 'len' }\n";
    let process = process(&[5, 0x8000], &[], file);
    let limits = Limits { raw: true, ..Limits::default() };
    assert!(matches!(process.value(&text_type(), AT, &limits).content, Content::Fields(_)));
}

#[test]
fn the_first_printer_whose_condition_holds_counts() {
    let file = "[[type]]\nname = 'box'\nwhen = 'kind == 1'\nwords = 'small {value}'\n\
                [[type]]\nname = 'box'\nwords = '{{{value,x}}}'\n";
    let ty = of_words("box", &[("kind", number()), ("value", number())]);
    assert_eq!(shown(&process(&[1, 255], &[], file), &ty), "small 255");
    assert_eq!(shown(&process(&[2, 255], &[], file), &ty), "{0xff}");
}

#[test]
fn a_file_that_is_loaded_later_comes_first_and_again_takes_its_own_place() {
    let ty = of_words("box", &[("value", number())]);
    let mut process = process(&[7], &[], "[[type]]\nname = 'box'\nwords = 'first'\n");
    let load = |process: &mut MadeProcess, name: &str, words: &str| {
        let text = format!("[[type]]\nname = 'box'\nwords = '{words}'\n");
        let file = PrinterFile::parse(name, &text).unwrap();
        process.printers.load(Arc::new(file));
    };
    load(&mut process, "other.kcore", "second");
    assert_eq!(shown(&process, &ty), "second");
    load(&mut process, "test.kcore", "third");
    assert_eq!(shown(&process, &ty), "third");
    assert_eq!(process.printers.files().len(), 2);
    assert!(process.printers.unload("test.kcore"));
    assert!(!process.printers.unload("test.kcore"));
    assert_eq!(shown(&process, &ty), "second");
}

fn node() -> Type {
    of_words("node", &[("next", void_pointer()), ("value", number())])
}

const LIST: &str = "[[type]]\nname = 'list'\n\
    list = { head = '(node *)head', next = '(node *)next', value = 'value' }\n";

#[test]
fn a_list_ends_at_a_null_pointer_or_at_its_first_node() {
    let list = of_words("list", &[("head", void_pointer())]);
    let straight = [AT + 8, AT + 24, 10, 0, 20];
    assert_eq!(shown(&process(&straight, &[node()], LIST), &list), "{10, 20}");
    let round = [AT + 8, AT + 24, 10, AT + 8, 20];
    assert_eq!(shown(&process(&round, &[node()], LIST), &list), "{10, 20}");
    assert_eq!(shown(&process(&[0], &[node()], LIST), &list), "{}");
}

#[test]
fn a_list_that_leads_back_into_itself_ends_there_and_says_so() {
    let list = of_words("list", &[("head", void_pointer())]);
    let knot = [AT + 8, AT + 24, 10, AT + 40, 20, AT + 24, 30];
    let process = process(&knot, &[node()], LIST);
    let Content::Elements(elements) = process.content(&list, AT) else { panic!() };
    assert_eq!((elements.values.len(), elements.total), (3, None));
    let told = process.printers.take_troubles();
    assert_eq!(told, ["test.kcore:3: (node *)next: the list runs in a circle"]);
}

#[test]
fn a_list_that_is_longer_than_what_is_shown_says_so() {
    let list = of_words("list", &[("head", void_pointer())]);
    let words = [AT + 8, AT + 24, 10, AT + 40, 20, 0, 30];
    let process = process(&words, &[node()], LIST);
    let limits = Limits { elements: Some(2), ..Limits::default() };
    assert_eq!(process.value(&list, AT, &limits).content.to_string(), "{10, 20}");
    let Content::Elements(elements) = process.value(&list, AT, &limits).content else { panic!() };
    assert_eq!((elements.values.len(), elements.total), (2, None));
    let all = Limits { elements: Some(3), ..Limits::default() };
    let Content::Elements(elements) = process.value(&list, AT, &all).content else { panic!() };
    assert_eq!((elements.values.len(), elements.total), (3, Some(3)));
}

#[test]
fn the_node_that_is_the_end_of_a_list_is_none_of_it() {
    let list = of_words("list", &[("head", void_pointer()), ("pad", number())]);
    let file = "[[type]]\nname = 'list'\n\
        list = { head = '(node *)head', next = '(node *)next', end = 'this', value = 'value' }\n";
    let words = [AT + 16, 99, AT + 32, 10, AT, 20];
    assert_eq!(shown(&process(&words, &[node()], file), &list), "{10, 20}");
}

#[test]
fn a_tree_is_shown_in_order_with_its_keys() {
    let node = of_words(
        "leaf",
        &[("l", void_pointer()), ("r", void_pointer()), ("key", number()), ("value", number())],
    );
    let tree = of_words("tree", &[("root", void_pointer()), ("count", number())]);
    let file = "[[type]]\nname = 'tree'\n\
        [type.tree]\nsize = 'count'\nhead = '(leaf *)root'\nleft = '(leaf *)l'\nright = '(leaf *)r'\n\
        key = 'key'\nvalue = 'value'\n";
    let (root, left, right) = (AT + 16, AT + 48, AT + 80);
    let words = [root, 3, left, right, 5, 50, 0, 0, 3, 30, 0, 0, 8, 80];
    assert_eq!(
        shown(&process(&words, std::slice::from_ref(&node), file), &tree),
        "{3: 30, 5: 50, 8: 80}"
    );
    let knot = [root, 3, left, right, 5, 50, root, 0, 3, 30, 0, 0, 8, 80];
    let process = process(&knot, &[node], file);
    assert!(matches!(process.content(&tree, AT), Content::Fields(_)));
    assert!(process.printers.take_troubles()[0].ends_with("the tree runs in a circle"));
}

#[test]
fn arrays_and_elements_have_as_many_as_their_printer_says() {
    let array = of_words("array", &[("n", number()), ("first", number().pointer(8))]);
    let file = "[[type]]\nname = 'array'\narray = { size = 'n', first = 'first' }\n";
    assert_eq!(shown(&process(&[2, AT + 16, 7, 8, 9], &[], file), &array), "{7, 8}");
    assert_eq!(shown(&process(&[0, 0], &[], file), &array), "{}");
    let lost = process(&[3, 0], &[], file);
    assert!(matches!(lost.content(&array, AT), Content::Fields(_)), "three at a null pointer");

    let slots = "[[type]]\nname = 'array'\n\
        elements = { size = 'n', when = 'first[$i] != 0', key = '$i', value = 'first[$i]' }\n";
    assert_eq!(shown(&process(&[3, AT + 16, 7, 0, 9], &[], slots), &array), "{0: 7, 2: 9}");
}

#[test]
fn members_and_what_something_stands_for_are_expressions() {
    let ty = of_words("box", &[("a", number()), ("b", number().pointer(8))]);
    let members = "[[type]]\nname = 'box'\nmembers = [{ name = 'sum', value = 'a + *b' },\n\
        { name = 'none', value = 'a', when = 'a > 100' }]\n";
    assert_eq!(shown(&process(&[1, AT + 16, 41], &[], members), &ty), "{sum = 42}");
    let same = "[[type]]\nname = 'box'\nsame = '*b'\n";
    assert_eq!(shown(&process(&[1, AT + 16, 41], &[], same), &ty), "41");
    let pointer = "[[type]]\nname = 'box'\npointer = 'b'\n";
    assert_eq!(shown(&process(&[1, AT + 16, 41], &[], pointer), &ty), "0x1010 -> 41");
    assert_eq!(shown(&process(&[1, 0], &[], pointer), &ty), "0x0");
}

#[test]
fn a_pattern_names_the_types_that_casts_take() {
    let holder = of_words("Holder<item>", &[("data", void_pointer())]);
    let item = of_words("item", &[("value", number())]);
    let file = "[[type]]\nname = 'Holder<*>'\nsame = '*($T1 *)data'\n";
    assert_eq!(shown(&process(&[AT + 8, 5], &[item], file), &holder), "{value = 5}");
}

#[test]
fn typedefs_have_printers_of_their_own() {
    use kcore_symbols::{AliasKind, AliasType};
    let alias = AliasType { kind: AliasKind::Typedef, to: char().pointer(8).link() };
    let sds = named("sds", 8, TypeKind::Alias(alias));
    let file = "[[type]]\nname = 'sds'\ntext = { at = '*this', length = '5' }\n";
    assert_eq!(shown(&process(&[0x8000], &[], file), &sds), "\"hello\"");
    assert_ne!(shown(&process(&[0x8000], &[], file), &char().pointer(8)), "\"hello\"");
}

#[test]
fn errors_of_files_name_their_lines() {
    assert!(error("[[type]]\nname = 'a'\n").starts_with("line 1, column 1: a type has one of "));
    assert!(
        error("\n[[type]]\nname = 'a'\nsame = 'b'\nwords = 'c'\n")
            .starts_with("line 2, column 1: ")
    );
    assert!(
        error("[[type]]\nname = 'a'\nsmae = 'b'\n")
            .starts_with("line 3, column 1: unknown field `smae`")
    );
    assert!(error("[[type]\n").starts_with("line 1, column "));
    assert_eq!(
        error("[[type]]\nname = 'a'\nwords = '{b'\n"),
        "line 3, column 10: a brace is not closed"
    );
    assert!(error("<AutoVisualizer>\n<Type").starts_with("line "));
    assert_eq!(error("<Other/>"), "line 1, column 1: AutoVisualizer is expected, not Other");
}

#[test]
fn natvis_files_are_read_as_far_as_there_are_shapes() {
    let file = "\u{feff}<?xml version='1.0' encoding='utf-8'?>\n\
        <AutoVisualizer xmlns='http://schemas.microsoft.com/vstudio/debugger/natvis/2010'>\n\
        <Type Name='str'><DisplayString Condition='len == 0'>empty</DisplayString>\n\
        <DisplayString>{data,[len]s}</DisplayString></Type>\n\
        <Type Name='array'><AlternativeType Name='array2'/><DisplayString>{{ size={n} }}</DisplayString>\n\
        <Expand><Item Name='[size]'>n</Item><ArrayItems><Size>n</Size>\
        <ValuePointer>first</ValuePointer></ArrayItems></Expand></Type>\n\
        <Type Name='box'><Expand><Item Name='twice' Condition='a &lt; 100'>a * 2,d</Item></Expand></Type>\n\
        <Type Name='box' Priority='Low'><DisplayString>never</DisplayString></Type>\n\
        <Type Name='odd'><Expand><ArrayItems><Rank>2</Rank><Direction>Backward</Direction></ArrayItems></Expand></Type>\n\
        </AutoVisualizer>";
    let parsed = PrinterFile::parse("test.natvis", file).unwrap();
    assert_eq!(parsed.left_out, ["line 9: ArrayItems"]);
    assert_eq!(shown(&process(&[5, 0x8000], &[], file), &text_type()), "\"hello\"");
    assert_eq!(shown(&process(&[0, 0x8000], &[], file), &text_type()), "empty");
    let array = of_words("array2", &[("n", number()), ("first", number().pointer(8))]);
    assert_eq!(shown(&process(&[2, AT + 16, 7, 8], &[], file), &array), "{7, 8}");
    let ty = of_words("box", &[("a", number())]);
    assert_eq!(shown(&process(&[21], &[], file), &ty), "{twice = 42}");
}

#[test]
fn a_program_of_a_file_that_does_not_end_is_stopped() {
    let list = |steps: &str| {
        format!(
            "<AutoVisualizer><Type Name='box'><Expand><CustomListItems>\
             <Variable Name='i' InitialValue='0'/>{steps}</CustomListItems></Expand></Type></AutoVisualizer>"
        )
    };
    let ty = of_words("box", &[("a", number())]);
    let file = list("<Loop><Exec>i += 2</Exec></Loop>");
    let process = process(&[3], &[], &file);
    assert_eq!(shown(&process, &ty), "{a = 3}");
    assert_eq!(process.printers.take_troubles(), ["test.kcore:1: more than 1048576 steps"]);
    let file = list(
        "<Loop Condition='i &lt; 5'><Exec>i++</Exec><If Condition='i == 2'><Item>i * 100</Item></If>\
         <Elseif Condition='i == 3'><Break/></Elseif><Else><Item>a + i</Item></Else></Loop>",
    );
    let process = self::process(&[3], &[], &file);
    assert_eq!(shown(&process, &ty), "{4, 200}");
    let unknown = PrinterFile::parse("x.natvis", &list("<Exec>f(i)</Exec>")).unwrap();
    assert_eq!(unknown.left_out, ["line 1: CustomListItems"]);
}

#[test]
fn words_hold_values_as_they_are_asked_for() {
    let ty = of_words("box", &[("a", number()), ("s", char().pointer(8)), ("i", int())]);
    let words = |template: &str| {
        let file = format!("[[type]]\nname = 'box'\nwords = '{template}'\n");
        shown(&process(&[16, 0x8000, 7], &[], &file), &ty)
    };
    assert_eq!(words("a is {a}"), "a is 16");
    assert_eq!(words("{a,x} {a,d}"), "0x10 16");
    assert_eq!(words("<{s,[5]}>"), "<\"hello\">");
    assert_eq!(words("<{s,[5]sb}>"), "<hello>");
    assert_eq!(words("{s,[5]}"), "\"hello\"");
    assert_eq!(words("{a}"), "16", "numbers are decimal, alone too");
    assert_eq!(words("{a,x}"), "0x10");
    assert_eq!(words("{{}} {i + 1}"), "{} 8");
}

#[test]
fn formats_that_are_not_known_are_errors_and_lengths_too_large_are_told() {
    let file = "[[type]]\nname = 'box'\nwords = '{a,q}'\n";
    assert_eq!(error(file), "line 3, column 10: there is no format 'q'");
    let file = "[[type]]\nname = 'str'\nwords = '{data,[1000000]s} {len}'\n";
    let process = process(&[5, 0x8000], &[], file);
    assert!(matches!(process.content(&text_type(), AT), Content::Fields(_)));
    assert_eq!(process.printers.take_troubles(), ["test.kcore:3: data: there is no such text"]);
}

#[test]
fn words_of_a_printer_ask_the_printers_of_their_values() {
    let file = "[[type]]\nname = 'str'\ntext = { at = 'data', length = 'len' }\n\
        [[type]]\nname = 'box'\nwords = 'box of {s}'\n";
    let ty = structure("box", 16, vec![member("s", &text_type(), MemberPlace::Offset(0))]);
    assert_eq!(shown(&process(&[5, 0x8000], &[], file), &ty), "box of \"hello\"");
}

#[test]
fn what_stands_for_itself_is_a_trouble_of_its_printer() {
    let file = "[[type]]\nname = 'box'\nsame = '*this'\n";
    let ty = of_words("box", &[("a", number())]);
    let process = process(&[5], &[], file);
    assert!(matches!(process.content(&ty, AT), Content::Fields(_)));
    assert_eq!(process.printers.take_troubles(), ["test.kcore:3: *this: it is the object itself"]);
}

#[test]
fn what_expands_stands_among_named_parts_and_no_part_is_no_object() {
    let inner = of_words("inner", &[("x", number()), ("y", number())]);
    let offset = |at| MemberPlace::Offset(at);
    let ty = structure(
        "box",
        24,
        vec![member("in", &inner, offset(0)), member("z", &number(), offset(16))],
    );
    let file = "<AutoVisualizer><Type Name='box'><DisplayString>none</DisplayString><Expand>\
        <Item Name='twice' Condition='z &lt; 100'>z * 2</Item>\
        <ExpandedItem Condition='z &lt; 100'>in</ExpandedItem></Expand></Type></AutoVisualizer>";
    assert_eq!(shown(&process(&[1, 2, 3], &[], file), &ty), "{twice = 6, x = 1, y = 2}");
    assert_eq!(shown(&process(&[1, 2, 300], &[], file), &ty), "none");
}

#[test]
fn what_expands_to_one_of_several_is_that_one() {
    let inner = of_words("inner", &[("x", number())]);
    let ty = of_words("box", &[("kind", number()), ("in", inner), ("n", number())]);
    let file = "<AutoVisualizer><Type Name='box'><DisplayString>none</DisplayString><Expand>\
        <ExpandedItem Condition='kind == 1'>in,view(simple)</ExpandedItem>\
        <ExpandedItem Condition='kind == 2'>n</ExpandedItem>\
        <ExpandedItem Condition='kind == 3'>*this</ExpandedItem></Expand></Type></AutoVisualizer>";
    assert_eq!(shown(&process(&[1, 7, 8], &[], file), &ty), "{x = 7}");
    assert_eq!(shown(&process(&[2, 7, 8], &[], file), &ty), "8");
    assert_eq!(shown(&process(&[3, 7, 8], &[], file), &ty), "none", "an object in itself");
}

#[test]
fn elements_that_a_printer_computed_lead_on() {
    let ty = of_words("box", &[("n", number()), ("first", number().pointer(8))]);
    let file = "[[type]]\nname = 'box'\nelements = { size = 'n', value = 'first[$i] + 1' }\n";
    let process = process(&[2, AT + 16, 7, 8], &[], file);
    let object = crate::Object::at(ty, kcore_mem::Addr::new(AT));
    let end = crate::PathWalker::new(&process, &Decimal).follow(&object, "[1]").unwrap();
    let value = end.parts[0].object.value(&process, &Limits::default());
    assert_eq!(value.content.to_string(), "9");
}

/// Indices in decimal, and no types.
struct Decimal;

impl crate::PathWords for Decimal {
    fn number(&self, text: &str) -> Result<u64, String> {
        text.parse().map_err(|_| text.to_owned())
    }

    fn type_named(&self, text: &str) -> Result<Type, String> {
        Err(text.to_owned())
    }
}

#[test]
fn expressions_know_variables_and_enumerators_of_the_program() {
    let names =
        [("OPEN", 1), ("LOCKED", 4)].map(|(name, value)| Enumerator { name: name.into(), value });
    let enumeration = Enumeration { underlying: None, enumerators: names.into(), is_class: false };
    let flag = named("flag", 4, TypeKind::Enumeration(enumeration));
    let ty = of_words("door", &[("flags", number()), ("mask", number())]);
    let file =
        "[[type]]\nname = 'door'\nwords = '{::base - mask} {flags & LOCKED} {flags & mask}'\n";
    let mut process = process(&[5, 1, 100], &[flag], file);
    assert_eq!(shown(&process, &ty), "{flags = 5, mask = 1}", "there is no such variable");
    process.variables = vec![
        ("base", Object::at(number(), Addr::new(AT + 16))),
        ("flags", Object::at(number(), Addr::new(AT + 16))),
    ];
    assert_eq!(shown(&process, &ty), "99 4 1", "members come before variables");
}
