//! Locations and other expressions that do not end, recurse, or read where nothing is.

use crate::assembly::{Unit, V, at, tag};
use crate::run::ask;

/// A function at the pc, with a frame base and locals by their locations.
fn function(frame_base: &str, locals: &[(&str, &str)]) -> Unit {
    let mut unit = Unit::default();
    let attributes = [
        (at::NAME, V::Text("hostile")),
        (at::LOW_PC, V::Symbol("_start")),
        (at::HIGH_PC, V::U(64)),
        (at::FRAME_BASE, V::Expression(frame_base)),
    ];
    unit.basic().open("function", tag::SUBPROGRAM, &attributes);
    for (name, location) in locals {
        let attributes = [
            (at::NAME, V::Text(name)),
            (at::TYPE, V::To("long")),
            (at::LOCATION, V::Expression(location)),
        ];
        unit.leaf(&format!("local_{name}"), tag::PARAMETER, &attributes);
    }
    unit.close();
    unit
}

/// `DW_OP_call_frame_cfa`.
const CFA: &str = ".byte 0x9c";

#[test]
fn expressions_that_do_not_end() {
    let locals = [
        ("skips", ".byte 0x2f\n.short -3"),
        ("grows", ".byte 0x31, 0x12, 0x2f\n.short -4"),
        ("branches", ".byte 0x31, 0x28\n.short -4"),
        ("jumps_out", ".byte 0x2f\n.short 30000"),
        ("jumps_before", ".byte 0x2f\n.short -30000"),
    ];
    let unit = function(CFA, &locals);
    let answer = ask(&unit, "::locals; ::stack -v; $C");
    for (name, _) in locals {
        assert!(answer.out.contains(name), "no {name} in\n{}", answer.out);
    }
}

#[test]
fn expressions_that_read_where_nothing_is() {
    let unit = function(
        CFA,
        &[
            ("wild", ".byte 3\n.quad 0xdead000000000000"),
            ("twice", ".byte 0x0e\n.quad 0xdead0000\n.byte 0x06, 0x06"),
            ("underflow", ".byte 0x22, 0x22, 0x22"),
            ("by_zero", ".byte 0x31, 0x30, 0x1b"),
            ("unknown", ".byte 0xff, 0xfe"),
            ("no_register", ".byte 0x90\n.uleb128 0x7fffffff"),
            ("cut", ".byte 0x03, 1, 2"),
            ("deref_size", ".byte 0x31, 0x94, 0xff"),
            ("deep_pick", ".byte 0x15, 0xff"),
        ],
    );
    ask(&unit, "::locals").says("wild");
    ask(&unit, "::stack -v; $C; ::frame -v");
}

#[test]
fn a_frame_base_that_stands_on_itself() {
    let unit = function(".byte 0x91, 0", &[("local", ".byte 0x91, 0x10")]);
    ask(&unit, "::locals; ::stack -v").says("local");
}

#[test]
fn entry_values_within_entry_values() {
    let nested = (0..200).fold(".byte 0x50".to_owned(), |inner, level| {
        format!(".byte 0xa3\n.uleb128 .Le{level}-.Ls{level}\n.Ls{level}:\n{inner}\n.Le{level}:")
    });
    // With room for the length to be of any size.
    let unit = function(CFA, &[("entry", &nested), ("simple", ".byte 0xa3, 1, 0x55, 0x9f")]);
    ask(&unit, "::locals; ::stack -v").says("entry");
}

#[test]
fn calls_of_expressions_that_call_themselves() {
    let mut unit = function(CFA, &[]);
    // DW_OP_call4 and DW_OP_call_ref of the variable's own entry.
    unit.located("own", "long", ".byte 0x99\n.long .Ldie_variable_own-.Lunit");
    unit.located("ping", "long", ".byte 0x99\n.long .Ldie_variable_pong-.Lunit");
    unit.located("pong", "long", ".byte 0x99\n.long .Ldie_variable_ping-.Lunit, 0x99999999");
    ask(&unit, "::print own; ::print ping; ::print pong");
}

#[test]
fn pieces_of_more_than_there_can_be() {
    let many = ".byte 0x50, 0x93, 1\n".repeat(100_000);
    let unit = function(
        CFA,
        &[
            ("huge", ".byte 0x50, 0x93\n.uleb128 0xffffffffffffffff"),
            ("many", &many),
            ("none", ".byte 0x93, 0, 0x93, 8"),
            ("bits", ".byte 0x50, 0x9d\n.uleb128 0x7fffffffffff, 0x7fffffffffff"),
            ("implicit", ".byte 0x9e\n.uleb128 0xfffffffffff\n.byte 1, 2"),
            ("short", ".byte 0x9e, 1, 7"),
        ],
    );
    ask(&unit, "::locals; ::stack -v").says("huge");
}

#[test]
fn pointers_to_what_lies_nowhere_that_go_in_a_circle() {
    let mut unit = Unit::default();
    unit.basic().leaf("pointer", tag::POINTER, &[(at::TYPE, V::To("pointer"))]);
    // DW_OP_implicit_pointer: the variable itself, and two that stand for each other.
    for (name, to) in [("own", "own"), ("ping", "pong"), ("pong", "ping")] {
        let location = format!(".byte 0xa0\n.long .Ldie_variable_{to}-.Lunit\n.byte 0");
        unit.located(name, "pointer", &location);
    }
    ask(&unit, "::print own; ::print ping; ::print -t pong; ::print *own");
}

#[test]
fn lists_of_locations_that_are_none() {
    let mut unit = Unit::default();
    let range = [(at::LOW_PC, V::Symbol("_start")), (at::HIGH_PC, V::U(64))];
    unit.basic().open("f", tag::SUBPROGRAM, &range);
    for (name, at) in [("none", 0), ("beyond", 0x7fff_ffff), ("last", u32::MAX)] {
        let attributes =
            [(at::NAME, V::Text(name)), (at::TYPE, V::To("int")), (at::LOCATION, V::Section(at))];
        unit.leaf(name, tag::VARIABLE, &attributes);
    }
    unit.close();
    ask(&unit, "::locals; ::stack -v").says("beyond");
}

#[test]
fn a_place_of_data_that_never_is() {
    let mut unit = Unit::default();
    let forever = V::Expression(".byte 0x97, 0x2f\n.short -3");
    let attributes = [(at::TYPE, V::To("int")), (at::DATA_LOCATION, forever)];
    unit.basic().open("array", tag::ARRAY, &attributes);
    unit.leaf("", tag::SUBRANGE, &[(at::COUNT, V::U(3))]).close();
    unit.variable("thing", "array").data("thing: .quad 7, 8");
    ask(&unit, "::print thing; ::print -t thing");
}
