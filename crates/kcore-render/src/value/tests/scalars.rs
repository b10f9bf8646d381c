//! Numbers, names, pointers, texts.

use kcore_dcmd::Integers;
use kcore_mem::{Addr, Fault};
use kcore_symbols::Encoding;
use kcore_values::{Absent, FloatValue, Text, WideFloat};

use super::*;

const DECIMAL: ValueStyle = ValueStyle { integers: Integers::Decimal, ..PLAIN };
const HEXADECIMAL: ValueStyle = ValueStyle { integers: Integers::Hexadecimal, ..PLAIN };

#[test]
fn integers_are_hexadecimal_or_what_was_asked_for() {
    assert_eq!(shown(&int(0, 42), PLAIN), "0x2a");
    assert_eq!(shown(&int(0, 0), PLAIN), "0");
    assert_eq!(shown(&int(0, -1), PLAIN), "0xffffffff");
    assert_eq!(shown(&int(0, 42), DECIMAL), "0t42");
    assert_eq!(shown(&int(0, 9), DECIMAL), "9");
    assert_eq!(shown(&int(0, -7), DECIMAL), "-0t7");
    let wide = |of, signed| {
        let content = Content::Integer(number(of, 128, signed));
        value(base("__int128", Encoding::Signed, 16), 0, content)
    };
    assert_eq!(shown(&wide(-1, false), DECIMAL), "0t340282366920938463463374607431768211455");
    assert_eq!(shown(&wide(i128::MIN, true), DECIMAL), format!("-0t{}", 1_u128 << 127));
    assert_eq!(shown(&bit_field(0, 3, 5, -7, true), HEXADECIMAL), "0x19");
    assert_eq!(shown(&bit_field(0, 3, 5, 25, false), DECIMAL), "0t25");
}

#[test]
fn enumerations_are_decoded() {
    let kind = || enumeration("kind", &[("LEAF", 1), ("DIR", 2), ("LINK", 3)]);
    assert_eq!(shown(&names(kind(), 0, 7), PLAIN), "7 (???)");
    assert_eq!(shown(&names(kind(), 0, 3), HEXADECIMAL), "0x3 (LINK)");
    assert_eq!(shown(&names(kind(), 0, 12), PLAIN), "0t12 (???)");
    let perm = || enumeration("perm", &[("P_READ", 1), ("P_WRITE", 2)]);
    assert_eq!(shown(&names(perm(), 0, 3), PLAIN), "0x3 (P_{READ|WRITE})");
    assert_eq!(shown(&names(perm(), 0, 0x41), PLAIN), "0x41 (P_READ|0x40)");
    assert_eq!(shown(&names(perm(), 0, 0x40), DECIMAL), "0x40 (0x40)");
}

#[test]
fn characters_are_quoted_and_escaped() {
    let character = |code| value(char_type(), 0, Content::Character(code));
    assert_eq!(shown(&character(u32::from(b'G')), PLAIN), "'G'");
    assert_eq!(shown(&character(0), PLAIN), "'\\0'");
    assert_eq!(shown(&character(10), DECIMAL), "'\\n'");
    assert_eq!(shown(&character(0xff), PLAIN), "'\\377'");
    let wide = |code| value(base("char", Encoding::Unicode, 4), 0, Content::Character(code));
    assert_eq!(shown(&wide(0xe9), PLAIN), "'é'");
    assert_eq!(shown(&wide(0x202e), PLAIN), "'\\u{202e}'");
    assert_eq!(shown(&wide(0xd800), PLAIN), "'\\u{d800}'");
}

#[test]
fn floats_have_their_sign_and_their_digits() {
    assert_eq!(shown(&float(0, 1.5), PLAIN), "+1.5000000e+00");
    let wide = WideFloat { significand: 1, power: -1, digits: 21 };
    let long = Content::Float(FloatValue { value: -0.5, size: 16, wide: Some(wide) });
    let long = value(base("long double", Encoding::Float, 16), 0, long);
    assert_eq!(shown(&long, PLAIN), "-5.00000000000000000000e-01");
    let part = |value| FloatValue { value, size: 8, wide: None };
    let complex = value(int_type(), 0, Content::Complex(part(1.0), part(-2.0)));
    assert_eq!(shown(&complex, PLAIN), "+1.0000000e+00-2.0000000e+00i");
}

#[test]
fn times_and_internet_addresses_are_read_as_such() {
    let long = base("long int", Encoding::Signed, 8);
    let at = |seconds| {
        let content = Content::Integer(number(seconds, 64, true));
        value(alias("time_t", &long), 0, content)
    };
    assert_eq!(shown(&at(1_366_394_400), PLAIN), "2013 Apr 19 18:00:00");
    assert_eq!(shown(&at(0), PLAIN), "0");
    assert_eq!(shown(&at(1_366_394_400), DECIMAL), "0t1366394400");
    let word = base("unsigned int", Encoding::Unsigned, 4);
    let host = Content::Integer(number(0x0100_007f, 32, false));
    let in_addr_t = value(alias("in_addr_t", &word), 0, host);
    assert_eq!(shown(&in_addr_t, PLAIN), "127.0.0.1");
    let in_addr = structure("in_addr", 0, vec![("s_addr", in_addr_t)]);
    assert_eq!(member("peer", &in_addr, PLAIN), "peer = 127.0.0.1");
    let byte = |of| value(word.clone(), 0, Content::Integer(number(of, 8, false)));
    let bytes = (0..16).map(|at| byte(if at == 15 { 1 } else { 0 })).collect();
    let union = structure("", 0, vec![("__u6_addr8", array(&word, 0, 16, bytes))]);
    let in6_addr = structure("in6_addr", 0, vec![("__in6_u", union)]);
    assert_eq!(shown(&in6_addr, PLAIN), "::1");
}

#[test]
fn pointers_are_symbols_addresses_and_texts() {
    let to = |at| pointer_to(&int_type(), 0, at);
    assert_eq!(shown(&to(0), PLAIN), "0");
    assert_eq!(shown(&to(5), PLAIN), "0x5");
    assert_eq!(shown(&to(0x7f00), PLAIN), "0x7f00");
    let main = with_symbol(to(0x40_1140), "main", 0x1a);
    assert_eq!(shown(&main, PLAIN), "main+0x1a");
    let plain = ValueStyle { plain_pointers: true, ..PLAIN };
    assert_eq!(shown(&with_text(main, "x", false), plain), "0x401140");
}

#[test]
fn texts_are_cut_and_made_safe() {
    let text_at = |of, is_cut| with_text(pointer_to(&char_type(), 0, 0x1000), of, is_cut);
    assert_eq!(shown(&text_at("long", true), PLAIN), "0x1000 \"long ...\"");
    assert_eq!(shown(&text_at("a\x1b[31m", false), PLAIN), "0x1000 \"a\\033[31m\"");
    let caddr = Value { ty: alias("caddr_t", &char_type().pointer(8)), ..text_at("x", false) };
    assert_eq!(shown(&caddr, PLAIN), "0x1000");
    let string = composite(Keyword::Class, "String");
    let text = Content::Text(Text::of("größe", false));
    assert_eq!(shown(&value(string, 0, text), PLAIN), "\"größe\"");
}

#[test]
fn what_is_not_there_says_why() {
    let absent = |why| shown(&value(int_type(), 0, Content::Absent(why)), PLAIN);
    let at = Addr::new(0x10);
    assert_eq!(absent(Absent::OptimizedOut), "<optimized out>");
    assert_eq!(absent(Absent::NotDumped(Fault::NotDumped(at))), "<not dumped>");
    let unreadable = Absent::from(Fault::Unmapped(at));
    assert_eq!(absent(unreadable), "<unreadable: no mapping for address 10>");
}

#[test]
fn a_type_that_nobody_defines_is_named() {
    let cookie = value(declared("cookie"), 0, Content::Elided);
    assert_eq!(member("c", &cookie, PLAIN), "c = <forward declaration of struct cookie>");
    let empty = value(declared("cookie"), 0, Content::Fields(Vec::new()));
    assert_eq!(shown(&empty, PLAIN), "; <forward declaration of struct cookie>");
}

#[test]
fn a_type_of_the_standard_library_that_nobody_defines_is_told_in_words() {
    let string = value(declared("std::basic_string"), 0, Content::Elided);
    let words = "<no debug information defines struct std::basic_string>";
    assert_eq!(member("s", &string, PLAIN), format!("s = {words}"));
    assert_eq!(shown(&string, PLAIN), words);
}

#[test]
fn bytes_behind_a_nul_are_escaped() {
    let bytes = |of: &[u8]| {
        let array = char_type().array(Some(8));
        member("c", &value(array, 0, Content::Bytes(of.into())), PLAIN)
    };
    assert_eq!(bytes(b"\0\0\x80?"), r#"c = [ "\000\000\200?" ]"#);
    // A digit behind an escape is none of it.
    assert_eq!(bytes(b"a\x001\x1b\"\n"), r#"c = [ "a\0001\033\"\n" ]"#);
    assert_eq!(bytes("ß\0x".as_bytes()), r#"c = [ "ß\000x" ]"#);
}

/// A quote or a backslash that a text has is told from one that ends it or escapes, as in C.
#[test]
fn texts_escape_quotes_and_backslashes() {
    let text = |of: &str| {
        let text = Content::Text(Text::of(of, false));
        shown(&value(char_type(), 0, text), PLAIN)
    };
    assert_eq!(text("plain"), r#""plain""#);
    assert_eq!(text(r#"a"b\c"#), r#""a\"b\\c""#);
    assert_eq!(text(""), r#""""#);
    assert_eq!(text("\\n\n\""), r#""\\n\n\"""#);
    assert_eq!(text("größe\u{202e}\""), r#""größe\u{202e}\"""#);
}
