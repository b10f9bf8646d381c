//! `::ugrep`, held against a naive scan of memory.

use std::sync::Arc;

use kcore::{Addr, Core, OpenOptions, Origin};

use crate::harness::{core, error, hex, json, run, run_on, value};

/// Every aligned unit of memory, page by page: what `::ugrep` must find among them.
fn units(core: &Core, size: usize) -> Vec<(u64, u64)> {
    const PAGE: usize = 0x1000;
    let mapped = core.mappings().iter().map(|it| it.range.start.get()..it.range.end.get());
    let mut units = Vec::new();
    for page in mapped.flat_map(|range| range.step_by(PAGE)) {
        if !matches!(core.space().origin(Addr::new(page)), Ok(Origin::Core | Origin::ModuleFile)) {
            continue;
        }
        let mut bytes = [0; PAGE];
        let (held, _) = core.space().read_partial(Addr::new(page), &mut bytes);
        let whole = bytes[..held].chunks_exact(size).map(|unit| core.target().uint(unit));
        units.extend((page..).step_by(size).zip(whole));
    }
    units
}

fn found(line: &str) -> Vec<(u64, u64)> {
    found_on(&core(), line)
}

/// Addresses and values, read from the text.
fn found_on(core: &Arc<Core>, line: &str) -> Vec<(u64, u64)> {
    let out = run_on(core, &format!("{line} -v")).out;
    let number = |text: &str| u64::from_str_radix(text, 16).expect("numbers are hexadecimal");
    let pairs = out.lines().map(|line| line.split_once(":\t").expect("an address and a value"));
    pairs.map(|(at, value)| (number(at), number(value))).collect()
}

/// The same numbers in each run, spread over what there is.
struct Spread(u64);

impl Spread {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 11
    }

    /// A value of memory that is not so common that all matches take long to read.
    fn value(&mut self, units: &[(u64, u64)]) -> u64 {
        loop {
            let (_, value) = units[self.next() as usize % units.len()];
            if value != 0 {
                return value;
            }
        }
    }
}

fn agrees(core: &Arc<Core>, rounds: usize, seed: u64) {
    let mut spread = Spread(seed);
    for size in [1, 2, 4, 8] {
        let units = units(core, size);
        let full = if size == 8 { u64::MAX } else { (1 << (8 * size)) - 1 };
        let expect = |line: String, wanted: &dyn Fn(u64) -> bool| {
            let naive: Vec<_> = units.iter().copied().filter(|(_, value)| wanted(*value)).collect();
            assert!(!naive.is_empty(), "{line}: the value is from memory");
            assert_eq!(found_on(core, &line), naive, "{line}");
        };
        for _ in 0..rounds {
            let value = spread.value(&units);
            let dist = 1 + spread.next() % 0x1000;
            let mask = !(spread.next() & spread.next() & 0xffff) & full;
            let bits = value & mask;
            expect(format!("{value:x}::ugrep -s {size}"), &|it| it == value);
            expect(format!("{value:x}::ugrep -s {size} -d {dist:x}"), &|it| {
                value <= it && it - value < dist
            });
            expect(format!("{bits:x}::ugrep -s {size} -m {mask:x}"), &|it| it & mask == bits);
            let inverse = !mask & full;
            expect(format!("{bits:x}::ugrep -s {size} -M {inverse:x}"), &|it| it & mask == bits);
        }
    }
}

#[test]
fn it_finds_what_a_naive_scan_finds() {
    agrees(&core(), 4, 1);
}

#[test]
fn it_finds_the_same_in_every_kind_of_core() {
    for (scenario, variant) in [
        ("leaf", "O0-aarch64-static"),
        ("filter-all", "O0-pie"),
        ("filter-anonymous", "O0-pie"),
        ("threads-12", "O0-pie"),
    ] {
        let Ok(gen_cores::Outcome::Fresh(case) | gen_cores::Outcome::Made(case)) =
            gen_cores::ensure(scenario, variant)
        else {
            panic!("{scenario}/{variant} cannot be made");
        };
        let options = OpenOptions { core: Some(case.core), ..OpenOptions::default() };
        agrees(&Arc::new(Core::open(&options).expect("the core opens")), 1, 2);
    }
}

#[test]
fn it_says_where_the_bytes_are_from() {
    // The first bytes of every ELF file: the core holds those pages, or the file does.
    let records = json("10102464c457f::ugrep");
    let headers: Vec<_> = records.iter().filter(|it| it["type"] == "match").collect();
    assert!(headers.iter().any(|it| it["origin"] == "core" && it["size"] == 8), "{headers:?}");
    let at = (value("main") + 7) & !7;
    let code = value(&format!("*{at:x}"));
    let in_file = json(&format!("{code:x}::ugrep -a {at:x} -A {at:x}+8"));
    assert_eq!(in_file.len(), 1);
    assert_eq!(in_file[0]["origin"], "module_file");
    assert_eq!(hex(&in_file[0]["address"]), at);
}

#[test]
fn it_prints_addresses_with_values_where_asked() {
    let sp = value("<rsp");
    let word = value("*<rsp");
    let line = format!("{word:x}::ugrep -a {sp:x} -A {:x}", sp + 8);
    let plain = run(&line);
    assert_eq!((plain.out, plain.status.failed()), (format!("{sp:x}\n"), false));
    assert_eq!(run(&format!("{line} -v")).out, format!("{sp:x}:\t{word:x}\n"));
    assert_eq!(run(&line.replace("ugrep", "kgrep")).out, format!("{sp:x}\n"));
    assert_eq!(run(&format!("{line} | ::map .")).out, format!("{sp:#x}\n"));
}

#[test]
fn units_lie_wholly_between_the_bounds() {
    let sp = value("<rsp");
    let word = value("*<rsp");
    let at = |min: u64, max: u64| found(&format!("{word:x}::ugrep -a {min:x} -A {max:x}"));
    assert_eq!(at(sp, sp + 8), [(sp, word)]);
    assert_eq!(at(sp - 7, sp + 15), [(sp, word)]);
    assert_eq!(at(sp + 1, sp + 8), []);
    assert_eq!(at(sp, sp + 7), []);
}

#[test]
fn wrong_calls_are_refused_in_the_words_of_mdb() {
    for (line, expected) in [
        ("8::ugrep -s 3", "size must be a power of 2"),
        ("8::ugrep -s 0", "size must be a power of 2"),
        ("8::ugrep -s 16", "sizes greater than 8 not supported"),
        ("8::ugrep -d 1 -m 2", "only one of -d, -m and -M may be specified"),
        ("8::ugrep -m 2 -M 2", "only one of -d, -m and -M may be specified"),
        ("8::ugrep -m 7", "warning: pattern does not match mask"),
        ("100::ugrep -s 1", "warning: pattern does not match mask"),
        ("8::ugrep -a 0 -A 1000", "warning: nothing searched"),
        ("8::ugrep -a main -A main", "warning: nothing searched"),
    ] {
        assert_eq!(error(line), format!("kcore: {expected}"), "{line}");
    }
    let outcomes = run("::ugrep");
    let usage =
        "Usage: address::ugrep [-v] [-d dist] [-m mask] [-M invmask] [-a min] [-A max] [-s size]";
    assert!(outcomes.errors.lines().any(|line| line == usage), "{}", outcomes.errors);
}

#[test]
fn what_was_not_dumped_is_counted() {
    let note = "kcore: note: a range of 0x8000 bytes was not dumped and not searched\n";
    let untouched = core()
        .mappings()
        .iter()
        .find(|it| it.dumped == 0 && it.name() == "[ anon ]")
        .map(|it| it.range.len());
    assert_eq!(untouched, Some(0x8000), "the never touched .bss of leaf");
    assert_eq!(run("main::ugrep").errors, note);
}

#[test]
fn a_pipe_takes_as_many_as_are_wanted() {
    assert_eq!(run("0::ugrep | ::head -2").out.lines().count(), 2);
}
