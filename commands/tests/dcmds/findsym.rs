//! `::findsym`, held against what objdump says of the same programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use gen_cores::{Case, Outcome};
use kcore::{Core, OpenOptions};
use serde_json::Value;

use crate::harness::{case, core, error, hex, json, json_on, one, run_on, text, value};

/// An instruction as objdump shows it.
struct Line {
    at: u64,
    text: String,
    /// The address before the last `<symbol>`.
    target: Option<u64>,
}

fn objdump(program: &str, exe: &Path) -> Vec<Line> {
    let output = Command::new(program).args(["-d", "--no-show-raw-insn"]).arg(exe).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program}");
    let text = String::from_utf8(output.stdout).expect("objdump writes text");
    text.lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<Line> {
    let (at, text) = line.split_once(":\t")?;
    let at = u64::from_str_radix(at.trim(), 16).ok()?;
    let before = text.rsplit_once(" <").map(|(before, _)| before);
    let target = before.and_then(|text| text.rsplit([' ', ',', '\t']).next());
    let target = target.and_then(|word| u64::from_str_radix(word, 16).ok());
    Some(Line { at, text: text.to_owned(), target })
}

/// Where objdump sees code that mentions an address of a range, in the file's addresses.
fn mentions(lines: &[Line], from: u64, len: u64) -> BTreeSet<u64> {
    let wanted = |target: u64| (from..from + len.max(1)).contains(&target);
    lines.iter().filter(|line| line.target.is_some_and(wanted)).map(|line| line.at).collect()
}

/// Functions and variables that the executable defines, by name: address in the process and size.
fn symbols(core: &Arc<Core>, kind: &str) -> BTreeMap<String, (u64, u64)> {
    let records = json_on(core, "::nm a.out");
    let wanted = |it: &&Value| it["kind"] == kind && !it["address"].is_null();
    let symbols = records.iter().filter(wanted).map(|it| {
        let name = it["linkage_name"].as_str().unwrap_or_default().to_owned();
        (name, (hex(&it["address"]), it["size"].as_u64().unwrap_or(0)))
    });
    symbols.filter(|(name, _)| !name.contains('.')).collect()
}

fn found(core: &Arc<Core>, words: &str) -> BTreeSet<u64> {
    let records = json_on(core, &format!("::findsym {words}"));
    assert!(records.iter().all(|it| it["type"] == "reference"), "{words}: {records:?}");
    records.iter().map(|it| hex(&it["address"])).collect()
}

#[test]
fn it_finds_the_code_that_objdump_shows() {
    let core = core();
    let lines = objdump("objdump", &case().exe);
    let bias = value("main") - address_in_file(&case(), "main");
    let mut mentioned = 0;
    for (kind, whole) in [("FUNC", false), ("OBJT", true)] {
        for (name, (at, size)) in symbols(&core, kind) {
            let size = if whole { size } else { 1 };
            let expected: BTreeSet<u64> =
                mentions(&lines, at - bias, size).into_iter().map(|at| at + bias).collect();
            assert_eq!(found(&core, &format!("{at:x}")), expected, "{name}");
            mentioned += expected.len();
        }
    }
    assert!(mentioned > 10, "the program mentions more than {mentioned} symbols");
}

#[test]
fn calls_through_linkage_tables_are_calls_of_the_function() {
    let lines = objdump("objdump", &case().exe);
    let bias = value("main") - address_in_file(&case(), "main");
    let calls = lines.iter().filter(|line| line.text.contains("<write@plt>"));
    let calls: BTreeSet<u64> = calls.map(|line| line.at + bias).collect();
    assert!(!calls.is_empty());
    assert_eq!(found(&core(), "write"), calls);
}

/// A program of aarch64 without a linker, its core, and objdump's view of it.
fn aarch64() -> (Arc<Core>, Vec<Line>) {
    let Ok(Outcome::Fresh(case) | Outcome::Made(case)) =
        gen_cores::ensure("leaf", "O0-aarch64-static")
    else {
        panic!("this machine makes no such cores");
    };
    let lines = objdump("aarch64-linux-gnu-objdump", &case.exe);
    let options = OpenOptions { core: Some(case.core), exe: Some(case.exe), ..Default::default() };
    (Arc::new(Core::open(&options).expect("the core opens")), lines)
}

#[test]
fn it_finds_the_branches_of_aarch64_code() {
    let (core, lines) = aarch64();
    let functions = symbols(&core, "FUNC");
    for name in ["main", "leaf", "sum", "report", "abort", "malloc", "_exit"] {
        let Some((at, _)) = functions.get(name).copied() else { continue };
        let expected = mentions(&lines, at, 1);
        assert_eq!(found(&core, &format!("{at:x}")), expected, "{name}");
        assert!(!expected.is_empty(), "{name}");
    }
}

/// What two instructions that stand behind one another refer to: `adrp x0, 48d000 <…>` and
/// `add x1, x0, #0x48`, or a load or store at `[x0, #72]`.
fn pair(first: &Line, second: &Line) -> Option<(u64, u64)> {
    let (register, page) = first.text.strip_prefix("adrp\t")?.split_once(", ")?;
    let page = u64::from_str_radix(page.split(' ').next()?, 16).ok()?;
    let sum = second.text.strip_prefix("add\t").and_then(|text| text.split_once(", "));
    let sum = sum.and_then(|(_, from)| from.strip_prefix(&format!("{register}, #")));
    let memory = second.text.split_once(&format!("[{register}, #"));
    let memory = memory.and_then(|(_, rest)| rest.strip_suffix(']'));
    let number = sum.or(memory)?;
    let added = match number.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    Some((second.at, page + added))
}

#[test]
fn it_finds_the_addresses_that_aarch64_code_puts_together() {
    let (core, lines) = aarch64();
    let pairs: Vec<_> = lines.windows(2).filter_map(|two| pair(&two[0], &two[1])).collect();
    let mut compared = 0;
    for (name, (at, size)) in symbols(&core, "OBJT").into_iter().filter(|(_, (_, size))| *size > 0)
    {
        let inside = pairs.iter().filter(|(_, to)| (at..at + size).contains(to));
        let expected: BTreeSet<u64> = inside.map(|(from, _)| *from).collect();
        if expected.len() > 2 {
            let found = found(&core, &format!("{at:x}"));
            assert!(found.is_superset(&expected), "{name}: {found:x?} {expected:x?}");
            compared += expected.len();
        }
    }
    assert!(compared > 50, "{compared} of {} pairs", pairs.len());
}

#[test]
fn lines_are_those_of_mdb() {
    let at = hex(&one("::findsym leaf")["address"]);
    let offset = at - value("sum");
    assert_eq!(text("::findsym leaf"), format!("found leaf at sum+{offset:#x}\n"));
    assert_eq!(text("leaf::findsym"), text("::findsym leaf"));
    assert_eq!(text("::findsym $[leaf]"), text("::findsym leaf"));
    let both = text("::findsym leaf main");
    assert!(both.lines().count() == 2 && both.contains("found main at _start+"), "{both}");
    assert_eq!(text("::findsym leaf | ::map ."), format!("{at:#x}\n"));
    let record = one("::findsym leaf");
    assert_eq!(
        (&record["found"]["symbol"], &record["location"]["symbol"]),
        (&"leaf".into(), &"sum".into())
    );
}

#[test]
fn the_scope_is_the_executable_or_all_and_globals_where_asked() {
    assert!(json("::findsym -a abort").len() > json("::findsym abort").len());
    let local = json("::findsym leaf").len() - json("::findsym -g leaf").len();
    let is_local = one("sum::nm")["binding"] == "LOCL";
    assert_eq!(local == 1, is_local, "sum calls leaf once");
}

#[test]
fn what_is_not_there_is_said() {
    assert_eq!(error("::findsym"), "kcore: expected a symbol or an address");
    assert!(error("::findsym nonesuch").contains("unknown symbol name"));
    assert_eq!(text("::findsym 8"), text("::findsym 8"));
    let outcomes = run_on(&crate::harness::executable(), "::findsym leaf");
    assert_eq!((outcomes.errors.as_str(), outcomes.out.lines().count()), ("", 1));
}

/// The address of a symbol as the file states it.
fn address_in_file(case: &Case, name: &str) -> u64 {
    let output = Command::new("nm").arg(&case.exe).output().expect("nm runs");
    let text = String::from_utf8(output.stdout).expect("nm writes text");
    let suffix = format!(" {name}");
    let line = text.lines().find(|line| line.ends_with(&suffix)).expect("nm knows it");
    u64::from_str_radix(line.split(' ').next().unwrap_or_default(), 16).expect("an address")
}
