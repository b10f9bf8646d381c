//! Facts in what lines of gdb show in kcore, against gdb itself on the same core.

use std::process::{Command, Stdio};

use crate::run::Core;

/// The number that a word is, in hexadecimal, with or without `0x`.
fn hexadecimal(word: &str) -> Option<u64> {
    u64::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).ok()
}

/// The functions of a stack as gdb prints it.
fn functions_of_gdb(text: &str) -> Vec<String> {
    let frames = text.lines().filter(|line| line.starts_with('#'));
    let name = |line: &str| {
        let rest = line.split_once(" in ").map_or_else(|| &line[4..], |(_, rest)| rest);
        rest.trim().split([' ', '(']).next().unwrap_or_default().to_owned()
    };
    frames.map(name).collect()
}

/// The same as kcore prints it: `pointer name+offset(arguments)`.
fn functions_of_kcore(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let word = line.split_whitespace().nth(1).unwrap_or_default();
        word.split(['+', '(']).next().unwrap_or_default().to_owned()
    };
    text.lines().map(name).collect()
}

#[test]
fn bt_names_the_same_functions() {
    let core = Core::nodes();
    let gdb = functions_of_gdb(&core.gdb("bt"));
    let kcore = functions_of_kcore(&core.kcore("bt").out);
    // gdb ends at main by its own setting; kcore goes on to what called it.
    assert_eq!(gdb, ["handle_get", "serve", "main"]);
    assert_eq!(kcore.get(..3).unwrap(), gdb);
}

#[test]
fn info_threads_has_the_same_threads_and_thread_counts_them_alike() {
    let core = Core::committed("workers");
    let gdb = core.gdb("info threads");
    let lwp = |line: &str| line.split_once("LWP ")?.1.split([' ', ')']).next()?.parse::<u64>().ok();
    let mut gdb: Vec<u64> = gdb.lines().filter_map(lwp).collect();
    let kcore = core.kcore("info threads").out;
    let number =
        |line: &str| line.trim_start_matches(['>', '*', ' ']).split(' ').next()?.parse().ok();
    let mut kcore: Vec<u64> = kcore.lines().filter_map(number).collect();
    assert_eq!(kcore.len(), 12);
    for (index, tid) in gdb.iter().enumerate() {
        let chosen = core.kcore(&format!("thread {}; <thread=D", index + 1)).out;
        assert!(chosen.trim_end().ends_with(&tid.to_string()), "{index}: {chosen}");
    }
    gdb.sort_unstable();
    kcore.sort_unstable();
    assert_eq!(gdb, kcore);
}

#[test]
fn info_registers_has_the_same_values() {
    let core = Core::nodes();
    let shown = core.kcore("info registers").out;
    let words: Vec<&str> = shown.split_whitespace().collect();
    let mut compared = 0;
    for line in core.gdb("info registers").lines() {
        let mut parts = line.split_whitespace();
        let (Some(name), Some(value)) = (parts.next(), parts.next()) else { continue };
        let place = words.iter().position(|word| word.trim_start_matches('%') == name);
        let Some(ours) = place.and_then(|at| words.get(at + 2)) else { continue };
        assert_eq!(hexadecimal(ours), hexadecimal(value), "{name}");
        compared += 1;
    }
    assert!(compared >= 17, "{compared}: {shown}");
}

#[test]
fn x_shows_the_same_words() {
    let core = Core::nodes();
    let values = |text: &str| -> Vec<u64> {
        let behind =
            |line: &str| line.split_once(':').map_or_else(|| line.to_owned(), |it| it.1.into());
        let words = text.lines().map(behind).collect::<Vec<_>>().join(" ");
        words.split_whitespace().map(|word| hexadecimal(word).unwrap()).collect()
    };
    let line = "x/8gx $rsp";
    let gdb = values(&core.gdb(line));
    assert_eq!(gdb.len(), 8);
    assert_eq!(values(&core.kcore(line).out), gdb);
}

#[test]
fn info_symbol_names_the_same_place() {
    let core = Core::nodes();
    for (line, symbol, offset) in
        [("info symbol $pc", "handle_get", 75), ("info symbol 0x40126d", "main", 0)]
    {
        let (gdb, kcore) = (core.gdb(line), core.kcore(line).out);
        let of_gdb = if offset == 0 { symbol.to_owned() } else { format!("{symbol} + {offset}") };
        let of_kcore =
            if offset == 0 { symbol.to_owned() } else { format!("{symbol}+{offset:#x}") };
        assert!(gdb.starts_with(&format!("{of_gdb} in section .text")), "{gdb}");
        assert!(kcore.contains(&format!(" is {of_kcore}, in ")), "{kcore}");
    }
}

#[test]
fn info_sharedlibrary_has_the_same_libraries() {
    let exe = "/bin/cat";
    let mut cat = Command::new(exe).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    // It has its libraries when it waits for input.
    let wchan =
        || std::fs::read_to_string(format!("/proc/{}/syscall", cat.id())).unwrap_or_default();
    while !wchan().starts_with("0 ") {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let core = Core::of_process(cat.id(), exe);
    cat.kill().unwrap();
    cat.wait().unwrap();
    let kcore = core.kcore("info sharedlibrary").out;
    let mut libraries = 0;
    for line in core.gdb("info sharedlibrary").lines().filter(|line| line.starts_with("0x")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (from, path) = (hexadecimal(words[0]).unwrap(), *words.last().unwrap());
        let name = path.rsplit('/').next().unwrap();
        let ours = kcore.lines().find(|line| line.contains(&format!("/{name} "))).expect(name);
        let range: Vec<u64> = ours.split_whitespace().take(2).filter_map(hexadecimal).collect();
        assert!(range[0] <= from && from < range[1], "{line}\n{ours}");
        libraries += 1;
    }
    assert!(libraries >= 2, "{kcore}");
}
