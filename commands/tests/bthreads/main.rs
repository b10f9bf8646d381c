//! bthreads, held against what programs know of their own: in every layout, with debug information and
//! without.

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
mod switches;
mod workers;

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

/// The scenarios, a release of bRPC each, and their variants.
const CASES: &[(&str, &str)] = &[
    ("bthreads", "O0-pie"),
    ("bthreads", "O2-pie"),
    ("bthreads", "O2-nopie"),
    ("bthreads", "O2-pie-gcore"),
    ("bthreads-1", "O2-pie"),
    ("bthreads-12", "O2-pie"),
    ("bthreads-13", "O2-pie"),
    ("bthreads-16", "O2-pie"),
    ("bthreads-18", "O2-pie"),
    ("bthreads-own", "O2-pie"),
    ("bthreads-own", "O2-pie-gcore"),
    ("bthreads-own", "O2-aarch64-pie"),
    ("bthreads-own", "O0-aarch64-nopie"),
    ("brpc", "O2-pie"),
    ("brpc", "O0-pie-gcore"),
    ("brpc-many", "O2-pie"),
];

/// An opened core of a program that has bthreads.
struct Opened {
    name: String,
    core: Arc<Core>,
    /// What the bthreads told of themselves, by their ids as JSON has them.
    told: BTreeMap<String, Value>,
}

impl Opened {
    /// Whether it is bRPC itself, and not a program that lays things out as a release does.
    fn is_real(&self) -> bool {
        self.name.starts_with("brpc")
    }

    /// Whether the first function of each stack is the scheduler's own.
    fn has_own_switch(&self) -> bool {
        self.is_real() || self.name.starts_with("bthreads-own")
    }

    fn records(&self, line: &str) -> Vec<Value> {
        let records = harness::json_on(&self.core, line);
        for record in &records {
            assert_ne!(record["type"], "error", "{} {line}: {record}", self.name);
        }
        records
    }
}

/// Whether a bthread runs on the stack of its worker.
fn is_on_worker(told: &Value) -> bool {
    told["function"].as_str().is_some_and(|function| function.ends_with("_on_worker"))
}

/// The last that each bthread told: a slot is used again under another id.
fn told(case: &Case) -> BTreeMap<String, Value> {
    told_in(&case.dir.join("values.jsonl"))
}

fn told_in(path: &Path) -> BTreeMap<String, Value> {
    let text = fs::read_to_string(path).expect("bthreads told");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.map(|line| (line["bthread"].as_str().expect("an id").to_owned(), line)).collect()
}

fn open(case: &Case, exe: Option<PathBuf>) -> Opened {
    let sysroot = case.truth().expect("the truth").sysroot.map(Into::into);
    let core = Some(case.core.clone());
    let options = OpenOptions { core, exe, sysroot, ..OpenOptions::default() };
    let core = Arc::new(Core::open(&options).expect("the core opens"));
    Opened { name: case.name(), core, told: told(case) }
}

/// All cores, as they are. They are opened once for all tests: what a core has decoded, it keeps.
fn cores() -> &'static [Opened] {
    static CORES: LazyLock<Vec<Opened>> = LazyLock::new(|| {
        let cases = CASES.iter().filter_map(|(scenario, variant)| made(scenario, variant));
        cases.map(|case| open(&case, None)).collect()
    });
    &CORES
}

/// All cores, opened with a program without debug information: layouts must be found in memory.
fn cores_without_types() -> &'static [Opened] {
    static CORES: LazyLock<Vec<Opened>> = LazyLock::new(|| {
        let cases = CASES.iter().filter_map(|(scenario, variant)| made(scenario, variant));
        cases.map(|case| open(&case, Some(without_types(&case)))).collect()
    });
    &CORES
}

fn without_types(case: &Case) -> PathBuf {
    let strip = if case.name().contains("aarch64") { "aarch64-linux-gnu-strip" } else { "strip" };
    let into = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let into = into.join(format!("{}-without-types", case.name().replace('/', "-")));
    let strip = Command::new(strip).arg("-g").arg("-o").arg(&into).arg(&case.exe).status();
    assert!(strip.expect("strip runs").success(), "{}", case.name());
    into
}
