//! Every branch of the evaluator on types and memory that are made for it.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_symbols::{
    AliasKind, BaseClass, BitField, Dimension, Encoding, Enumeration, Enumerator, FunctionType,
    MemberPlace, MemberPointerType, PointerKind, PointerType, Type, TypeKind, TypeLink, TypeNode,
    Variant, VariantPart,
};

use crate::{
    Absent, Content, Field, Limits, Object, ObjectPlace, Piece, PieceSource, Pointee, Pointer,
    made_process::{MadeProcess, base, char, composite, int, member, named, structure},
};

const AT: u64 = 0x1000;

fn at(bytes: &[u8]) -> MadeProcess {
    MadeProcess::new(&[(AT, bytes)])
}

fn number(content: &Content) -> Option<i128> {
    match content {
        Content::Integer(number) | Content::Bool(number) => number.value(),
        Content::Enum(value) => value.number.value(),
        _ => None,
    }
}

fn fields(content: Content) -> Vec<Field> {
    match content {
        Content::Fields(fields) => fields,
        other => panic!("{other:?}"),
    }
}

fn text(content: &Content) -> Option<(&str, bool)> {
    match content {
        Content::Text(text) => Some((&text.text, text.is_cut)),
        _ => None,
    }
}

fn pointer(content: Content) -> Pointer {
    match content {
        Content::Pointer(pointer) => pointer,
        other => panic!("{other:?}"),
    }
}

#[test]
fn integers_have_their_sizes_signs_and_orders() {
    let bytes = [0xfe, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80];
    let process = at(&bytes);
    assert_eq!(number(&process.content(&int(), AT)), Some(-2));
    let unsigned = base("unsigned", 4, Encoding::Unsigned);
    assert_eq!(number(&process.content(&unsigned, AT)), Some(0xffff_fffe));
    let wide = base("__int128", 16, Encoding::Signed);
    let expected = i128::from_le_bytes(bytes);
    assert_eq!(number(&process.content(&wide, AT)), Some(expected));
    let big = MadeProcess::big(&[(AT, &[0, 0, 1, 2])]);
    assert_eq!(number(&big.content(&int(), AT)), Some(0x102));
}

#[test]
fn a_bit_int_has_as_many_bits_as_its_type_says() {
    let kind = |bits| {
        TypeKind::Base(kcore_symbols::BaseType {
            encoding: Encoding::Signed,
            bits: Some(bits),
            swapped: false,
        })
    };
    let process = at(&[0b1111_0101, 0xff, 0xff, 0xff]);
    assert_eq!(number(&process.content(&named("_BitInt(4)", 4, kind(4)), AT)), Some(5));
    assert_eq!(number(&process.content(&named("_BitInt(3)", 4, kind(3)), AT)), Some(-3));
    let huge = base("_BitInt(256)", 32, Encoding::Unsigned);
    let process = at(&[[1; 1].as_slice(), &[0; 30], &[0x12]].concat());
    let digits = format!("0x12{}01", "0".repeat(60));
    assert_eq!(process.content(&huge, AT), Content::Other(digits));
}

#[test]
fn swapped_numbers_are_read_in_the_other_order() {
    let swapped = kcore_symbols::BaseType { encoding: Encoding::Signed, bits: None, swapped: true };
    let ty = named("be32", 4, TypeKind::Base(swapped));
    assert_eq!(number(&at(&[0, 0, 1, 2]).content(&ty, AT)), Some(0x102));
}

#[test]
fn characters_are_told_from_small_numbers() {
    let process = at(&[0xe9, 0x20, 0, 0]);
    assert_eq!(process.content(&char(), AT), Content::Character(0xe9));
    let byte = base("unsigned char", 1, Encoding::UnsignedChar);
    assert_eq!(number(&process.content(&byte, AT)), Some(0xe9));
    let arm = base("char", 1, Encoding::UnsignedChar);
    assert_eq!(process.content(&arm, AT), Content::Character(0xe9));
    let rune = base("char32_t", 4, Encoding::Unicode);
    assert_eq!(process.content(&rune, AT), Content::Character(0x20e9));
}

#[test]
fn complex_numbers_have_two_parts() {
    let bytes = [1.5_f32.to_le_bytes(), (-2.0_f32).to_le_bytes()].concat();
    let ty = base("complex float", 8, Encoding::ComplexFloat);
    match at(&bytes).content(&ty, AT) {
        Content::Complex(real, imaginary) => {
            assert_eq!((real.value, imaginary.value), (1.5, -2.0));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn enumerations_have_the_sign_of_their_names() {
    let enumeration = |value| Enumeration {
        underlying: None,
        enumerators: vec![Enumerator { name: "LEAST".into(), value }],
        is_class: false,
    };
    let signed = named("s", 4, TypeKind::Enumeration(enumeration(-1)));
    let unsigned = named("u", 4, TypeKind::Enumeration(enumeration(1)));
    let process = at(&[0xff; 4]);
    assert_eq!(number(&process.content(&signed, AT)), Some(-1));
    assert_eq!(number(&process.content(&unsigned, AT)), Some(0xffff_ffff));
}

#[test]
fn typedefs_stay_in_the_type_and_are_seen_through() {
    let alias = int().qualified(AliasKind::Const);
    let value = at(&[7, 0, 0, 0]).value(&alias, AT, &Limits::default());
    assert_eq!((number(&value.content), value.ty), (Some(7), alias));
}

#[test]
fn bit_fields_are_read_in_both_orders_and_say_their_bits() {
    let field = BitField { offset: 5, size: 4 };
    let ty = structure("s", 4, vec![member("f", &int(), MemberPlace::Bits(field))]);
    let little = at(&[0b1010_0000, 0b1, 0, 0]);
    let found = fields(little.content(&ty, AT));
    assert_eq!(number(&found[0].value.content), Some(-3));
    assert_eq!(found[0].value.bits, Some(field));
    let far = BitField { offset: 13, size: 2 };
    let ty = structure("s", 4, vec![member("f", &int(), MemberPlace::Bits(far))]);
    let found = fields(little.content(&ty, AT));
    assert_eq!(found[0].value.at, Some(Addr::new(AT + 1)));
    assert_eq!(found[0].value.bits, Some(BitField { offset: 5, size: 2 }));
    let big = MadeProcess::big(&[(AT, &[0b0000_0110, 0b1000_0000, 0, 0])]);
    let ty = structure("s", 4, vec![member("f", &int(), MemberPlace::Bits(field))]);
    let found = fields(big.content(&ty, AT));
    assert_eq!(number(&found[0].value.content), Some(-3));
}

#[test]
fn a_bit_field_of_a_character_type_is_a_number_with_a_sign() {
    let bits = |offset, size| MemberPlace::Bits(BitField { offset, size });
    let byte = base("unsigned char", 1, Encoding::UnsignedChar);
    let members = vec![
        member("narrow", &char(), bits(0, 4)),
        member("less", &base("signed char", 1, Encoding::SignedChar), bits(4, 3)),
        member("unsigned", &byte, bits(8, 5)),
        member("full", &char(), bits(16, 8)),
    ];
    let process = at(&[0b0111_1101, 17, b'A', 0]);
    let found = fields(process.content(&structure("s", 4, members), AT));
    let numbers: Vec<_> = found[..3].iter().map(|field| number(&field.value.content)).collect();
    assert_eq!(numbers, [Some(-3), Some(-1), Some(17)]);
    assert_eq!(found[3].value.content, Content::Character(u32::from(b'A')));
    // What a pipe hands on has the sign in all of the type's bits, as C extends it.
    let narrow = Object {
        ty: char(),
        place: ObjectPlace::Bits(Addr::new(AT), BitField { offset: 0, size: 4 }),
    };
    assert_eq!(narrow.number(&process).unwrap().unsigned(), Some(0xfd));
}

/// `scalar_storage_order("big-endian")` of gcc: the bits count from the highest one of the first byte.
#[test]
fn a_bit_field_in_the_other_order_is_read_in_it() {
    let swapped = kcore_symbols::BaseType { encoding: Encoding::Signed, bits: None, swapped: true };
    let ty = named("be32", 4, TypeKind::Base(swapped));
    let bits = |offset, size| MemberPlace::Bits(BitField { offset, size });
    let members = vec![member("u", &ty, bits(0, 12)), member("v", &ty, bits(12, 20))];
    let process = at(&[0xab, 0xc1, 0x23, 0x45]);
    let found = fields(process.content(&structure("s", 4, members), AT));
    assert_eq!(number(&found[0].value.content), Some(0xabc - 0x1000));
    assert_eq!(number(&found[1].value.content), Some(0x12345));
}

#[test]
fn one_byte_that_is_not_there_hides_its_own_member_alone() {
    let members = vec![
        member("a", &int(), MemberPlace::Offset(0)),
        member("b", &int(), MemberPlace::Offset(4)),
    ];
    let ty = structure("s", 8, members);
    let mut process = at(&[1, 0, 0, 0, 2, 0, 0, 0]);
    process.lost = AT + 6..AT + 8;
    let found = fields(process.content(&ty, AT));
    assert_eq!(number(&found[0].value.content), Some(1));
    assert!(matches!(&found[1].value.content, Content::Absent(Absent::NotDumped(_))));
}

#[test]
fn a_structure_without_any_byte_is_absent_as_a_whole() {
    let ty = structure("s", 8, vec![member("a", &int(), MemberPlace::Offset(0))]);
    let nowhere = at(&[]).content(&ty, 0x5000);
    assert!(matches!(nowhere, Content::Absent(Absent::Unreadable(_))), "{nowhere:?}");
}

#[test]
fn anonymous_members_have_no_name_and_are_looked_into() {
    let inner = structure("", 8, vec![member("deep", &int(), MemberPlace::Offset(4))]);
    let ty = structure("s", 12, vec![member("", &inner, MemberPlace::Offset(4))]);
    let process = at(&[0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0]);
    assert_eq!(fields(process.content(&ty, AT))[0].name, None);
    let found = Object::at(ty.clone(), Addr::new(AT)).member(&process, "deep").unwrap();
    assert_eq!(found.number(&process).unwrap().value(), Some(9));
    let missing = Object::at(ty, Addr::new(AT)).member(&process, "other").unwrap_err();
    assert_eq!(missing.to_string(), "failed to find member other of struct s");
}

#[test]
fn a_structure_that_is_only_declared_is_defined_elsewhere_or_not_at_all() {
    let mut node =
        structure("s", 4, vec![member("a", &int(), MemberPlace::Offset(0))]).node().clone();
    let defined = Type::made(node.clone());
    node = TypeNode {
        is_declaration: true,
        size: None,
        kind: TypeKind::Composite(Box::new(composite(Vec::new()))),
        ..node
    };
    let declared = Type::made(node);
    let mut process = at(&[3, 0, 0, 0]);
    let content = process.content(&declared, AT);
    assert!(
        matches!(&content, Content::Absent(Absent::Unreadable(why)) if why.contains("only declared"))
    );
    process.defined.push(defined);
    assert_eq!(fields(process.content(&declared, AT)).len(), 1);
}

#[test]
fn arrays_of_characters_are_text_up_to_their_nul() {
    let process = at(b"leaf\0\0\0\0xyz");
    assert_eq!(text(&process.content(&char().array(Some(8)), AT)), Some(("leaf", false)));
    // A full one has no NUL; what lies behind it does not count.
    assert_eq!(text(&process.content(&char().array(Some(3)), AT)), Some(("lea", false)));
    let binary = at(&[1, 2, 0x80, 0xff]);
    assert!(matches!(binary.content(&char().array(Some(4)), AT), Content::Elements(_)));
}

#[test]
fn arrays_of_characters_with_more_behind_their_nul_are_all_their_bytes() {
    let bytes = |held: &[u8]| match at(held).content(&char().array(Some(8)), AT) {
        Content::Bytes(bytes) => Some(bytes.to_vec()),
        _ => None,
    };
    assert_eq!(bytes(b"leaf\0xyz"), Some(b"leaf\0xyz".to_vec()));
    assert_eq!(bytes(b"\0\0\x80?\0\0\0\0"), Some(b"\0\0\x80?".to_vec()));
    assert_eq!(bytes(b"\0\0\0\0\0\0\0\0"), None);
    // One of which a part is missing tells which.
    let short = at(b"ab\0cd").content(&char().array(Some(8)), AT);
    let Content::Elements(elements) = short else { panic!("{short:?}") };
    assert_eq!(elements.values[3].content, Content::Character(u32::from(b'c')));
    assert!(matches!(elements.values[5].content, Content::Absent(_)));
    let short = at(b"ab\0\0").content(&char().array(Some(8)), AT);
    assert_eq!(text(&short), Some(("ab", false)));
}

#[test]
fn wide_text_is_decoded() {
    let units: Vec<u8> = "né\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let ty = base("char16_t", 2, Encoding::Unicode).array(Some(3));
    assert_eq!(text(&at(&units).content(&ty, AT)), Some(("né", false)));
}

#[test]
fn arrays_of_arrays_end_at_the_limit_of_elements() {
    let rows = int().array(Some(2)).array(Some(3));
    let bytes: Vec<u8> = (1..=6_i32).flat_map(i32::to_le_bytes).collect();
    let Content::Elements(all) = at(&bytes).content(&rows, AT) else { panic!() };
    let Content::Elements(last) = &all.values[2].content else { panic!() };
    assert_eq!(number(&last.values[1].content), Some(6));
    let limits = Limits { elements: Some(1), ..Limits::default() };
    let Content::Elements(cut) = at(&bytes).value(&rows, AT, &limits).content else { panic!() };
    assert_eq!((cut.values.len(), cut.total), (1, Some(3)));
}

#[test]
fn dimensions_that_the_entry_holds_together_are_told_apart() {
    let array = kcore_symbols::ArrayType {
        element: int().link(),
        dimensions: vec![Dimension::Count(2), Dimension::Count(2)],
        layout: None,
        stride: None,
        is_vector: false,
    };
    let ty = Type::made(TypeNode {
        id: None,
        name: None,
        size: None,
        is_declaration: false,
        kind: TypeKind::Array(array),
    });
    let bytes: Vec<u8> = (1..=4_i32).flat_map(i32::to_le_bytes).collect();
    let process = at(&bytes);
    let object = Object::at(ty, Addr::new(AT));
    let element = object.index(&process, 1).unwrap().index(&process, 0).unwrap();
    assert_eq!(element.number(&process).unwrap().value(), Some(3));
}

#[test]
fn a_flexible_array_has_an_unknown_number_of_elements() {
    let Content::Elements(found) = at(&[1; 8]).content(&int().array(None), AT) else { panic!() };
    assert_eq!((found.values.len(), found.total), (0, None));
}

#[test]
fn limits_of_depth_elide_what_lies_deeper() {
    let inner = structure("in", 4, vec![member("a", &int(), MemberPlace::Offset(0))]);
    let outer = structure("out", 4, vec![member("i", &inner, MemberPlace::Offset(0))]);
    let process = at(&[1, 0, 0, 0]);
    let depth = |depth| Limits { depth: Some(depth), ..Limits::default() };
    assert_eq!(process.value(&outer, AT, &depth(0)).content, Content::Elided);
    let found = fields(process.value(&outer, AT, &depth(1)).content);
    assert_eq!(found[0].value.content, Content::Elided);
}

#[test]
fn no_more_values_are_made_than_the_limit_says() {
    let limits = Limits { values: 4, elements: None, ..Limits::default() };
    let huge = int().array(Some(1 << 40));
    let Content::Elements(found) = at(&[0; 64]).value(&huge, AT, &limits).content else { panic!() };
    assert_eq!((found.values.len(), found.total), (3, Some(1 << 40)));
}

#[test]
fn pointers_name_symbols_and_show_text() {
    let bytes = [0x2000_u64.to_le_bytes().as_slice()].concat();
    let mut process =
        MadeProcess::new(&[(AT, &bytes), (0x2000, b"first\0"), (0x3000, b"\x01\x02\0")]);
    process.symbols = vec![(0x1ff0, "text")];
    let found = pointer(process.content(&char().pointer(8), AT));
    assert_eq!(found.to, Some(Addr::new(0x2000)));
    assert_eq!(found.symbol.map(|symbol| symbol.offset), Some(0x10));
    assert_eq!(found.text.map(|text| text.text), Some("first".into()));
    assert_eq!(found.pointee, None);
    let binary = MadeProcess::new(&[(AT, &0x3000_u64.to_le_bytes()), (0x3000, b"\x01\x02\0")]);
    assert_eq!(pointer(binary.content(&char().pointer(8), AT)).text, None);
}

#[test]
fn long_text_behind_a_pointer_is_cut() {
    let long = "x".repeat(300);
    let process = MadeProcess::new(&[(AT, &0x2000_u64.to_le_bytes()), (0x2000, long.as_bytes())]);
    let found = pointer(process.content(&char().pointer(8), AT)).text.unwrap();
    assert_eq!((found.text.len(), found.is_cut), (255, true));
}

fn reference(to: &Type) -> Type {
    named("ref", 8, TypeKind::Pointer(PointerType { kind: PointerKind::Reference, to: to.link() }))
}

#[test]
fn references_stand_for_what_they_refer_to() {
    let process = MadeProcess::new(&[(AT, &0x2000_u64.to_le_bytes()), (0x2000, &[5, 0, 0, 0])]);
    let found = pointer(process.content(&reference(&int()), AT));
    match found.pointee {
        Some(Pointee::Value(value)) => assert_eq!(number(&value.content), Some(5)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_pointer_shows_the_true_class_of_its_object() {
    let table = named(
        "vptr",
        8,
        TypeKind::Base(kcore_symbols::BaseType {
            encoding: Encoding::Unsigned,
            bits: None,
            swapped: false,
        }),
    );
    let shape = structure("Shape", 8, vec![member("_vptr.Shape", &table, MemberPlace::Offset(0))]);
    let mut derived = composite(vec![member("r", &int(), MemberPlace::Offset(16))]);
    derived.bases.push(BaseClass {
        ty: shape.link(),
        place: MemberPlace::Offset(8),
        is_virtual: false,
    });
    let circle = named("Circle", 24, TypeKind::Composite(Box::new(derived)));
    // The base lies 8 bytes in; the word two before its table says so.
    let words =
        |words: &[u64]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let tables = words(&[8_u64.wrapping_neg(), 0, 0]);
    let object = words(&[0, 0x3010, 42]);
    let mut process =
        MadeProcess::new(&[(AT, &words(&[0x2008])), (0x2000, &object), (0x3000, &tables)]);
    process.tables.push((0x3010, circle.clone()));
    let found = pointer(process.content(&shape.pointer(8), AT));
    assert_eq!(found.dynamic, Some(circle.clone()));
    let whole = Object::at(shape.clone(), Addr::new(0x2008)).whole(&process);
    assert_eq!((whole.address(), whole.ty), (Some(Addr::new(0x2000)), circle));
    let found = pointer(process.content(&reference(&shape), AT));
    let Some(Pointee::Value(value)) = found.pointee else { panic!() };
    assert_eq!(fields(value.content).len(), 2);
}

#[test]
fn the_place_of_a_virtual_base_follows_from_the_table() {
    // Of clang: the offset stands 24 bytes before the table's address.
    let code: Arc<[u8]> = Arc::from([0x12, 0x06, 0x08, 24, 0x1c, 0x06, 0x22].as_slice());
    let inner = structure("Base", 4, vec![member("b", &int(), MemberPlace::Offset(0))]);
    let mut derived = composite(Vec::new());
    derived.bases.push(BaseClass {
        ty: inner.link(),
        place: MemberPlace::Expression(code),
        is_virtual: true,
    });
    let ty = named("D", 16, TypeKind::Composite(Box::new(derived)));
    let words =
        |words: &[u64]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let process = MadeProcess::new(&[(AT, &words(&[0x2018, 77])), (0x2000, &words(&[8, 0, 0]))]);
    let object = Object::at(ty, Addr::new(AT));
    assert_eq!(object.member(&process, "b").unwrap().number(&process).unwrap().value(), Some(77));
    // An expression without end is none.
    let endless: Arc<[u8]> = Arc::from([0x2f, 0xfd, 0xff].as_slice());
    let mut derived = composite(Vec::new());
    derived.bases.push(BaseClass {
        ty: inner.link(),
        place: MemberPlace::Expression(endless),
        is_virtual: true,
    });
    let ty = named("E", 16, TypeKind::Composite(Box::new(derived)));
    let found = fields(process.content(&ty, AT));
    assert!(matches!(found[0].value.content, Content::Absent(Absent::Unreadable(_))));
}

#[test]
fn pointers_to_members_are_named() {
    let class = structure("D", 8, vec![member("d", &int(), MemberPlace::Offset(4))]);
    let data = MemberPointerType { to: int().link(), class: class.link() };
    let data = named("pm", 8, TypeKind::MemberPointer(data));
    assert_eq!(at(&4_u64.to_le_bytes()).content(&data, AT), Content::Other("&D::d".to_owned()));
    let none = at(&[0xff; 8]).content(&data, AT);
    assert_eq!(none, Content::Other("nullptr".to_owned()));
    let function =
        FunctionType { returns: TypeLink::Void, parameters: Vec::new(), is_variadic: false };
    let function = named("f", 1, TypeKind::Function(function));
    let code = MemberPointerType { to: function.link(), class: class.link() };
    let code = named("pf", 16, TypeKind::MemberPointer(code));
    let virtual_second = [17_u64, 0].map(u64::to_le_bytes).concat();
    assert_eq!(
        at(&virtual_second).content(&code, AT),
        Content::Other("virtual function 2".to_owned())
    );
    let mut process = at(&[0x4000_u64, 0].map(u64::to_le_bytes).concat());
    process.symbols = vec![(0x4000, "D::f")];
    let Content::Function(Some(symbol)) = process.content(&code, AT) else { panic!() };
    assert_eq!(&*symbol.name, "D::f");
}

fn choice(values: Vec<(u128, u128)>, name: &str, data: &Type) -> Variant {
    Variant { values, members: vec![member(name, data, MemberPlace::Offset(0))] }
}

/// rustc writes the discriminant -5 of `repr(i16)` as one byte, 0xfb.
#[test]
fn a_discriminant_without_its_highest_bytes_is_known_by_the_rest() {
    let unit = structure("U", 2, Vec::new());
    let short = base("i16", 2, Encoding::Signed);
    let chosen = |bytes: &[u8], negative: &[u128]| {
        let negative = negative.iter().map(|value| choice(vec![(*value, *value)], "Neg", &unit));
        let mut whole = composite(Vec::new());
        whole.variants = Some(VariantPart {
            discriminant: Some(member("", &short, MemberPlace::Offset(0))),
            variants: negative.chain([choice(vec![(7, 7)], "Pos", &unit)]).collect(),
        });
        match at(bytes).content(&named("E", 2, TypeKind::Composite(Box::new(whole))), AT) {
            Content::Variant(variant) => Some(variant.name.to_string()),
            _ => None,
        }
    };
    assert_eq!(chosen(&[0xfb, 0xff], &[0xfb]).as_deref(), Some("E::Neg"));
    assert_eq!(chosen(&[0xfb, 0xff], &[0xfffb]).as_deref(), Some("E::Neg"));
    assert_eq!(chosen(&[7, 0], &[0xfb]).as_deref(), Some("E::Pos"));
    assert_eq!(chosen(&[0xfb, 1], &[0xfb]), None);
    assert_eq!(chosen(&[0xfb, 0xff], &[0xfb, 0xfb]), None, "two would be meant");
}

#[test]
fn the_discriminant_chooses_the_variant() {
    let some = structure("Some", 8, vec![member("__0", &int(), MemberPlace::Offset(4))]);
    let none = structure("None", 8, Vec::new());
    let mut whole = composite(Vec::new());
    whole.variants = Some(VariantPart {
        discriminant: Some(member("", &base("u32", 4, Encoding::Unsigned), MemberPlace::Offset(0))),
        variants: vec![choice(vec![(0, 0)], "None", &none), choice(Vec::new(), "Some", &some)],
    });
    let ty = named("Option<i32>", 8, TypeKind::Composite(Box::new(whole)));
    let Content::Variant(none) = at(&[0; 8]).content(&ty, AT) else { panic!() };
    assert_eq!((&*none.name, none.fields.len()), ("None", 0));
    let Content::Variant(some) = at(&[9, 0, 0, 0, 5, 0, 0, 0]).content(&ty, AT) else { panic!() };
    assert_eq!((&*some.name, number(&some.fields[0].value.content)), ("Some", Some(5)));
    let object = Object::at(ty, Addr::new(AT));
    let process = at(&[9, 0, 0, 0, 5, 0, 0, 0]);
    let held = object.member(&process, "Some").unwrap().member(&process, "0").unwrap();
    assert_eq!(held.number(&process).unwrap().value(), Some(5));
}

#[test]
fn a_discriminant_that_chooses_nothing_is_said_to() {
    let unit = structure("A", 4, Vec::new());
    let mut whole = composite(Vec::new());
    whole.variants = Some(VariantPart {
        discriminant: Some(member("", &base("u32", 4, Encoding::Unsigned), MemberPlace::Offset(0))),
        variants: vec![choice(vec![(0, 1), (u128::MAX, u128::MAX)], "A", &unit)],
    });
    let ty = named("E", 4, TypeKind::Composite(Box::new(whole)));
    let Content::Variant(found) = at(&[1, 0, 0, 0]).content(&ty, AT) else { panic!() };
    assert_eq!(&*found.name, "E::A");
    let content = at(&[7, 0, 0, 0]).content(&ty, AT);
    assert!(matches!(&content, Content::Absent(Absent::Unreadable(why)) if why.contains('7')));
}

fn in_pieces(ty: Type, pieces: Vec<Piece>) -> Object {
    let size = pieces.iter().map(|piece| piece.size).sum();
    let bits = BitField { offset: 0, size };
    Object { ty, place: ObjectPlace::Pieces { pieces: pieces.into(), bits } }
}

fn piece(size: u64, source: PieceSource) -> Piece {
    Piece { size, source }
}

#[test]
fn objects_in_pieces_are_put_together() {
    let members = vec![
        member("a", &int(), MemberPlace::Offset(0)),
        member("b", &int(), MemberPlace::Offset(4)),
        member("c", &int(), MemberPlace::Offset(8)),
        member("d", &base("short", 2, Encoding::Signed), MemberPlace::Offset(13)),
    ];
    let ty = structure("s", 16, members);
    let process = at(&[3, 0, 0, 0, 0x12, 0x34, 0x56, 0x78]);
    let object = in_pieces(
        ty,
        vec![
            piece(32, PieceSource::Bytes(Arc::from([1, 0, 0, 0, 9, 9].as_slice()))),
            piece(32, PieceSource::Absent(Absent::OptimizedOut)),
            piece(64, PieceSource::Memory(Addr::new(AT), 0)),
        ],
    );
    let value = object.value(&process, &Limits::default());
    assert_eq!(value.at, None);
    let found = fields(value.content);
    assert_eq!(number(&found[0].value.content), Some(1));
    assert_eq!(found[1].value.content, Content::Absent(Absent::OptimizedOut));
    assert_eq!(number(&found[2].value.content), Some(3));
    assert_eq!(number(&found[3].value.content), Some(0x5634));
}

#[test]
fn a_value_may_lie_across_pieces() {
    let object = in_pieces(
        int(),
        vec![
            piece(12, PieceSource::Bytes(Arc::from([0x34, 0x12].as_slice()))),
            piece(20, PieceSource::Bytes(Arc::from([0x01, 0x00, 0x00].as_slice()))),
        ],
    );
    let process = at(&[]);
    assert_eq!(object.number(&process).unwrap().value(), Some(0x1234 & 0xfff | 1 << 12));
    let short = in_pieces(int(), vec![piece(32, PieceSource::Bytes(Arc::from([1].as_slice())))]);
    assert!(short.number(&process).is_err());
}

#[test]
fn an_implicit_pointer_leads_to_what_lies_nowhere() {
    let target =
        in_pieces(int(), vec![piece(32, PieceSource::Bytes(Arc::from([6, 0, 0, 0].as_slice())))]);
    let object =
        in_pieces(int().pointer(8), vec![piece(64, PieceSource::Pointer(Arc::new(target)))]);
    let process = at(&[]);
    let found = pointer(object.value(&process, &Limits::default()).content);
    assert_eq!(found.to, None);
    let Some(Pointee::Value(value)) = found.pointee else { panic!() };
    assert_eq!(number(&value.content), Some(6));
    assert_eq!(object.target(&process).unwrap().number(&process).unwrap().value(), Some(6));
}

#[test]
fn navigation_says_what_is_wrong_in_the_words_of_mdb() {
    let process = at(&[0; 8]);
    let object = Object::at(int(), Addr::new(AT));
    assert_eq!(object.target(&process).unwrap_err().to_string(), "int is not a pointer type");
    let error = object.member(&process, "m").unwrap_err();
    assert_eq!(error.to_string(), "int is not a struct or union type");
    let error = object.index(&process, 0).unwrap_err();
    assert_eq!(error.to_string(), "cannot index into non-array, non-pointer type int");
    let void = Object::at(Type::void().pointer(8), Addr::new(AT));
    assert_eq!(void.target(&process).unwrap_err().to_string(), "cannot dereference void type");
}

#[test]
fn types_without_end_do_not_hang() {
    // A structure that begins with itself, as damaged debug information has it, unfolded a thousand times.
    let mut ty = structure("s", 4, vec![member("a", &int(), MemberPlace::Offset(0))]);
    for _ in 0..1000 {
        ty = structure("s", 4, vec![member("s", &ty, MemberPlace::Offset(0))]);
    }
    let process = at(&[1, 0, 0, 0]);
    let mut content = process.content(&ty, AT);
    let mut depth = 0;
    while let Content::Fields(mut fields) = content {
        content = fields.remove(0).value.content;
        depth += 1;
    }
    assert!(depth < 1000);
    assert_eq!(content, Content::Elided);
}
