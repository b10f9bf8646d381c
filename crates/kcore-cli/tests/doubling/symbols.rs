//! Symbols that share a long name, and whose names say more than they are long.

use crate::case::Case;
use crate::dwarf::CODE;
use crate::elf::Program;
use crate::run::assert_linear;
use crate::synthetic::words;

/// `name` gives the offset of the name and the address of a symbol.
fn program(n: usize, strings: Vec<u8>, symbol: impl Fn(u64) -> (u32, u64)) -> Program {
    let mut table = vec![0; 24];
    for at in 0..n as u64 {
        let (name, address) = symbol(at);
        table.extend(name.to_le_bytes());
        table.extend([0x12, 0, 1, 0]);
        table.extend(words(&[address, 1]));
    }
    Program::of_nops(64).with_symbols(table, [vec![0], strings, vec![0]].concat())
}

fn plain(n: usize) -> Vec<u8> {
    vec![b'a'; n]
}

/// A name of C++ of about so many bytes.
fn mangled(n: usize) -> Vec<u8> {
    [&b"_ZN"[..], &b"1a".repeat(n / 2), b"Ev"].concat()
}

fn check(name: &str, n: usize, strings: fn(usize) -> Vec<u8>, commands: &'static str) {
    assert_linear(name, n, |n| {
        Case::of(&program(n, strings(n), |at| (1, CODE + 16 + at)), commands)
    });
    assert_linear(&format!("{name}, at one address"), n, |n| {
        Case::of(&program(n, strings(n), |_| (1, CODE)), commands)
    });
    assert_linear(&format!("{name}, overlapping"), n, |n| {
        Case::of(&program(n, strings(n), |at| (1 + at as u32, CODE + 16 + at)), commands)
    });
}

#[test]
fn symbols_of_one_name_and_the_status() {
    check("symbols", 8000, plain, "::status");
    check("mangled symbols", 8000, mangled, "::status");
}

#[test]
fn symbols_of_one_name_and_a_name_that_is_sought() {
    check("symbols sought", 8000, plain, "nosuch::dis; nosuch::whatis");
    check("mangled symbols sought", 8000, mangled, "aa::bb::dis; 'aa::bb(int)'::dis");
}

/// A name of C++ each of whose types is a pair of the one before: it would be 2^40 pairs long.
fn doubled(number: usize) -> Vec<u8> {
    let digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let name = format!("f{number:08}");
    let mut mangled = format!("_Z{}{name}1aIiiE", name.len()).into_bytes();
    for at in &digits[..32] {
        mangled.extend([&b"S_IS"[..], &[*at], b"_S", &[*at], b"_E"].concat());
    }
    mangled
}

#[test]
fn symbols_whose_names_double_what_they_are_made_of() {
    for commands in ["::nm", "'aa::bb(int)'::dis"] {
        assert_linear(commands, 100, |n| {
            let names: Vec<Vec<u8>> = (0..n).map(doubled).collect();
            let len = names[0].len() as u32 + 1;
            let strings = names.join(&0);
            let symbol = |at| (1 + at as u32 * len, CODE + 16 + at);
            Case::of(&program(n, strings, symbol), commands)
        });
    }
}
