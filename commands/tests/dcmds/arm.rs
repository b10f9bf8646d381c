//! Code of 32-bit Arm, held against objdump, which reads the same mapping symbols.

use std::process::Command;

use crate::harness::open;

const OBJDUMP: &str = "arm-linux-gnueabihf-objdump";

/// Where the instructions of a function lie, by objdump; data among them is left out.
fn lines_of(exe: &std::path::Path, function: &str) -> Vec<(u64, String)> {
    let output = Command::new(OBJDUMP)
        .args(["-d", "--no-show-raw-insn", &format!("--disassemble={function}")])
        .arg(exe)
        .output()
        .expect("objdump, which comes with the compiler");
    let text = String::from_utf8(output.stdout).expect("text");
    let instruction = |line: &str| {
        let (at, rest) = line.trim().split_once(":\t")?;
        let mnemonic = rest.split_whitespace().next()?.to_owned();
        Some((u64::from_str_radix(at, 16).ok()?, mnemonic))
    };
    let lines = text.lines().filter_map(instruction);
    lines.take_while(|(_, mnemonic)| !mnemonic.starts_with('.')).collect()
}

#[test]
fn both_instruction_sets_are_read_where_symbols_tell_them() {
    let opened = open("leaf", "O2-arm-static");
    let mut lengths = Vec::new();
    // What the compiler made is T32; the C library's assembler is A32.
    for function in ["main", "memset"] {
        let told = lines_of(&opened.case.exe, function);
        assert!(told.len() > 4, "{function}: {told:?}");
        let seen = opened.json(&format!("{function}::dis -n {}", told.len() - 1));
        let seen: Vec<u64> = seen
            .iter()
            .filter(|record| record["type"] == "instruction")
            .filter_map(|record| record["address"].as_str()?.strip_prefix("0x"))
            .filter_map(|digits| u64::from_str_radix(digits, 16).ok())
            .collect();
        let places: Vec<u64> = told.iter().map(|(at, _)| *at).collect();
        assert_eq!(seen, places, "{function}");
        lengths.push(places.windows(2).map(|pair| pair[1] - pair[0]).min());
    }
    assert_eq!(lengths, [Some(2), Some(4)], "the shortest instruction of each");
}
