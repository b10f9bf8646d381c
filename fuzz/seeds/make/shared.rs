//! Units that share a table, a list of ranges, a line program or a name.

use kcore_fuzz::repeated::write;

/// Shapes: a unit with ranges and lines, a function with ranges, a variable.
const SHAPES: &[u8] = &[
    1, 0x11, 1, 3, 8, 0x55, 0x17, 0x10, 0x17, 0, 0, 2, 0x2e, 0, 3, 0x0e, 0x55, 0x17, 0, 0, 3, 0x34,
    0, 3, 0x0e, 0x3f, 0x19, 0, 0,
];
/// A shape that no entry has.
const OTHER: &[u8] = &[4, 0x34, 0, 3, 8, 0, 0];
/// A unit of DWARF 4: its header, and a root, a function and a variable that name the first of everything.
const UNIT: &[u8] = &[
    34, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1, b'u', 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,
    0, 3, 0, 0, 0, 0, 0, 0,
];
const BEGIN: u64 = 0x1000;

/// Names and bytes of the seeds.
pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let seed = |repeats: &[&str]| {
        write(
            3,
            |name| {
                parts(name)
                    .map(|[begin, middle, end]| {
                        if repeats.contains(&name) {
                            [begin, middle, end]
                        } else {
                            [[begin, middle, end].concat(), Vec::new(), Vec::new()]
                        }
                    })
                    .unwrap_or_default()
            },
            BEGIN,
        )
    };
    vec![
        ("abbreviations", seed(&[".debug_info", ".debug_abbrev"])),
        ("ranges", seed(&[".debug_info", ".debug_ranges"])),
        ("lines", seed(&[".debug_info", ".debug_line"])),
        ("names", seed(&[".debug_info", ".debug_str"])),
    ]
}

/// Beginning, middle and end of a section.
fn parts(name: &str) -> Option<[Vec<u8>; 3]> {
    let words = |all: &[u64]| all.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    Some(match name {
        ".debug_info" => [Vec::new(), UNIT.to_vec(), Vec::new()],
        ".debug_abbrev" => [SHAPES.to_vec(), OTHER.to_vec(), vec![0]],
        ".debug_ranges" => [Vec::new(), words(&[BEGIN, BEGIN + 4]), words(&[0, 0])],
        ".debug_str" => [Vec::new(), b"name".to_vec(), vec![0]],
        ".debug_line" => [
            [
                &[0x6c, 0, 0, 0, 2, 0, 24, 0, 0, 0, 1, 1, 0xfb, 14, 13][..],
                &[0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1],
                b"\0f\0\0\0\0\0",
                &[0, 9, 2],
                &BEGIN.to_le_bytes(),
            ]
            .concat(),
            vec![0x14],
            vec![0, 1, 1],
        ],
        _ => return None,
    })
}
