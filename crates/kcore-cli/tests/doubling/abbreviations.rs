//! Units that share their abbreviations.

use crate::case::Case;
use crate::dwarf::{abbreviation, at, entry, form, tag, unit};
use crate::elf::Program;
use crate::run::assert_linear;

const ASKED: &str = "::stack; ::print nosuch";

fn root() -> Vec<u8> {
    abbreviation(1, tag::UNIT, false, &[(at::NAME, form::STRING)])
}

fn others(count: usize) -> impl Iterator<Item = Vec<u8>> {
    (0..count as u64)
        .map(|n| abbreviation(100 + n, tag::VARIABLE, false, &[(at::NAME, form::STRP)]))
}

fn program(table: Vec<u8>, units: Vec<u8>) -> Case {
    let program = Program::of_nops(64).with(".debug_abbrev", table).with(".debug_info", units);
    Case::of(&program, ASKED)
}

#[test]
fn one_table_whose_last_declaration_is_wanted() {
    assert_linear("abbreviations", 1000, |n| {
        let table: Vec<u8> = others(n).chain([root(), vec![0]]).flatten().collect();
        program(table, unit(0, &entry(1, &[b"u\0"])).repeat(n))
    });
}

#[test]
fn one_table_whose_first_declaration_is_wanted() {
    assert_linear("abbreviations behind", 1000, |n| {
        let table: Vec<u8> =
            [root()].into_iter().chain(others(n)).chain([vec![0]]).flatten().collect();
        program(table, unit(0, &entry(1, &[b"u\0"])).repeat(n))
    });
}

#[test]
fn tables_of_which_each_is_the_end_of_another() {
    assert_linear("abbreviations that overlap", 1000, |n| {
        let (mut table, mut units) = (Vec::new(), Vec::new());
        for other in others(n) {
            units.extend(unit(table.len(), &entry(1, &[b"u\0"])));
            table.extend(other);
        }
        table.extend([root(), vec![0]].concat());
        program(table, units)
    });
}
