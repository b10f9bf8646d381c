//! Variables that share a list of locations, or an expression.

use crate::case::Case;
use crate::dwarf::{CODE, abbreviation, at, entry, form, offset, tag, unit};
use crate::elf::Program;
use crate::run::assert_linear;

const ASKED: &str = "::locals";

/// A function of so many variables, each of which has its locations in one list.
fn program(variables: usize, list: Vec<u8>) -> Program {
    let code = [(at::LOW_PC, form::ADDR), (at::HIGH_PC, form::DATA8)];
    let named = [&[(at::NAME, form::STRING)], &code[..]].concat();
    let variable = [(at::NAME, form::STRING), (at::LOCATION, form::SEC_OFFSET)];
    let shapes = [
        abbreviation(1, tag::UNIT, true, &named),
        abbreviation(2, tag::SUBPROGRAM, true, &named),
        abbreviation(3, tag::VARIABLE, false, &variable),
        vec![0],
    ];
    let extent = [CODE.to_le_bytes(), 64_u64.to_le_bytes()].concat();
    let entries = [
        entry(1, &[b"u\0", &extent]),
        entry(2, &[b"f\0", &extent]),
        entry(3, &[b"v\0", &offset(0)]).repeat(variables),
        vec![0, 0],
    ];
    Program::of_nops(64)
        .with(".debug_abbrev", shapes.concat())
        .with(".debug_info", unit(0, &entries.concat()))
        .with(".debug_loc", list)
}

/// An entry of a list: addresses from the beginning of the unit on, and an expression.
fn location(begin: u64, end: u64, expression: &[u8]) -> Vec<u8> {
    let mut bytes = [begin.to_le_bytes(), end.to_le_bytes()].concat();
    bytes.extend((expression.len() as u16).to_le_bytes());
    bytes.extend(expression);
    bytes
}

#[test]
fn variables_of_one_list_of_locations() {
    assert_linear("locations", 1000, |n| {
        let elsewhere = location(0x1000, 0x1001, &[0x30]).repeat(n);
        Case::of(&program(n, [elsewhere, vec![0; 16]].concat()), ASKED)
    });
}

#[test]
fn variables_of_one_expression() {
    assert_linear("expression", 1000, |n| {
        // DW_OP_lit0, DW_OP_nop, DW_OP_stack_value.
        let expression = [vec![0x30], vec![0x96; n], vec![0x9f]].concat();
        let list = [location(0, 64, &expression), vec![0; 16]].concat();
        Case::of(&program(n, list), ASKED)
    });
}
