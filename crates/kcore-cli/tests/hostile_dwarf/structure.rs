//! Entries that refer to where nothing is, or to each other without end, and trees deeper than any stack.

use crate::assembly::{Unit, V, at, tag};
use crate::run::ask;

#[test]
fn references_to_no_entry() {
    let mut unit = Unit::default();
    unit.basic();
    for (name, to) in [
        ("middle", V::Offset(13)),
        ("beyond", V::Offset(0x7fff_ffff)),
        ("header", V::Offset(2)),
        ("unsigned_type", V::Signature(0x1234_5678_9abc_def0)),
        ("no_type", V::To("root_namespace")),
    ] {
        unit.leaf(name, tag::TYPEDEF, &[(at::NAME, V::Text(name)), (at::TYPE, to)]);
        unit.variable(&format!("v_{name}"), name).data(&format!("v_{name}: .quad 7"));
    }
    unit.leaf("root_namespace", tag::NAMESPACE, &[(at::NAME, V::Text("root"))]);
    for name in ["middle", "beyond", "header", "unsigned_type", "no_type"] {
        ask(&unit, &format!("::print v_{name}; ::sizeof {name}; ::print -t {name}"));
    }
    ask(&unit, "::typelist");
}

#[test]
fn specifications_and_origins_in_a_circle() {
    let mut unit = Unit::default();
    unit.basic();
    unit.leaf("a", tag::STRUCTURE, &[(at::SPECIFICATION, V::To("b")), (at::BYTE_SIZE, V::U(8))]);
    unit.leaf("b", tag::STRUCTURE, &[(at::SPECIFICATION, V::To("a")), (at::DECLARATION, V::Flag)]);
    unit.leaf("x", tag::VARIABLE, &[(at::SPECIFICATION, V::To("y")), (at::EXTERNAL, V::Flag)]);
    unit.leaf("y", tag::VARIABLE, &[(at::ABSTRACT_ORIGIN, V::To("x"))]);
    unit.leaf("z", tag::VARIABLE, &[(at::SPECIFICATION, V::To("z"))]);
    unit.leaf("u", tag::IMPORTED_UNIT, &[(at::IMPORT, V::Offset(12))]);
    let function = [(at::ABSTRACT_ORIGIN, V::To("f")), (at::LOW_PC, V::Symbol("_start"))];
    unit.leaf("f", tag::SUBPROGRAM, &function);
    unit.variable("thing", "a").data("thing: .quad 7");
    ask(&unit, "::print thing; ::print y; ::print nothing; ::stack -v; ::locals; ::typelist");
}

#[test]
fn classes_contained_in_each_other() {
    let mut unit = Unit::default();
    let of = |to| [(at::NAME, V::Text("Odd")), (at::CONTAINING_TYPE, V::To(to))];
    unit.leaf("a", tag::CLASS, &of("b")).leaf("b", tag::CLASS, &of("a"));
    unit.variable("thing", "a").data("thing: .quad thing");
    ask(&unit, "::print thing; ::print class Odd; thing::whattype");
}

#[test]
fn siblings_that_lead_back() {
    let mut unit = Unit::default();
    unit.basic();
    let back = [(at::SIBLING, V::To("int")), (at::NAME, V::Text("back")), (at::BYTE_SIZE, V::U(4))];
    unit.open("back", tag::STRUCTURE, &back).leaf("", tag::MEMBER, &[]).close();
    let own = [(at::SIBLING, V::To("own")), (at::NAME, V::Text("own")), (at::BYTE_SIZE, V::U(4))];
    unit.open("own", tag::STRUCTURE, &own).leaf("", tag::MEMBER, &[]).close();
    unit.variable("thing", "back").data("thing: .quad 7");
    ask(&unit, "::print thing; ::sizeof 'struct own'; ::typelist; ::print nothing");
}

#[test]
fn structures_within_structures_without_end() {
    const DEPTH: usize = 20_000;
    let mut unit = Unit::default();
    unit.basic().structure_of("s0", 8, "int", 0);
    for depth in 1..DEPTH {
        unit.structure_of(&format!("s{depth}"), 8, &format!("s{}", depth - 1), 0);
    }
    unit.variable("thing", "s19999").data("thing: .quad 7");
    ask(&unit, "::print thing; ::print -s 0t1000000 thing; ::sizeof 'struct s19999'");
    ask(&unit, "::print -ath struct s19999; thing::whattype");
}

#[test]
fn names_that_are_spelled_without_end() {
    const DEPTH: usize = 20_000;
    let mut unit = Unit::default();
    unit.basic();
    unit.leaf("p0", tag::POINTER, &[(at::TYPE, V::To("int"))]);
    for depth in 1..DEPTH {
        let inner = format!("p{}", depth - 1);
        let kind = if depth % 2 == 0 { tag::POINTER } else { tag::CONST };
        unit.leaf(&format!("p{depth}"), kind, &[(at::TYPE, V::To(&inner))]);
    }
    unit.variable("thing", "p19999").data("thing: .quad thing");
    ask(&unit, "::print thing; ::print -t thing; ::print -T thing; thing::whattype");
}

#[test]
fn templates_within_templates_without_end() {
    let mut unit = Unit::default();
    unit.basic();
    for depth in 0..5000 {
        let inner = if depth == 0 { "int".to_owned() } else { format!("t{}", depth - 1) };
        let name = [(at::NAME, V::Text("Box")), (at::BYTE_SIZE, V::U(8))];
        let parameter = [(at::NAME, V::Text("T")), (at::TYPE, V::To(&inner))];
        unit.open(&format!("t{depth}"), tag::CLASS, &name);
        unit.leaf("", tag::TEMPLATE_TYPE, &parameter).close();
    }
    let own = [(at::NAME, V::Text("T")), (at::TYPE, V::To("own"))];
    unit.open("own", tag::CLASS, &[(at::NAME, V::Text("Own")), (at::BYTE_SIZE, V::U(8))]);
    unit.leaf("", tag::TEMPLATE_TYPE, &own).close();
    unit.variable("thing", "t4999").variable("self", "own").data("thing: .quad 7\nself: .quad 8");
    ask(&unit, "::print -t thing; ::print -t self; ::typelist; ::sizeof Own; ::sizeof 'Box<int>'");
}

#[test]
fn namespaces_within_namespaces_without_end() {
    const DEPTH: usize = 50_000;
    let mut unit = Unit::default();
    unit.basic();
    for _ in 0..DEPTH {
        unit.open("", tag::NAMESPACE, &[(at::NAME, V::Text("n"))]);
    }
    unit.structure_of("deepest", 8, "int", 0).variable("thing", "deepest");
    for _ in 0..DEPTH {
        unit.close();
    }
    unit.data("thing: .quad 7");
    ask(
        &unit,
        "::print thing; ::print n::thing; ::sizeof 'struct deepest'; ::typelist; ::whatis 0",
    );
}

#[test]
fn blocks_within_blocks_without_end() {
    const DEPTH: usize = 50_000;
    let mut unit = Unit::default();
    let range = || [(at::LOW_PC, V::Symbol("_start")), (at::HIGH_PC, V::U(64))];
    unit.basic().open("f", tag::SUBPROGRAM, &range());
    for _ in 0..DEPTH {
        unit.open("", tag::LEXICAL_BLOCK, &range());
    }
    unit.located("local", "int", ".byte 0x50");
    for _ in 0..=DEPTH {
        unit.close();
    }
    ask(&unit, "::stack -v; ::locals; $C");
}
