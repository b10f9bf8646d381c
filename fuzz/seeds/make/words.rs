//! Expressions of DWARF, and what users type.

use kcore_fuzz::{input::Output, memory::Memory};

/// Where the memory is, which is what every register holds.
const STACK: u64 = 0x7000_0000;

/// Names and bytes of the seeds of the target `expression`.
pub fn expressions() -> Vec<(&'static str, Vec<u8>)> {
    let all: &[(&str, &[u8], &[u8])] = &[
        // What is asked for; the frame base.
        ("fbreg", &[0x91, 0x08], &[0x77, 0x08]),
        ("entry_value", &[0xa3, 1, 0x55, 0x23, 2, 0x9f], &[0x9c]),
        ("entry_pointee", &[0xa3, 3, 0x75, 0, 0x06, 0x9f], &[]),
        ("pieces", &[0x53, 0x93, 4, 0x93, 2, 0x77, 0, 0x93, 2, 0x30, 0x9f, 0x9d, 9, 3], &[]),
        ("bits", &[0x9e, 4, 1, 2, 3, 4, 0x9d, 12, 4, 0x50, 0x9d, 20, 1], &[]),
        ("vector", &[0x61], &[]),
        ("values", &[0x08, 9, 0x0a, 1, 1, 0x1c, 0x34, 0x1e, 0x12, 0x22, 0x9f], &[]),
        ("memory", &[0x77, 8, 0x06, 0x94, 2, 0x12, 0x06, 0x22], &[]),
        ("loop", &[0x32, 0x31, 0x1c, 0x12, 0x28, 0xf9, 0xff], &[]),
        ("storage", &[0x0e, 8, 0, 0, 0, 0, 0, 0, 0, 0xe0], &[]),
        ("base", &[0x91, 0], &[0x91, 0]),
        ("divided", &[0x30, 0x0d, 0, 0, 0, 0x80, 0x1b, 0x0d, 0xff, 0xff, 0xff, 0xff, 0x1b], &[]),
    ];
    all.iter().map(|(name, wanted, base)| (*name, expression(wanted, base))).collect()
}

fn expression(wanted: &[u8], base: &[u8]) -> Vec<u8> {
    let parts = Output::default().byte(8).byte(0).part(wanted).part(base);
    // The caller passed in register 5 what lies above its stack pointer.
    let parts = parts.part(&[0x55]).part(&[0x77, 8, 0x06]);
    let words = (0..16_u64).flat_map(|at| (STACK + at * 8).to_le_bytes()).collect();
    let registers: Vec<u8> = [STACK; 20].iter().flat_map(|value| value.to_le_bytes()).collect();
    Memory(vec![(STACK, words)]).write(parts).rest(&registers)
}

/// Names of types and declarations.
pub const TYPE_NAMES: &[&str] = &[
    "struct node *(*const volatile [3])(int, char *[4], ...)",
    "unsigned long long int",
    "struct { int a:3, :0; union { long double b; enum { A, B = -2, C } c; }; char d[]; }",
    "typedef struct pair { struct pair *next; struct node node; } pair_t, *pair_p; struct pair;",
    "struct point { int x, y; }; typedef struct point line[2]; typedef unsigned flags_t;",
    "int (*(*)(char))(double)",
    "ns::Outer<int, char*>::Inner",
    "&[(u8, alloc::string::String)]",
    "map[string]*main.node",
    "char [0x10][020][16]",
    "_Bool const",
    "long double _Complex",
];

/// Edits of the index that the target `name_index` makes, each a place and the bytes there.
pub fn edits() -> Vec<(&'static str, Vec<u8>)> {
    let edit = |how: u8, edits: &[(u16, &[u8])]| {
        let start = Output::default().byte(how).byte(edits.len() as u8);
        let add = |output: Output, (at, bytes): &(u16, &[u8])| {
            let [low, high] = at.to_le_bytes();
            output.byte(low).byte(high).part(bytes)
        };
        edits.iter().fold(start, add).0
    };
    vec![
        ("good", edit(0, &[])),
        ("magic", edit(0, &[(0, b"K")])),
        ("cut", edit(2, &[(100, &[])])),
        ("sum", edit(0, &[(12, &[0; 8])])),
        ("key", edit(2, &[(20, &[1])])),
        ("counts", edit(2, &[(72, &[0xff; 24])])),
        ("records", edit(2, &[(120, &[0x80; 60])])),
        ("tail", edit(0, &[(400, &[0; 64])])),
    ]
}
