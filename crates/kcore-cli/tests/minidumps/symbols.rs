//! Symbol files of Breakpad for a module whose ELF file is gone, written of what binutils say of the program.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::Dump;

/// A function of the program: start and size.
type Function = (u64, u64);

fn output(program: &str, args: &[&str], file: &Path) -> String {
    let output = Command::new(program).args(args).arg(file).output().unwrap();
    assert!(output.status.success(), "{program}");
    String::from_utf8(output.stdout).unwrap()
}

fn hex(word: &str) -> u64 {
    u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap()
}

fn functions(program: &Path) -> BTreeMap<String, Function> {
    let table = output("nm", &["-S", "--defined-only"], program);
    let lines = table.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let code = lines.filter(|words| words.len() == 4 && matches!(words[2], "t" | "T"));
    code.map(|words| (words[3].to_owned(), (hex(words[0]), hex(words[1])))).collect()
}

/// The line of each address of a function, by addr2line.
fn lines(program: &Path, (start, size): Function) -> Vec<u32> {
    let mut tool = Command::new("addr2line");
    tool.arg("-e").arg(program).args((start..start + size).map(|at| format!("{at:x}")));
    let text = String::from_utf8(tool.output().unwrap().stdout).unwrap();
    let number = |line: &str| {
        let number = line.rsplit(':').next()?.split(' ').next()?;
        number.parse().ok()
    };
    text.lines().map(|line| number(line).unwrap_or(0)).collect()
}

/// `STACK CFI` of what readelf interprets of `.eh_frame`.
fn frames(program: &Path) -> String {
    let table = output("readelf", &["--debug-dump=frames-interp"], program);
    let mut text = String::new();
    let mut columns: Vec<&str> = Vec::new();
    let mut range = None;
    for line in table.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(pc) = words.iter().find_map(|word| word.strip_prefix("pc=")) {
            let (start, end) = pc.split_once("..").unwrap();
            range = Some(hex(end) - hex(start));
        } else if line.contains(" CIE ") {
            columns.clear();
        } else if words.first() == Some(&"LOC") {
            columns = words[1..].to_vec();
        } else if columns.len() + 1 == words.len() && words[0].len() == 16 && words[1] != "exp" {
            match range.take() {
                Some(size) => write!(text, "STACK CFI INIT {:x} {size:x}", hex(words[0])).unwrap(),
                None => write!(text, "STACK CFI {:x}", hex(words[0])).unwrap(),
            }
            columns.iter().zip(&words[1..]).for_each(|(name, rule)| text += &spelled(name, rule));
            text.push('\n');
        }
    }
    text
}

/// A rule of readelf, such as `rsp+8`, `c-16` and `u`, as Breakpad writes it.
fn spelled(name: &str, rule: &str) -> String {
    let name = match name {
        "CFA" => ".cfa".to_owned(),
        "ra" => ".ra".to_owned(),
        name => format!("${name}"),
    };
    let Some(at) = rule.find(['+', '-']) else { return String::new() };
    let (from, offset) = (&rule[..at], rule[at..].trim_start_matches('+'));
    match from {
        "c" => format!(" {name}: .cfa {offset} + ^"),
        register => format!(" {name}: ${register} {offset} +"),
    }
}

/// Writes the symbol file of a program of this debug id.
fn symbol_file(program: &Path, id: &str) -> String {
    let mut text = format!("MODULE Linux x86_64 {id} target\nFILE 7 target.c\n");
    for (name, function) in functions(program) {
        writeln!(text, "FUNC {:x} {:x} 0 {name}(int)", function.0, function.1).unwrap();
        for (at, line) in (function.0..).zip(lines(program, function)) {
            writeln!(text, "{at:x} 1 {line} 7").unwrap();
        }
    }
    text + &frames(program)
}

/// The debug id of a build-id: the first 16 bytes as a GUID of a little-endian machine.
fn debug_id(program: &Path) -> String {
    let notes = output("readelf", &["-n"], program);
    let id = notes.lines().find_map(|line| line.trim().strip_prefix("Build ID: ")).unwrap();
    let byte = |at: usize| &id[at * 2..at * 2 + 2];
    let order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    order.map(byte).concat().to_uppercase() + "0"
}

/// A minidump of a program that is gone, and where its symbol file lies.
fn dump_with(text: impl Fn(&str) -> String) -> (Dump, PathBuf) {
    let dump = Dump::new();
    let id = debug_id(&dump.program);
    let folder = dump.folder.path().join("symbols/target").join(&id);
    fs::create_dir_all(&folder).unwrap();
    let symbols = folder.join("target.sym");
    fs::write(&symbols, text(&symbol_file(&dump.program, &id))).unwrap();
    fs::remove_file(&dump.program).unwrap();
    (dump, symbols)
}

fn worker(dump: &Dump) -> Vec<Value> {
    let stacks = dump.json("::walk thread | ::stack", "stack");
    let stack = stacks.into_iter().find(|stack| stack["tid"] == dump.worker).unwrap();
    stack["frames"].as_array().unwrap().clone()
}

#[test]
fn a_symbol_file_names_functions_and_lines_and_unwinds() {
    let (dump, symbols) = dump_with(str::to_owned);
    let frames = worker(&dump);
    let names: Vec<_> = frames.iter().filter_map(|it| it["function"].as_str()).collect();
    let at =
        names.iter().position(|name| *name == "wait_inner").unwrap_or_else(|| panic!("{frames:?}"));
    assert_eq!(names[at..at + 3], ["wait_inner", "wait_outer", "work"]);
    let source = include_str!("target.c");
    let line = source.lines().position(|line| line.contains("WAITS")).unwrap() + 1;
    assert_eq!((&frames[at]["line"], &frames[at]["file"]), (&line.into(), &"target.c".into()));
    let trusts: Vec<_> = frames[at + 1..at + 3].iter().map(|it| it["trust"].clone()).collect();
    assert_eq!(trusts, ["cfi", "cfi"], "{frames:?}");
    let modules = dump.text("::objects -v");
    assert!(modules.contains(&symbols.display().to_string()), "{modules}");
}

#[test]
fn a_symbol_file_of_another_build_is_refused() {
    let (dump, _) = dump_with(|text| text.replacen("x86_64 ", "x86_64 0", 1));
    let frames = worker(&dump);
    assert!(frames.iter().all(|it| it["function"] != "wait_inner"), "{frames:?}");
    let modules = dump.text("::objects -v");
    assert!(modules.contains("not that of the process"), "{modules}");
}

#[test]
fn a_cut_symbol_file_names_what_it_has() {
    let whole = dump_with(str::to_owned);
    let text = fs::read(&whole.1).unwrap();
    for len in [10, 60, text.len() / 3, text.len() / 2, text.len() - 20] {
        fs::write(&whole.1, &text[..len]).unwrap();
        let (_, errors, status) = whole.0.run(&["-c", "::walk thread | ::stack; ::objects -v"]);
        assert!(!errors.contains("panicked"), "{len}: {errors}");
        assert!(matches!(status, Some(0..=2)), "{len}: {errors}");
    }
}
