//! Units, functions and names that share a list, a line program or a string.

use crate::case::{Case, STACK, Stands};
use crate::dwarf::{
    CODE, UNIT_HEADER, abbreviation, at, entry, form, line_program, offset, ranges, rows, tag, unit,
};
use crate::elf::Program;
use crate::frames::{eh_frame, stack_of_returns};
use crate::run::assert_linear;

/// Shapes of roots, functions, calls and variables.
const ROOT: u64 = 1;
const ROOT_OF_RANGES: u64 = 2;
const ROOT_OF_LINES: u64 = 3;
const FUNCTION_OF_RANGES: u64 = 4;
const NAMED: u64 = 5;
const FUNCTION: u64 = 6;
const CALL: u64 = 7;
const ABSTRACT: u64 = 8;
const BARE_ROOT: u64 = 9;
const STRUCTURE: u64 = 10;

fn shapes() -> Vec<u8> {
    let name = (at::NAME, form::STRING);
    let code = [(at::LOW_PC, form::ADDR), (at::HIGH_PC, form::DATA8)];
    let ranges = (at::RANGES, form::SEC_OFFSET);
    let long_name = (at::NAME, form::STRP);
    let all = [
        abbreviation(ROOT, tag::UNIT, true, &[&[name], &code[..]].concat()),
        abbreviation(ROOT_OF_RANGES, tag::UNIT, true, &[name, ranges]),
        abbreviation(ROOT_OF_LINES, tag::UNIT, true, &[name, (at::STMT_LIST, form::SEC_OFFSET)]),
        abbreviation(FUNCTION_OF_RANGES, tag::SUBPROGRAM, false, &[name, ranges]),
        abbreviation(NAMED, tag::VARIABLE, false, &[long_name, (at::EXTERNAL, form::FLAG_PRESENT)]),
        abbreviation(FUNCTION, tag::SUBPROGRAM, true, &[&[name], &code[..]].concat()),
        abbreviation(
            CALL,
            tag::INLINED,
            true,
            &[&[(at::ABSTRACT_ORIGIN, form::REF_ADDR)], &code[..]].concat(),
        ),
        abbreviation(ABSTRACT, tag::SUBPROGRAM, false, &[name]),
        abbreviation(BARE_ROOT, tag::UNIT, true, &[name]),
        abbreviation(STRUCTURE, tag::STRUCTURE, false, &[long_name, (at::BYTE_SIZE, form::DATA1)]),
    ];
    [all.concat(), vec![0]].concat()
}

fn program(units: Vec<u8>, code: usize) -> Program {
    Program::of_nops(code).with(".debug_abbrev", shapes()).with(".debug_info", units)
}

/// A root with a single range: all of the code.
fn root(len: usize) -> Vec<u8> {
    entry(ROOT, &[b"u\0", &CODE.to_le_bytes(), &(len as u64).to_le_bytes()])
}

#[test]
fn units_of_one_list_of_ranges() {
    assert_linear("ranges of units", 1000, |n| {
        let root = entry(ROOT_OF_RANGES, &[b"u\0", &offset(0), b"\0"]);
        let program = program(unit(0, &root).repeat(n), 64).with(".debug_ranges", ranges(n));
        Case::of(&program, "::stack")
    });
}

#[test]
fn units_whose_lists_overlap() {
    assert_linear("ranges that overlap", 1000, |n| {
        let root = |at: usize| entry(ROOT_OF_RANGES, &[b"u\0", &offset(16 * at), b"\0"]);
        let units = (0..n).flat_map(|at| unit(0, &root(at))).collect();
        Case::of(&program(units, 64).with(".debug_ranges", ranges(n)), "::stack")
    });
}

#[test]
fn functions_of_one_list_of_ranges() {
    assert_linear("ranges of functions", 1000, |n| {
        let function = entry(FUNCTION_OF_RANGES, &[b"f\0", &offset(0)]);
        let entries = [root(8 * n), function.repeat(n), vec![0]].concat();
        let program = program(unit(0, &entries), 64).with(".debug_ranges", ranges(n));
        Case::of(&program, "::stack")
    });
}

#[test]
fn functions_whose_lists_overlap() {
    assert_linear("ranges of functions that overlap", 1000, |n| {
        let function = |at: usize| entry(FUNCTION_OF_RANGES, &[b"f\0", &offset(16 * at)]);
        let functions: Vec<u8> = (0..n).flat_map(function).collect();
        let entries = [root(8 * n), functions, vec![0]].concat();
        let program = program(unit(0, &entries), 64).with(".debug_ranges", ranges(n));
        Case::of(&program, "::stack")
    });
}

#[test]
fn units_of_one_line_program() {
    assert_linear("lines", 1000, |n| {
        let root = entry(ROOT_OF_LINES, &[b"u\0", &offset(0), b"\0"]);
        let lines = line_program(0, &rows(n));
        Case::of(&program(unit(0, &root).repeat(n), 64).with(".debug_line", lines), "::stack")
    });
}

#[test]
fn line_programs_of_the_same_operations() {
    assert_linear("lines that overlap", 1000, |n| {
        let each = line_program(0, &[]).len();
        let operations = rows(n);
        let skipped = |at: usize| (n - 1 - at) * each;
        let header = |at| line_program(skipped(at) + operations.len(), &[])[..].to_vec();
        let mut lines: Vec<u8> = Vec::new();
        for at in 0..n {
            // The header reaches up to the operations, and the program to their end.
            let mut one = header(at)[..4].to_vec();
            one.extend(&line_program(skipped(at), &operations)[4..each]);
            lines.extend(one);
        }
        lines.extend(&operations);
        let root = |at: usize| entry(ROOT_OF_LINES, &[b"u\0", &offset(at * each), b"\0"]);
        let units = (0..n).flat_map(|at| unit(0, &root(at))).collect();
        Case::of(&program(units, 64).with(".debug_line", lines), "::stack")
    });
}

#[test]
fn units_that_are_zeros() {
    assert_linear("zeros", 1 << 20, |n| Case::of(&program(vec![0; n], 64), "::status; ::stack"));
}

#[test]
fn units_of_headers_alone() {
    assert_linear("headers", 10_000, |n| {
        Case::of(&program(unit(0, &[]).repeat(n), 64), "::status; ::stack")
    });
}

#[test]
fn frames_in_code_that_all_units_claim() {
    assert_linear("claims", 400, |n| {
        let code = 16 * n + 64;
        let units = unit(0, &[root(code), vec![0]].concat()).repeat(n);
        let program = program(units, code).with_loaded(".eh_frame", eh_frame(code, &[]));
        let stack = stack_of_returns(n, 16);
        let thread = Stands::at(CODE, STACK);
        Case::with_stack(&program, &[thread], stack, "::stack")
    });
}

#[test]
fn calls_within_calls_whose_functions_are_in_other_units() {
    assert_linear("origins", 1000, |n| {
        let far = entry(BARE_ROOT, &[b"u\0"]);
        let far = unit(0, &[far, entry(ABSTRACT, &[b"inlined\0"]), vec![0]].concat());
        let at = |unit: usize| far.len() * unit + UNIT_HEADER + 3;
        let extent = [CODE.to_le_bytes(), 64_u64.to_le_bytes()].concat();
        let mut near = [root(64), entry(FUNCTION, &[b"f\0", &extent])].concat();
        (0..n).for_each(|call| near.extend(entry(CALL, &[&offset(at(call)), &extent])));
        near.extend(vec![0; n + 2]);
        let units = [far.repeat(n), unit(0, &near)].concat();
        Case::of(&program(units, 64), "::stack")
    });
}

fn names(n: usize, shape: u64, step: usize, commands: &'static str) -> Case {
    let one = |at: usize| match shape {
        STRUCTURE => entry(shape, &[&offset(at * step), b"\x04"]),
        _ => entry(shape, &[&offset(at * step)]),
    };
    let entries: Vec<u8> = (0..n).flat_map(one).collect();
    let units = unit(0, &[root(64), entries, vec![0]].concat());
    let strings = [vec![b'a'; n], vec![0]].concat();
    Case::of(&program(units, 64).with(".debug_str", strings), commands)
}

#[test]
fn variables_of_one_long_name() {
    assert_linear("names", 4000, |n| names(n, NAMED, 0, "::print nosuch"));
    assert_linear("names that overlap", 4000, |n| names(n, NAMED, 1, "::print nosuch"));
}

#[test]
fn types_of_one_long_name() {
    let asked = "::sizeof nosuch; ::print nosuch";
    assert_linear("names of types", 4000, |n| names(n, STRUCTURE, 0, asked));
    assert_linear("names of types that overlap", 4000, |n| names(n, STRUCTURE, 1, asked));
}
