//! Expressions of C on types and memory that are made for them.

use kcore_mem::{Addr, Target};
use kcore_symbols::{
    ArrayBound, ArrayLayout, ArrayType, BitField, Dimension, Encoding, Enumeration, Enumerator,
    FunctionType, MemberPlace, PointerKind, PointerType, Type, TypeKind,
};

use super::{ExpressionNames, enumerator, evaluate};
use crate::{
    Content, Limits, Object, PathWords,
    made_process::{MadeProcess, base, char, int, member, named, structure},
};

const AT: u64 = 0x1000;

/// Some variables, and types by their names.
struct Names {
    objects: Vec<(&'static str, Object)>,
    types: Vec<(&'static str, Type)>,
}

impl PathWords for Names {
    fn number(&self, text: &str) -> Result<u64, String> {
        text.parse().map_err(|_| format!("{text} is no number"))
    }

    fn type_named(&self, text: &str) -> Result<Type, String> {
        let found = self.types.iter().find(|(name, _)| *name == text);
        found.map(|(_, ty)| ty.clone()).ok_or_else(|| format!("no type {text}"))
    }
}

impl ExpressionNames for Names {
    fn object(&self, name: &str) -> Option<Object> {
        let found = self.objects.iter().find(|(known, _)| *known == name);
        found.map(|(_, object)| object.clone())
    }

    fn enumerator(&self, name: &str) -> Result<Option<Object>, Vec<String>> {
        let made = |value| Ok(Some(enumerator(&color(), value, Target::X86_64)));
        match name {
            "GREEN" => made(2),
            "BOTH" => Err(vec!["one::BOTH (1)".to_owned(), "two::BOTH (2)".to_owned()]),
            _ => Ok(None),
        }
    }

    fn register(&self, name: &str) -> Option<Object> {
        (name == "rip").then(|| Object::at(unsigned_long(), Addr::new(AT + 0x80)))
    }

    fn dot(&self) -> Addr {
        Addr::new(AT)
    }
}

fn unsigned_long() -> Type {
    base("unsigned long", 8, Encoding::Unsigned)
}

fn color() -> Type {
    let enumerator = |(name, value): (&str, i128)| Enumerator { name: name.into(), value };
    let enumerators = [("RED", 1), ("GREEN", 2)].map(enumerator).into();
    named(
        "color",
        4,
        TypeKind::Enumeration(Enumeration { underlying: None, enumerators, is_class: false }),
    )
}

/// `integer :: grid(0:1, 2)`
fn fortran_matrix() -> Type {
    let layout = ArrayLayout {
        first: vec![ArrayBound::Number(0), ArrayBound::Number(1)],
        strides: vec![None, None],
        is_column_major: true,
        elements: None,
        presence: None,
        rank: None,
    };
    let array = ArrayType {
        element: int().link(),
        dimensions: vec![Dimension::Count(2), Dimension::Count(2)],
        stride: None,
        is_vector: false,
        layout: Some(Box::new(layout)),
    };
    named("", 16, TypeKind::Array(array))
}

/// `struct item { int id; color c; item *next; unsigned low:3; char name[8]; }`, and variables beside one.
fn names() -> Names {
    let item = structure(
        "item",
        32,
        vec![
            member("id", &int(), MemberPlace::Offset(0)),
            member("c", &color(), MemberPlace::Offset(4)),
            member("next", &int().pointer(8), MemberPlace::Offset(8)),
            member(
                "low",
                &base("unsigned int", 4, Encoding::Unsigned),
                MemberPlace::Bits(BitField { offset: 128, size: 3 }),
            ),
            member("name", &char().array(Some(8)), MemberPlace::Offset(24)),
        ],
    );
    let function =
        FunctionType { returns: int().link(), parameters: Vec::new(), is_variadic: false };
    let function = named("", 0, TypeKind::Function(function));
    let reference = PointerType { kind: PointerKind::Reference, to: int().link() };
    let reference = named("", 8, TypeKind::Pointer(reference));
    let at = |ty: &Type, offset: u64| Object::at(ty.clone(), Addr::new(AT + offset));
    Names {
        objects: vec![
            ("item", at(&item, 0)),
            ("p", at(&item.pointer(8), 0x20)),
            ("values", at(&int().array(Some(4)), 0x28)),
            ("table", at(&int().array(Some(2)).array(Some(2)), 0x28)),
            ("reference", at(&reference, 8)),
            ("i", at(&base("unsigned char", 1, Encoding::Unsigned), 0x38)),
            ("d", at(&base("double", 8, Encoding::Float), 0x40)),
            ("text", at(&char().pointer(8), 0x48)),
            ("file.c`i", at(&int(), 0x28)),
            ("'file.c'::i", at(&int(), 0x2c)),
            ("ns::box<int>::n", at(&int(), 0x30)),
            ("main.gAges", at(&int(), 0x34)),
            ("run", at(&function, 0x90)),
            ("grid", at(&fortran_matrix(), 0x28)),
        ],
        types: vec![
            ("int", int()),
            ("char", char()),
            ("struct item", item.clone()),
            ("struct item *", item.pointer(8)),
            ("double", base("double", 8, Encoding::Float)),
            ("unsigned long", unsigned_long()),
            ("int *", int().pointer(8)),
        ],
    }
}

fn process() -> MadeProcess {
    let mut bytes = vec![0; 0x100];
    let mut put = |at: usize, some: &[u8]| bytes[at..at + some.len()].copy_from_slice(some);
    put(0, &7_i32.to_le_bytes());
    put(4, &2_i32.to_le_bytes());
    put(8, &(AT + 0x28).to_le_bytes());
    put(16, &[0b1101]);
    put(24, b"apple\0\0\0");
    put(0x20, &AT.to_le_bytes());
    for (at, value) in [10_i32, -20, 30, 40].iter().enumerate() {
        put(0x28 + at * 4, &value.to_le_bytes());
    }
    put(0x38, &[200]);
    put(0x40, &2.5_f64.to_le_bytes());
    put(0x48, &(AT + 24).to_le_bytes());
    put(0x80, &0x40_1234_u64.to_le_bytes());
    MadeProcess::new(&[(AT, &bytes)])
}

fn contents(text: &str) -> Vec<(String, String, Content)> {
    let process = process();
    let end = evaluate(&process, &names(), text).unwrap_or_else(|why| panic!("{text}: {why}"));
    let shown = |part: crate::PathPart| {
        let value = part.object.value(&process, &Limits::default());
        (part.path, part.object.ty.spelled(), value.content)
    };
    end.parts.into_iter().map(shown).collect()
}

/// The number that an expression gives, and its type.
fn number(text: &str) -> (i128, String) {
    let mut contents = contents(text);
    assert_eq!(contents.len(), 1, "{text}");
    let (_, ty, content) = contents.remove(0);
    let number = match content {
        Content::Integer(number) | Content::Bool(number) => number.value().unwrap(),
        Content::Character(code) => i128::from(code),
        Content::Enum(value) => value.number.value().unwrap(),
        Content::Pointer(pointer) => i128::from(pointer.to.unwrap().get()),
        other => panic!("{text}: {other:?}"),
    };
    (number, ty)
}

fn value(text: &str) -> i128 {
    number(text).0
}

fn error(text: &str) -> String {
    evaluate(&process(), &names(), text).unwrap_err().to_string()
}

#[test]
fn operators_have_the_precedence_of_c() {
    assert_eq!(value("2 + 3 * 4 - 10 / 3 % 2"), 13);
    assert_eq!(value("1 << 2 + 1 | 1"), 9);
    assert_eq!(value("1 | 6 & 4 ^ 4"), 1);
    assert_eq!(value("10 - 4 - 3"), 3);
    assert_eq!(value("1 == 1 && 2 > 3 || 1"), 1);
    assert_eq!(value("0 ? 1 : 2 ? 3 : 4"), 3);
    assert_eq!(value("-(2 + 3) * ~0"), 5);
    assert_eq!(value("!item.id == 0"), 1);
}

#[test]
fn names_lead_to_objects_and_paths_go_on_from_them() {
    assert_eq!(value("item.id + p->id"), 14);
    assert_eq!(value("values[item.id - 6] * -1"), 20);
    assert_eq!(value("*p->next + 1"), 11);
    assert_eq!(value("p->low"), 5);
    assert_eq!(value("i + 1"), 201);
    assert_eq!(value("file.c`i + 'file.c'::i"), -10);
    assert_eq!(value("ns::box<int>::n + 1"), 31);
    assert_eq!(value("main.gAges - 1"), 39);
    assert_eq!(value("$rip & 0xff"), 0x34);
    assert_eq!(value("((struct item *).)->id"), 7);
}

#[test]
fn numbers_have_the_types_of_c() {
    assert_eq!(number("i + 'a'").1, "int");
    assert_eq!(number("1 + 1ul").1, "unsigned long");
    assert_eq!(number("4294967295").1, "long");
    assert_eq!(number("0xffffffff + 1"), (0, "unsigned int".into()));
    assert_eq!(number("2147483648 * 2").1, "long");
    assert_eq!(number("item.c + 1"), (3, "unsigned int".into()));
    assert_eq!(number("(char)321"), (65, "char".into()));
    assert_eq!(number("(int)-2.9"), (-2, "int".into()));
    assert_eq!(number("sizeof(struct item) + sizeof item.name"), (40, "unsigned long".into()));
    assert_eq!(number("sizeof(int *)").0, 8);
    assert_eq!(value("(unsigned long)-1 >> 60"), 15);
    assert_eq!(value("-1 < 1u"), 0);
    assert_eq!(value("-1 < 1"), 1);
}

#[test]
fn pointers_move_by_what_they_point_to() {
    assert_eq!(number("p->next + 2"), (i128::from(AT + 0x30), "int *".into()));
    assert_eq!(value("*(p->next + 1)"), -20);
    assert_eq!(value("&values[3] - &values[1]"), 2);
    assert_eq!(value("values + 1 == &values[1]"), 1);
    assert_eq!(value("p != 0 && p->id == 7"), 1);
    assert_eq!(value("p == ."), 1);
    assert_eq!(number("&p->id"), (i128::from(AT), "int *".into()));
    assert_eq!(value("(p->next + 2)[-1]"), -20);
    assert_eq!(value("&run == run"), 1);
    assert_eq!(value("*(int *)0x1028"), 10);
    assert_eq!(value("*values + *(values + 1)"), -10);
    assert_eq!(number("table + 1"), (i128::from(AT + 0x30), "int (*)[2]".into()));
    assert_eq!(value("*(*(table + 1) + 1)"), 40);
    assert_eq!(value("table[1] == *(table + 1) && (table + 1) == &table[1]"), 1);
    assert_eq!(number("&reference"), (i128::from(AT + 0x28), "int *".into()));
    assert_eq!(value("reference + 1"), 11);
}

#[test]
fn floating_point_numbers_are_computed_as_doubles() {
    let (_, ty, content) = contents("d * 2 + 1").remove(0);
    let Content::Float(float) = content else { panic!("{content:?}") };
    assert_eq!((float.value.to_bits(), &*ty), (6_f64.to_bits(), "double"));
    assert_eq!(value("d > 2 && d < 3"), 1);
    assert_eq!(value("(int)(d / 0.5)"), 5);
    assert_eq!(contents("1.5f + 1").remove(0).1, "float");
    assert_eq!(value("0.0 / 0.0 == 0.0 / 0.0"), 0);
}

#[test]
fn texts_and_enumerators_can_be_compared_with() {
    assert_eq!(value("item.name == \"apple\""), 1);
    assert_eq!(value("text == \"apple\""), 1);
    assert_eq!(value("text == \"app\""), 0);
    assert_eq!(value("\"appl\" < text"), 1);
    assert_eq!(value("item.c == GREEN"), 1);
    assert_eq!(value("item.c != color::RED"), 1);
    assert_eq!(value("item.c > RED"), 1);
    assert_eq!(value("sizeof(\"abc\") + sizeof \"abc\""), 8);
    let Content::Text(text) = contents("1 ? \"big\" : \"small\"").remove(0).2 else { panic!() };
    assert_eq!(&*text.text, "big");
    assert_eq!(value("(p == nullptr) == false"), 1);
}

#[test]
fn the_name_of_an_enumerator_is_its_value() {
    assert_eq!(value("GREEN + 1"), 3);
    assert_eq!(value("GREEN << 4 | 1"), 0x21);
    assert_eq!(value("values[GREEN] == values[2]"), 1);
    assert_eq!(value("i == GREEN"), value("i == 2"));
    let (label, ty, content) = contents("GREEN").remove(0);
    assert_eq!((&*label, &*ty), ("GREEN", "enum color"));
    assert!(matches!(content, Content::Enum(of) if of.number.bits == 2));
    assert_eq!(error("1 + BOTH"), "column 5: 'BOTH' may be one::BOTH (1) or two::BOTH (2)");
    assert_eq!(error("i == BLUE"), "column 6: no variable, function or type has the name 'BLUE'");
}

#[test]
fn several_elements_and_arrays_are_shown_with_their_labels() {
    let labels: Vec<_> = contents("values[1..2]").into_iter().map(|(label, ..)| label).collect();
    assert_eq!(labels, ["values[1]", "values[2]"]);
    let (label, ty, content) = contents("*p->next@3").remove(0);
    assert_eq!((&*label, &*ty), ("*p->next@3", "int [3]"));
    let Content::Elements(elements) = content else { panic!("{content:?}") };
    assert_eq!(elements.values.len(), 3);
    assert_eq!(contents("values[i - 199]").remove(0).0, "values[i - 199]");
    assert_eq!(error("values[0..1] + 1"), "column 1: a range of elements is no operand");
}

#[test]
fn what_is_wrong_is_said_with_its_column() {
    assert_eq!(error("1 + "), "column 5: expected an operand, found the end");
    assert_eq!(error("1 2"), "column 3: expected an operator, found '2'");
    assert_eq!(
        error("item.id + nope"),
        "column 11: no variable, function or type has the name 'nope'"
    );
    assert_eq!(error("1 + nope.x"), "column 5: no variable, function or type has the name 'nope'");
    assert_eq!(error("item.nope + 1"), "column 1: failed to find member nope of struct item");
    assert_eq!(error("item + 1"), "column 1: '+' takes no operand of type struct item");
    assert_eq!(error("p * 2"), "column 1: '*' takes no operands of types struct item * and int");
    assert_eq!(error("1 / (2 - 2)"), "column 1: division by zero");
    assert_eq!(error("1 << 40"), "column 1: a shift of 32 bits by 40");
    assert_eq!(error("&(1 + 2)"), "column 2: it has no address");
    assert_eq!(error("&p->low"), "column 2: it has no address");
    assert_eq!(error("values[1"), "column 8: expected ], found the end");
    assert_eq!(
        error("item.id = 3"),
        "column 9: an assignment is not possible: the process does not run"
    );
    assert_eq!(
        error("item.id += 3"),
        "column 10: an assignment is not possible: the process does not run"
    );
    assert_eq!(error("run(1)"), "column 4: a call is not possible: the process does not run");
    assert_eq!(error("$xyz"), "column 1: no register '$xyz' is known here");
    assert_eq!(error("values[0]@0"), "column 11: an array of 0 elements");
    assert_eq!(
        error("item.c == BLUE"),
        "column 11: no variable, function or type has the name 'BLUE'"
    );
    assert_eq!(error("'ab'"), "column 1: no character of one byte in quotes");
    assert_eq!(error("*(int *)0 + 1"), "column 1: unreadable: no mapping for address 0");
}

#[test]
fn expressions_are_bounded() {
    assert!(error(&"(".repeat(100)).contains("64 operators"));
    assert!(error(&"1+".repeat(300)).contains("256 operators"));
    assert!(error(&"1".repeat(5000)).contains("4096 characters"));
    assert!(error(&format!("item{}", ".x".repeat(300))).contains("256 operators"));
    // Each part is evaluated once, however deep it lies.
    assert_eq!(value(&format!("{}1", "!".repeat(60))), 1);
    assert_eq!(value(&vec!["1"; 200].join("==")), 1);
    assert_eq!(value(&vec!["1"; 200].join("&&")), 1);
    assert_eq!(value(&format!("{}0]{}", "values[".repeat(20), "-10]".repeat(19))), 10);
}

#[test]
fn what_can_be_no_expression_is_told_without_a_process() {
    use super::check;
    let can_be = [
        "p->a[3].b",
        "(ngx_str_t *)elts",
        "(uint32_t)x + (struct conn *)p == 0",
        "(p)->x",
        "*($T1 *)&m_storage",
        "sizeof(struct item) / sizeof x",
        "(a) - 1 ? &$start->head : $i * 'c'",
        "m_first[m_first + $i < m_end ? $i : $i - (m_end - m_buff)]",
        "(unsigned long)&((struct conn *)0)->link",
        "Traits<int>::size",
        "(ns::kind)(flags & 15)",
    ];
    for text in can_be {
        assert_eq!(check(text), Ok(()), "{text}");
    }
    for (text, column) in [("a +", 4), ("f(1)", 2), ("a = 1", 3), ("a[1", 3), ("", 1), ("a b", 3)] {
        assert_eq!(check(text).map_err(|error| error.column), Err(column), "{text}");
    }
}

#[test]
fn arrays_of_fortran_have_subscripts_in_parentheses() {
    assert_eq!(value("grid(1,2)"), 40);
    assert_eq!(value("grid(0, 1 + 1) - grid( 0 ,1)"), 20);
    assert_eq!(value("grid[1][1]"), -20);
    assert_eq!(value("(grid)(item.id - 6,2)"), 40);
    let (label, _, content) = contents("grid(:,2)").remove(0);
    let Content::Elements(elements) = content else { panic!("{content:?}") };
    assert_eq!((label.as_str(), elements.total), ("grid(:,2)", Some(2)));
    assert_eq!(value("grid(1:0:-1,:)[1][2]"), 40);
}

#[test]
fn subscripts_that_make_no_sense_are_errors() {
    assert_eq!(error("grid(1)"), "column 1: 1 subscripts for an array of rank 2");
    assert_eq!(error("grid(2,1)"), "column 1: index 2 is outside of the bounds 0:1");
    assert_eq!(error("grid(1,)"), "column 8: expected a subscript, found ')'");
    assert_eq!(error("grid(1,2"), "column 9: expected ), found the end");
    assert_eq!(error("grid(1:2:3:4,1)"), "column 12: expected ), found '4'");
    assert!(error("grid(d,1)").contains("takes no operand of type double"));
    assert!(error("values(1)").contains("a call is not possible"));
    assert!(error("run(1)").contains("a call is not possible"));
    assert_eq!(value("item.id % i"), 7);
}
