//! Fibers of Boost.Fiber, held against what programs know of their own: with each algorithm of its schedulers,
//! with debug information and without.

#[path = "../dcmds/harness.rs"]
#[allow(dead_code)]
mod harness;
mod live;
#[path = "../dcmds/live_target.rs"]
mod live_target;
#[path = "../dcmds/made.rs"]
mod made;
mod stacks;
mod states;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, LazyLock},
};

use gen_cores::Case;
use kcore::{Core, OpenOptions};
use made::made;
use serde_json::Value;

const CASES: &[(&str, &str)] = &[
    ("fibers", "O0-pie"),
    ("fibers", "O2-pie"),
    ("fibers", "O2-nopie"),
    ("fibers", "O2-pie-gcore"),
    ("fibers-shared", "O2-pie"),
    ("fibers-shared", "O2-pie-gcore"),
    ("fibers-stealing", "O2-pie"),
    ("fibers-stealing", "O2-pie-gcore"),
];

/// What the program is opened with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Symbols {
    /// All that there is.
    Debug,
    /// Names of functions alone.
    Names,
    /// Not even those.
    Exported,
}

/// An opened core of a program that has fibers.
struct Opened {
    name: String,
    symbols: Symbols,
    core: Arc<Core>,
    /// What the fibers told of themselves, by their addresses as JSON has them.
    told: BTreeMap<String, Value>,
}

impl Opened {
    fn records(&self, line: &str) -> Vec<Value> {
        let records = harness::json_on(&self.core, line);
        for record in &records {
            assert_ne!(record["type"], "error", "{} {line}: {record}", self.name);
        }
        records
    }
}

/// The last that each fiber told: another may come where one ended.
fn told_in(path: &Path) -> BTreeMap<String, Value> {
    let text = fs::read_to_string(path).expect("fibers told");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.map(|line| (line["fiber"].as_str().expect("an address").to_owned(), line)).collect()
}

fn open(case: &Case, symbols: Symbols) -> Opened {
    let exe = match symbols {
        Symbols::Debug => None,
        Symbols::Names => Some(stripped(case, "-g")),
        Symbols::Exported => Some(stripped(case, "-s")),
    };
    let options = OpenOptions { core: Some(case.core.clone()), exe, ..OpenOptions::default() };
    let core = Arc::new(Core::open(&options).expect("the core opens"));
    Opened { name: case.name(), symbols, core, told: told_in(&case.dir.join("values.jsonl")) }
}

fn stripped(case: &Case, how: &str) -> PathBuf {
    let into = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let into = into.join(format!("{}{how}", case.name().replace('/', "-")));
    let strip = Command::new("strip").arg(how).arg("-o").arg(&into).arg(&case.exe).status();
    assert!(strip.expect("strip runs").success(), "{}", case.name());
    into
}

/// All cores, with the program as it is, or as it is installed by many. They are opened once for all tests: what a core has
/// decoded, it keeps.
fn cores(symbols: Symbols) -> &'static [Opened] {
    fn opened(symbols: Symbols) -> Vec<Opened> {
        let cases = CASES.iter().filter_map(|(scenario, variant)| made(scenario, variant));
        cases.map(|case| open(&case, symbols)).collect()
    }
    static DEBUG: LazyLock<Vec<Opened>> = LazyLock::new(|| opened(Symbols::Debug));
    static NAMES: LazyLock<Vec<Opened>> = LazyLock::new(|| opened(Symbols::Names));
    static EXPORTED: LazyLock<Vec<Opened>> = LazyLock::new(|| opened(Symbols::Exported));
    match symbols {
        Symbols::Debug => &DEBUG,
        Symbols::Names => &NAMES,
        Symbols::Exported => &EXPORTED,
    }
}
