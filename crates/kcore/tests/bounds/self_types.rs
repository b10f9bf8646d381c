//! Types that contain themselves by their debug information: a few bytes that could produce values without
//! end.

use std::fs;

use kcore::{
    Addr, Content, Core, Limits, Object, ObjectPlace, OpenOptions, Piece, PieceSource, Type, Value,
};

use crate::{measure::measure, sections};

/// The memory that may be used for them.
const MOST: usize = 8 << 20;
/// How often it is measured.
const ROUNDS: usize = 3;
/// Offset of the structure in the unit.
const STRUCTURE: u8 = 11 + 3;

/// `NAME S { S a; S b; ... }`, of one of the tags that have members; with so many members, which may have
/// no names.
fn program(tag: u8, members: usize, is_named: bool) -> Vec<u8> {
    let abbreviations: &[&[u8]] = &[
        &[1, 0x11, 1, 3, 8, 0, 0],
        &[2, tag, 1, 3, 8, 0xb, 0xb, 0, 0],
        &[3, 0xd, 0, 3, 8, 0x49, 0x13, 0x38, 0xb, 0, 0],
        &[4, 0xd, 0, 0x49, 0x13, 0x38, 0xb, 0, 0],
        &[5, 0x1c, 0, 0x49, 0x13, 0x38, 0xb, 0, 0],
        &[0],
    ];
    let link = [STRUCTURE, 0, 0, 0, 0];
    let member = match is_named {
        true => [&b"\x03m\0"[..], &link].concat(),
        false => [&[4][..], &link].concat(),
    };
    let base = [&[5][..], &link].concat();
    let bases = if tag == 2 { base.repeat(2) } else { Vec::new() };
    let entries = [&b"\x01x\0\x02S\0\x20"[..], &bases, &member.repeat(members), &[0, 0]].concat();
    let unit = [&[4, 0, 0, 0, 0, 0, 8][..], &entries].concat();
    let info = [&(unit.len() as u32).to_le_bytes()[..], &unit].concat();
    sections::elf(&[(".debug_abbrev", &abbreviations.concat()), (".debug_info", &info)])
}

fn count(value: &Value) -> usize {
    1 + match &value.content {
        Content::Fields(fields) => fields.iter().map(|field| count(&field.value)).sum(),
        Content::Elements(elements) => elements.values.iter().map(count).sum(),
        _ => 0,
    }
}

/// An object of 32 bytes that lies in registers, and so can be read without a process.
fn object(ty: Type) -> Object {
    let pieces = [Piece { size: 256, source: PieceSource::Bytes([0; 32].into()) }];
    let place = ObjectPlace::Pieces {
        pieces: pieces.into(),
        bits: kcore::BitField { offset: 0, size: 256 },
    };
    Object { ty, place }
}

/// Asks for everything about the type that a user can ask for, and gives how many values there are.
fn asked(elf: &[u8], name: &str) -> (usize, usize) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let exe = folder.path().join("program");
    fs::write(&exe, elf).expect("a program");
    let options = OpenOptions { exe: Some(exe), ..OpenOptions::default() };
    let ask = || {
        let core = Core::open(&options).expect("it opens");
        let ty = core.types().named(None, name).expect("it has the type");
        assert_eq!(ty.size(), Some(32), "{name}");
        let limits = Limits { elements: None, ..Limits::default() };
        let all =
            [ty.clone(), ty.array(Some(3))].map(|ty| count(&object(ty).value(&core, &limits)));
        let at = Object::at(ty.clone(), Addr::new(0));
        assert!(at.member(&core, "nosuch").is_err());
        assert!(at.part_at(&core, 5).is_none_or(|(_, path)| path.len() < 1000));
        (all.into_iter().max().unwrap_or(0), count(&at.layout(&core, &limits)))
    };
    // What other tests allocate meanwhile, to make their inputs, is measured too: the least of some rounds is not theirs.
    let measured: Vec<_> = (0..ROUNDS).map(|_| measure(name, ask)).collect();
    let least = measured.iter().map(|(_, allocated)| allocated.peak).min();
    assert!(least < Some(MOST), "{name}: {least:?}");
    measured[0].0
}

#[test]
fn structures_unions_and_classes_that_hold_themselves_are_told_once() {
    for (tag, keyword) in [(0x13, "struct"), (0x17, "union"), (2, "class")] {
        for is_named in [true, false] {
            let (values, layout) = asked(&program(tag, 6, is_named), "S");
            assert!(values < 50 && layout < 20, "{keyword}: {values} values, {layout} members");
        }
    }
}
