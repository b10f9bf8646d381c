//! Frames in code that many symbols or many inlined calls share.

use crate::case::{Case, STACK, Stands};
use crate::dwarf::{CODE, abbreviation, at, entry, form, ranges, tag, unit};
use crate::elf::Program;
use crate::frames::{eh_frame, stack_of_returns};
use crate::run::assert_linear;
use crate::synthetic::words;

/// Bytes of code between two frames.
const STEP: usize = 16;

/// As many frames as symbols, all symbols at the first byte of the code.
fn symbols(n: usize, size: impl Fn(usize) -> u64, commands: &'static str) -> Case {
    let code = STEP * n + 64;
    let (mut table, mut strings) = (vec![0; 24], vec![0]);
    for at in 0..n {
        table.extend((strings.len() as u32).to_le_bytes());
        table.extend([0x12, 0, 1, 0]);
        table.extend(words(&[CODE, size(code - at)]));
        strings.extend(format!("f{at:08}\0").bytes());
    }
    let program = Program::of_nops(code)
        .with_loaded(".eh_frame", eh_frame(code, &[]))
        .with_symbols(table, strings);
    frames(&program, n, commands)
}

fn frames(program: &Program, n: usize, commands: &'static str) -> Case {
    let thread = Stands::at(CODE, STACK);
    Case::with_stack(program, &[thread], stack_of_returns(n, STEP), commands)
}

#[test]
fn frames_in_code_of_many_symbols() {
    assert_linear("symbols of one size", 1000, |n| {
        symbols(n, |_| (STEP * n + 64) as u64, "::stack")
    });
    assert_linear("symbols of many sizes", 1000, |n| symbols(n, |size| size as u64, "::stack"));
    assert_linear("symbols of short sizes", 1000, |n| {
        symbols(n, |size| size as u64 % 8, "::stack")
    });
    assert_linear("symbols of no size", 2000, |n| symbols(n, |_| 0, "::stack"));
}

/// A function with so many calls inlined into it, side by side or each into the one before.
fn calls(n: usize, is_nested: bool, commands: &'static str) -> Case {
    let code = [(at::LOW_PC, form::ADDR), (at::HIGH_PC, form::DATA8)];
    let named = [&[(at::NAME, form::STRING)], &code[..]].concat();
    let shapes = [
        abbreviation(1, tag::UNIT, true, &named),
        abbreviation(2, tag::SUBPROGRAM, true, &named),
        abbreviation(3, tag::INLINED, is_nested, &named),
        vec![0],
    ];
    let len = STEP * n + 64;
    let extent = |from: usize, len: usize| {
        [(CODE + from as u64).to_le_bytes(), (len as u64).to_le_bytes()].concat()
    };
    let mut entries = entry(1, &[b"u\0", &extent(0, len)]);
    entries.extend(entry(2, &[b"f\0", &extent(0, len)]));
    for at in 0..n {
        let own = if is_nested { extent(0, len - at) } else { extent(STEP * at, STEP) };
        entries.extend(entry(3, &[b"c\0", &own]));
    }
    entries.extend(vec![0; if is_nested { n + 2 } else { 2 }]);
    let program = Program::of_nops(len)
        .with_loaded(".eh_frame", eh_frame(len, &[]))
        .with(".debug_abbrev", shapes.concat())
        .with(".debug_info", unit(0, &entries));
    frames(&program, n, commands)
}

#[test]
fn frames_of_a_function_with_many_calls() {
    assert_linear("calls beside each other", 1000, |n| calls(n, false, "::stack"));
}

#[test]
fn frames_of_calls_within_calls() {
    assert_linear("calls within calls", 250, |n| calls(n, true, "::stack"));
}

#[test]
fn frames_of_a_function_with_a_long_name() {
    let case = |n: usize, name: Vec<u8>| {
        let code = STEP * n + 64;
        let mut table = vec![0; 24];
        table.extend([1, 0, 0, 0, 0x12, 0, 1, 0]);
        table.extend(words(&[CODE, code as u64]));
        let program = Program::of_nops(code)
            .with_loaded(".eh_frame", eh_frame(code, &[]))
            .with_symbols(table, [vec![0], name, vec![0]].concat());
        frames(&program, n, "::stack")
    };
    assert_linear("a long name", 2000, |n| case(n, vec![b'a'; n]));
    assert_linear("a long mangled name", 2000, |n| {
        case(n, [&b"_ZN"[..], &b"1a".repeat(n / 2), b"Ev"].concat())
    });
    assert_linear("a long name in debug information", 4000, |n| {
        let code = STEP * n + 64;
        let extent = [CODE.to_le_bytes(), (code as u64).to_le_bytes()].concat();
        let named = [(at::NAME, form::STRP), (at::LOW_PC, form::ADDR), (at::HIGH_PC, form::DATA8)];
        let shapes = [
            abbreviation(1, tag::UNIT, true, &named),
            abbreviation(2, tag::SUBPROGRAM, false, &named),
            vec![0],
        ];
        let entries =
            [entry(1, &[&[0; 4], &extent]), entry(2, &[&[0; 4], &extent]), vec![0]].concat();
        let program = Program::of_nops(code)
            .with_loaded(".eh_frame", eh_frame(code, &[]))
            .with(".debug_abbrev", shapes.concat())
            .with(".debug_info", unit(0, &entries))
            .with(".debug_str", [vec![b'a'; n], vec![0]].concat());
        frames(&program, n, "::stack")
    });
}

#[test]
fn frames_in_functions_of_one_list_of_ranges() {
    assert_linear("functions of units", 400, |n| {
        let code = STEP * n + 64;
        let extent = [(at::LOW_PC, form::ADDR), (at::HIGH_PC, form::DATA8)];
        let name = (at::NAME, form::STRING);
        let shapes = [
            abbreviation(1, tag::UNIT, true, &[&[name], &extent[..]].concat()),
            abbreviation(2, tag::SUBPROGRAM, false, &[name, (at::RANGES, form::SEC_OFFSET)]),
            vec![0],
        ];
        let unit_of = |at: usize| {
            let start = CODE + (STEP * at) as u64;
            let root = entry(1, &[b"u\0", &start.to_le_bytes(), &(STEP as u64).to_le_bytes()]);
            unit(0, &[root, entry(2, &[b"f\0", &[0; 4]]), vec![0]].concat())
        };
        let program = Program::of_nops(code)
            .with_loaded(".eh_frame", eh_frame(code, &[]))
            .with(".debug_abbrev", shapes.concat())
            .with(".debug_info", (0..n).flat_map(unit_of).collect())
            .with(".debug_ranges", ranges(2 * n));
        frames(&program, n, "::stack")
    });
}
