//! The layout of MDB's `::print`, by its reference (mdb.md 12.1).

mod containers;
mod scalars;

use kcore_dcmd::{TypeNames, ValueCell, ValueStyle};
use kcore_mem::Endian;
use kcore_symbols::Keyword;
use kcore_values::{Content, Value};

use super::made::*;
use super::text;
use crate::Numbers;

const HEX: Numbers = Numbers { radix: 16, word_size: 8 };
const PLAIN: ValueStyle = ValueStyle::lines(Endian::Little);
const TYPES: ValueStyle = ValueStyle { types: TypeNames::Declared, ..PLAIN };

fn shown(value: &Value, style: ValueStyle) -> String {
    text(&ValueCell::new("", value, style), HEX)
}

fn member(path: &str, value: &Value, style: ValueStyle) -> String {
    text(&ValueCell::new(path, value, ValueStyle { joint: Some("."), ..style }), HEX)
}

#[test]
fn the_node_of_the_reference_is_laid_out_to_the_letter() {
    let expected = "\
{
    n_id = 0x2a
    n_name = 0x4008d8 \"first\"
    n_next = 0x602040
    n_kind = 3 (NODE_LINK)
    n_mode = 0x3 (READ|WRITE)
    n_tag = [ \"leaf\" ]
    n_vals = [ 0x1, 0x2, 0x3, 0 ]
    n_sub = {
        s_count = 0x7
        s_ratio = +5.0000000e-01
    }
    n_pts = [
        {
            x = 0x1
            y = 0x2
        },
        {
            x = 0x3
            y = 0x4
        },
    ]
}";
    assert_eq!(shown(&node(), PLAIN), expected);
}

#[test]
fn members_carry_their_path_addresses_and_types() {
    let style = ValueStyle { addresses: true, ..TYPES };
    assert_eq!(member("n_id", &int(0x60_2010, 0x2a), style), "602010 int n_id = 0x2a");
    let expected = "\
602048 struct sub n_sub = {
    602048 int n_sub.s_count = 0x7
    60204c float n_sub.s_ratio = +5.0000000e-01
}";
    assert_eq!(member("n_sub", &sub(), style), expected);
    let arrow = ValueStyle { joint: Some("->"), ..PLAIN };
    let through = text(&ValueCell::new("n_next", &sub(), arrow), HEX);
    assert_eq!(through.lines().nth(1), Some("    n_next->s_count = 0x7"));
}

#[test]
fn names_without_a_joint_stay_short() {
    let cell = text(&ValueCell::new("sub", &sub(), PLAIN.indented(4)), HEX);
    let expected = "    sub = {\n        s_count = 0x7\n        s_ratio = +5.0000000e-01\n    }";
    assert_eq!(cell, expected);
}

#[test]
fn a_layout_has_names_and_no_values() {
    let style = ValueStyle { values: false, ..TYPES };
    assert_eq!(member("n_id", &int(0, 1), style), "int n_id");
    let expected = "struct sub {\n    int s_count\n    float s_ratio\n}";
    assert_eq!(shown(&sub(), style), expected);
    let bare = ValueStyle { values: false, ..PLAIN };
    assert_eq!(shown(&sub(), bare), "{\n    s_count\n    s_ratio\n}");
}

#[test]
fn the_asterisk_of_a_pointer_touches_its_name() {
    let node = composite(Keyword::Struct, "node");
    let next = pointer_to(&node, 0x10, 0x20);
    assert_eq!(member("n_next", &next, TYPES), "struct node *n_next = 0x20");
    assert_eq!(shown(&next, TYPES), "struct node * 0x20");
}

#[test]
fn typedefs_show_what_they_stand_for() {
    let style = ValueStyle { types: TypeNames::WithBase, ..PLAIN };
    let id = alias("id_t", &int_type());
    let value = Value { ty: id, ..int(0x10, 1) };
    assert_eq!(member("id", &value, style), "id_t <<int>> id = 0x1");
    assert_eq!(member("id", &int(0x10, 1), style), "int id = 0x1");
}

#[test]
fn bit_fields_show_where_they_begin_and_how_wide_they_are() {
    let style = ValueStyle { addresses: true, ..TYPES };
    let field = bit_field(0x1001, 3, 5, 7, false);
    assert_eq!(member("f", &field, style), "1001.3 unsigned int f :5 = 0x7");
    assert_eq!(member("f", &bit_field(0x10, 0, 5, -7, true), PLAIN), "f = -0t7");
}

#[test]
fn anonymous_members_are_called_so() {
    let inner = structure("", 0, vec![("x", int(0, 1))]);
    let outer = structure("outer", 0, vec![("", inner)]);
    let expected = "{\n    (anon) = {\n        x = 0x1\n    }\n}";
    assert_eq!(shown(&outer, PLAIN), expected);
}

#[test]
fn a_base_class_is_named_once() {
    let base = structure("base", 0, vec![("x", int(0, 1))]);
    let name = base.ty.spelled();
    let Content::Fields(mut fields) = structure("", 0, vec![("b", base)]).content else { panic!() };
    fields[0].name = Some(name.as_str().into());
    fields[0].is_base = true;
    let outer = Value { content: Content::Fields(fields), ..structure("outer", 0, vec![]) };
    let expected = format!("outer {{\n    <{name}> = {{\n        int x = 0x1\n    }}\n}}");
    assert!(shown(&outer, TYPES).ends_with(&expected), "{}", shown(&outer, TYPES));
}

#[test]
fn what_a_limit_hides_is_dots() {
    let hidden = |ty| value(ty, 0, Content::Elided);
    let sub = composite(Keyword::Struct, "sub");
    assert_eq!(member("s", &hidden(sub.clone()), PLAIN), "s = { ... }");
    assert_eq!(member("v", &hidden(int_type().array(Some(4))), PLAIN), "v = [ ... ]");
    let four = array(&int_type(), 0, 4, vec![int(0, 1), int(4, 2)]);
    assert_eq!(member("v", &four, PLAIN), "v = [ 0x1, 0x2, ... ]");
    assert_eq!(member("v", &array(&int_type(), 0, 4, vec![]), PLAIN), "v = [ ... ]");
    let one = structure("sub", 0, vec![("x", int(0, 1))]);
    let cut = array(&sub, 0, 4, vec![one]);
    let expected = "v = [\n    {\n        x = 0x1\n    },\n... ]";
    assert_eq!(member("v", &cut, PLAIN), expected);
}

#[test]
fn arrays_of_arrays_have_a_line_each() {
    let row = |at, a, b| array(&int_type(), at, 2, vec![int(at, a), int(at + 4, b)]);
    let grid = array(&int_type().array(Some(2)), 0, 2, vec![row(0, 1, 2), row(8, 3, 4)]);
    let expected = "grid = [\n    [ 0x1, 0x2 ]\n    [ 0x3, 0x4 ]\n]";
    assert_eq!(member("grid", &grid, PLAIN), expected);
    let names = array(&char_type().array(Some(4)), 0, 1, vec![characters(0, 4, "a")]);
    assert_eq!(shown(&names, PLAIN), "[\n    [ \"a\" ]\n]");
}

#[test]
fn on_one_line_structures_are_dots() {
    let inline = ValueStyle::inline(Endian::Little);
    let cell = |name: &str, value: &Value| text(&ValueCell::new(name, value, inline), HEX);
    assert_eq!(cell("sub", &sub()), "sub={ ... }");
    assert_eq!(cell("n", &int(0, 42)), "n=0x2a");
    assert_eq!(cell("", &int(0, 42)), "0x2a");
    let text = with_text(pointer_to(&char_type(), 0, 0x1000), "x", false);
    assert_eq!(cell("s", &text), "s=0x1000 \"x\"");
}

fn text_of(of: &str) -> kcore_values::Text {
    kcore_values::Text::of(of, false)
}
