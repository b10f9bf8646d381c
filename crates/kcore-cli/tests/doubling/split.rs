//! Skeletons that name one file of split units.

use crate::case::{Case, STACK, Stands};
use crate::dwarf::{CODE, abbreviation, at, entry, form, tag};
use crate::elf::Program;
use crate::frames::{eh_frame, stack_of_returns};
use crate::run::assert_linear;

/// Bytes of code of a unit.
const EACH: usize = 16;

/// A unit of DWARF 5 that is a skeleton (4) or was split off from one (5).
fn unit(kind: u8, id: u64, entries: &[u8]) -> Vec<u8> {
    let mut bytes = (16 + entries.len() as u32).to_le_bytes().to_vec();
    bytes.extend(5_u16.to_le_bytes());
    bytes.extend([kind, 8, 0, 0, 0, 0]);
    bytes.extend(id.to_le_bytes());
    bytes.extend(entries);
    bytes
}

/// `skeletons` units of the program, which have their other halves in one file of `split` units of
/// `functions` each.
fn program(n: usize, halves: Vec<u8>, id: impl Fn(usize) -> u64, asked: &'static str) -> Case {
    let code = [(at::LOW_PC, form::ADDR), (at::HIGH_PC, form::DATA8)];
    let skeleton = [&[(at::DWO_NAME, form::STRING)], &code[..]].concat();
    let shapes = [abbreviation(1, tag::SKELETON, false, &skeleton), vec![0]].concat();
    let skeleton = |at: usize| {
        let start = CODE + (EACH * at) as u64;
        let extent = [start.to_le_bytes(), (EACH as u64).to_le_bytes()].concat();
        unit(4, id(at), &entry(1, &[b"units.dwo\0", &extent]))
    };
    let len = EACH * n + 64;
    let program = Program::of_nops(len)
        .with_loaded(".eh_frame", eh_frame(len, &[]))
        .with(".debug_abbrev", shapes)
        .with(".debug_info", (0..n).flat_map(skeleton).collect());
    let split = Program::of_nops(64)
        .with(".debug_abbrev.dwo", half_shapes())
        .with(".debug_info.dwo", halves);
    let thread = Stands::at(CODE, STACK);
    let case = Case::with_stack(&program, &[thread], stack_of_returns(n, EACH), asked);
    Case { beside: vec![("units.dwo".into(), split.file())], ..case }
}

/// The shapes of what [`half`] makes.
fn half_shapes() -> Vec<u8> {
    let code = [(at::LOW_PC, form::ADDR), (at::HIGH_PC, form::DATA8)];
    let shapes = [
        abbreviation(1, tag::UNIT, true, &[(at::NAME, form::STRING)]),
        abbreviation(2, tag::SUBPROGRAM, false, &[&[(at::NAME, form::STRING)], &code[..]].concat()),
        vec![0],
    ];
    shapes.concat()
}

/// The same units as a package, whose index says that they all lie at its beginning.
fn packed(case: Case, n: usize, ids: usize) -> Case {
    let units = half(1, n);
    let slots = (2 * ids).next_power_of_two();
    let mut places: Vec<(u64, u32)> = vec![(0, 0); slots];
    for id in 1..=ids {
        places[id % slots] = (id as u64, id as u32);
    }
    let mut index = vec![5, 0, 0, 0];
    for word in [2, ids as u32, slots as u32] {
        index.extend(word.to_le_bytes());
    }
    index.extend(places.iter().flat_map(|(id, _)| id.to_le_bytes()));
    index.extend(places.iter().flat_map(|(_, row)| row.to_le_bytes()));
    let shapes = half_shapes();
    // The units and their abbreviations.
    let rows = [[1_u32, 3], [units.len() as u32, shapes.len() as u32]];
    let of_row = |row: [u32; 2]| row.into_iter().flat_map(u32::to_le_bytes);
    index.extend(of_row(rows[0]));
    index.extend(vec![0; 8 * ids]);
    (0..ids).for_each(|_| index.extend(of_row(rows[1])));
    let package = Program::of_nops(64)
        .with(".debug_abbrev.dwo", shapes)
        .with(".debug_info.dwo", units)
        .with(".debug_cu_index", index);
    Case { beside: vec![("program.dwp".into(), package.file())], ..case }
}

/// A unit of so many functions.
fn half(id: u64, functions: usize) -> Vec<u8> {
    let function = |at: usize| {
        let start = CODE + (EACH * at) as u64;
        entry(2, &[b"f\0", &start.to_le_bytes(), &(EACH as u64).to_le_bytes()])
    };
    let functions: Vec<u8> = (0..functions).flat_map(function).collect();
    unit(5, id, &[entry(1, &[b"u\0"]), functions, vec![0]].concat())
}

const ASKED: &str = "::stack; ::print nosuch; ::sizeof nosuch";

#[test]
fn skeletons_of_units_in_one_file() {
    assert_linear("units of one file", 200, |n| {
        let halves = (0..n).flat_map(|at| half(at as u64 + 1, 1)).collect();
        program(n, halves, |at| at as u64 + 1, ASKED)
    });
}

#[test]
fn skeletons_of_one_unit() {
    assert_linear("skeletons of one unit", 400, |n| program(n, half(1, n), |_| 1, ASKED));
}

#[test]
fn skeletons_of_no_unit() {
    assert_linear("skeletons of no unit", 400, |n| {
        let halves = (0..n).flat_map(|at| half(at as u64 + 1, 1)).collect();
        program(n, halves, |_| u64::MAX, ASKED)
    });
}

#[test]
fn skeletons_of_one_unit_in_a_package() {
    assert_linear("skeletons of one unit in a package", 400, |n| {
        packed(program(n, Vec::new(), |_| 1, ASKED), n, 1)
    });
}

#[test]
fn numbers_of_one_unit_in_a_package() {
    assert_linear("numbers of one unit in a package", 400, |n| {
        packed(program(n, Vec::new(), |at| at as u64 + 1, ASKED), n, n)
    });
}
