//! Types that refer to themselves, and sizes and counts that no memory has.

use crate::assembly::{Unit, V, at, tag};
use crate::run::ask;

/// A typedef, or any other type that is but another one's name.
fn alias(unit: &mut Unit, label: &str, tag: u16, name: Option<&str>, to: &str) {
    let mut attributes = vec![(at::TYPE, V::To(to))];
    attributes.extend(name.map(|name| (at::NAME, V::Text(name))));
    unit.leaf(label, tag, &attributes);
}

fn array(unit: &mut Unit, label: &str, of: &str, bounds: &[(u16, V<'_>)]) {
    unit.open(label, tag::ARRAY, &[(at::TYPE, V::To(of))]).leaf("", tag::SUBRANGE, bounds).close();
}

#[test]
fn typedefs_that_go_in_a_circle() {
    let mut unit = Unit::default();
    alias(&mut unit, "a", tag::TYPEDEF, Some("circle_a"), "b");
    alias(&mut unit, "b", tag::TYPEDEF, Some("circle_b"), "c");
    alias(&mut unit, "c", tag::CONST, None, "d");
    alias(&mut unit, "d", tag::VOLATILE, None, "a");
    unit.variable("thing", "a").data("thing: .quad 1");
    ask(&unit, "::sizeof circle_a").complains("circle_a");
    ask(&unit, "::print thing; thing::print circle_b; ::print -t circle_a; thing::whattype");
}

#[test]
fn pointers_to_nothing_but_themselves() {
    let mut unit = Unit::default();
    alias(&mut unit, "p", tag::POINTER, None, "p");
    unit.structure_of("holder", 8, "p", 0);
    unit.variable("thing", "holder").data("thing: .quad thing");
    ask(
        &unit,
        "::print -t struct holder; ::print -T thing; ::print thing first; ::sizeof 'struct holder'",
    )
    .says("= 8");
}

#[test]
fn a_structure_that_holds_itself() {
    let mut unit = Unit::default();
    unit.structure_of("russian", 16, "russian", 0).structure_of("doll_a", 8, "doll_b", 0);
    unit.structure_of("doll_b", 8, "doll_a", 0);
    unit.variable("thing", "russian").variable("doll", "doll_a");
    unit.data("thing: .quad 1, 2\ndoll: .quad 3");
    ask(&unit, "::print thing; ::print doll; ::print -s 0t1000000 thing; ::print struct doll_a");
    ask(&unit, "::sizeof 'struct russian'").says("0x10");
    ask(&unit, "::offsetof 'struct russian' first.first.first").says("= 0");
}

#[test]
fn a_class_that_inherits_from_itself() {
    let mut unit = Unit::default();
    let name = [(at::NAME, V::Text("Ouroboros")), (at::BYTE_SIZE, V::U(8))];
    let base = [(at::TYPE, V::To("self")), (at::MEMBER_LOCATION, V::U(0))];
    unit.open("self", tag::CLASS, &name).leaf("", tag::INHERITANCE, &base).close();
    unit.variable("thing", "self").data("thing: .quad 1");
    ask(
        &unit,
        "::print thing; ::print thing nowhere; ::offsetof Ouroboros nowhere; thing::whattype",
    );
}

#[test]
fn members_beyond_the_structure_and_beyond_all_memory() {
    let mut unit = Unit::default();
    unit.basic().structure_of("liar", 8, "int", 1 << 40).structure_of("worse", 8, "int", u64::MAX);
    unit.variable("thing", "liar")
        .variable("other", "worse")
        .data("thing: .quad 1\nother: .quad 2");
    ask(&unit, "::print thing").says("unreadable");
    ask(&unit, "::print other; ::print -ah struct worse; ::offsetof 'struct worse' first");
}

#[test]
fn arrays_of_more_than_there_can_be() {
    let mut unit = Unit::default();
    unit.basic().structure_of("big", 1 << 40, "int", 0);
    array(&mut unit, "huge", "int", &[(at::COUNT, V::U(u64::MAX))]);
    array(&mut unit, "huge_of_big", "big", &[(at::COUNT, V::U(1 << 60))]);
    array(&mut unit, "minus", "int", &[(at::UPPER_BOUND, V::S(-5))]);
    array(&mut unit, "turned", "int", &[(at::LOWER_BOUND, V::S(10)), (at::UPPER_BOUND, V::S(-10))]);
    for name in ["huge", "huge_of_big", "minus", "turned"] {
        unit.variable(&format!("v_{name}"), name).data(&format!("v_{name}: .quad 7, 8, 9, 10"));
    }
    ask(&unit, "::print v_huge").says("0x7");
    ask(&unit, "::print -L v_huge ! tail -c 3");
    ask(&unit, "::print -l 0t100000000 v_huge_of_big ! tail -c 3");
    ask(&unit, "::print v_minus; ::print v_turned; ::print v_huge[0t1000000000000]; v_huge::array");
    ask(&unit, "v_huge::array int 0t99999999999 | ::head -3");
}

#[test]
fn arrays_of_things_without_a_size() {
    let mut unit = Unit::default();
    let nothing = [(at::NAME, V::Text("nothing")), (at::BYTE_SIZE, V::U(0))];
    unit.leaf("nothing", tag::STRUCTURE, &nothing);
    array(&mut unit, "endless", "nothing", &[(at::COUNT, V::U(u64::MAX >> 1))]);
    array(&mut unit, "of_endless", "endless", &[(at::COUNT, V::U(u64::MAX >> 1))]);
    unit.variable("thing", "of_endless").data("thing: .quad 7");
    ask(&unit, "::print thing; ::print -L thing; thing::array; ::print -L -s 0t100 thing");
}

#[test]
fn an_array_of_arrays_of_arrays() {
    let mut unit = Unit::default();
    unit.basic();
    array(&mut unit, "a0", "char", &[(at::COUNT, V::U(2))]);
    for depth in 1..64 {
        let inner = format!("a{}", depth - 1);
        array(&mut unit, &format!("a{depth}"), &inner, &[(at::COUNT, V::U(2))]);
    }
    unit.variable("thing", "a63").data("thing: .zero 4096");
    ask(&unit, "::print thing; ::print -s 0t1000 thing; ::print -L -s 0t1000 thing");
    let mut wide = Unit::default();
    wide.basic().open("wide", tag::ARRAY, &[(at::TYPE, V::To("char"))]);
    for _ in 0..5000 {
        wide.leaf("", tag::SUBRANGE, &[(at::COUNT, V::U(16))]);
    }
    wide.close().variable("thing", "wide").data("thing: .zero 4096");
    ask(&wide, "::print thing; ::print -t thing; ::print -s 0t9000 thing");
}

#[test]
fn sizes_that_lie() {
    let mut unit = Unit::default();
    let base = |size: u64, encoding: u64| {
        [
            (at::NAME, V::Text("wide_int")),
            (at::BYTE_SIZE, V::U(size)),
            (at::ENCODING, V::U(encoding)),
        ]
    };
    unit.leaf("wide", tag::BASE, &base(1 << 60, 5)).leaf("float", tag::BASE, &base(4000, 4));
    unit.leaf("empty", tag::BASE, &base(0, 7)).leaf("complex", tag::BASE, &base(3, 3));
    unit.leaf("bool", tag::BASE, &base(1 << 33, 2)).leaf("odd", tag::BASE, &base(4, 0x77));
    unit.leaf("pointer", tag::POINTER, &[(at::BYTE_SIZE, V::U(1 << 50)), (at::TYPE, V::To("odd"))]);
    for name in ["wide", "float", "empty", "complex", "bool", "odd", "pointer"] {
        unit.variable(&format!("v_{name}"), name).data(&format!("v_{name}: .quad 7"));
        ask(&unit, &format!("::print v_{name}; ::print -d v_{name}; ::print -t v_{name}"));
    }
}

#[test]
fn bit_fields_that_lie() {
    let mut unit = Unit::default();
    unit.basic().open(
        "bits",
        tag::STRUCTURE,
        &[(at::NAME, V::Text("bits")), (at::BYTE_SIZE, V::U(8))],
    );
    for (name, size, offset) in
        [("long", 1 << 40, 0), ("far", 3, 1 << 62), ("both", u64::MAX, u64::MAX), ("none", 0, 3)]
    {
        let attributes = [
            (at::NAME, V::Text(name)),
            (at::TYPE, V::To("int")),
            (at::BIT_SIZE, V::U(size)),
            (at::DATA_BIT_OFFSET, V::U(offset)),
        ];
        unit.leaf("", tag::MEMBER, &attributes);
    }
    unit.close().variable("thing", "bits").data("thing: .quad 7");
    ask(&unit, "::print thing; ::print -ath struct bits; ::offsetof 'struct bits' far");
    ask(&unit, "::print thing long; ::print thing both; ::printf '%d\\n' 'struct bits' far");
}

#[test]
fn an_enumeration_of_a_hundred_thousand_names() {
    let mut unit = Unit::default();
    let attributes =
        [(at::NAME, V::Text("many")), (at::BYTE_SIZE, V::U(8)), (at::TYPE, V::To("long"))];
    unit.basic().open("many", tag::ENUMERATION, &attributes);
    for number in 0..100_000_u64 {
        let name = format!("NAME_{number}");
        let value = V::U(if number % 2 == 0 { number } else { u64::MAX - number });
        unit.leaf("", tag::ENUMERATOR, &[(at::NAME, V::Text(&name)), (at::CONST_VALUE, value)]);
    }
    unit.close().variable("thing", "many").data("thing: .quad 4");
    ask(&unit, "::print thing").says("NAME_4");
    ask(&unit, "::enum many NAME_99998").says("NAME_99998");
}

#[test]
fn a_variant_part_whose_discriminant_is_itself() {
    let mut unit = Unit::default();
    unit.basic().open(
        "shape",
        tag::STRUCTURE,
        &[(at::NAME, V::Text("Shape")), (at::BYTE_SIZE, V::U(16))],
    );
    unit.open("part", tag::VARIANT_PART, &[(at::DISCR, V::To("part"))]);
    for value in 0..3 {
        let member = [
            (at::NAME, V::Text("Self")),
            (at::TYPE, V::To("shape")),
            (at::MEMBER_LOCATION, V::U(0)),
        ];
        unit.open("", tag::VARIANT, &[(at::DISCR_VALUE, V::U(value))]);
        unit.leaf("", tag::MEMBER, &member).close();
    }
    unit.close().close().variable("thing", "shape").data("thing: .quad 1, 2");
    ask(&unit, "::print thing; ::print -t thing; ::print struct Shape; ::sizeof 'struct Shape'");
}

#[test]
fn a_location_of_a_member_that_never_ends() {
    let mut unit = Unit::default();
    unit.basic().open(
        "looping",
        tag::STRUCTURE,
        &[(at::NAME, V::Text("looping")), (at::BYTE_SIZE, V::U(8))],
    );
    // DW_OP_skip to itself.
    let forever = V::Expression(".byte 0x2f\n.short -3");
    let attributes =
        [(at::NAME, V::Text("m")), (at::TYPE, V::To("int")), (at::MEMBER_LOCATION, forever)];
    unit.leaf("", tag::MEMBER, &attributes).close();
    array(&mut unit, "counted", "int", &[(at::COUNT, V::Expression(".byte 0x2f\n.short -3"))]);
    array(&mut unit, "named", "int", &[(at::COUNT, V::To("variable_length"))]);
    unit.located("length", "long", ".byte 0x2f\n.short -3");
    unit.variable("thing", "looping").variable("some", "counted").variable("more", "named");
    unit.data("thing: .quad 7\nsome: .quad 8\nmore: .quad 9");
    ask(&unit, "::print thing; ::print some; ::print more; ::print length; ::print struct looping");
    ask(&unit, "::offsetof 'struct looping' m; thing::print struct looping m");
}
