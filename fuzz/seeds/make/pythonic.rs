//! Values and stacks of Python, with the memory that reading them takes.
//!
//! They are those of the test cores, which `cargo run -p gen-cores` makes.

use std::{fs, path::Path};

use kcore::{Addr, Core, OpenOptions, Tid};
use kcore_fuzz::{input::Output, python::LIMITS};
use kcore_runtimes::{Host, PROBES, Runtimes, python::Python};

use super::recorder::Recorder;

/// The variants by minor version, from 8 on.
pub const VARIANTS: [&str; 8] = [
    "python3.8",
    "python3.9",
    "python3.10",
    "python3.11",
    "python3.12",
    "python3.13",
    "debian3.14",
    "debian3.15",
];
/// The values that are seeds, as the programs call them.
const VALUES: [&str; 11] = [
    "nested",
    "plain",
    "touched",
    "slotted below",
    "number",
    "pair",
    "wide",
    "set",
    "table",
    "exception",
    "function",
];
const NATIVES: [&str; 11] = [
    "moved",
    "deque",
    "items",
    "namespace",
    "partial",
    "view",
    "int",
    "named",
    "array h",
    "moment 3",
    "counts",
];
/// The function of the thread whose stack is a seed.
const THREAD: &str = "in_sleep";
/// Where `_PyRuntime` is made up to lie, to 3.12.
pub const RUNTIME: u64 = 0x20_0000;
/// Parts of memory that a seed may have, and its bytes.
pub const PARTS: usize = 64;
pub const BYTES: usize = 16 << 10;

/// Name and bytes of a seed.
pub type Seed = (String, Vec<u8>);

/// All seeds of the target `python`.
pub fn seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for (number, variant) in (0..).zip(VARIANTS) {
        let (values, natives) = (("python-values", &VALUES[..]), ("python-natives", &NATIVES[..]));
        for (scenario, names) in [values, natives] {
            let core = || open(scenario, variant);
            for (name, at) in told(scenario, variant, names) {
                let look = |python: &Python, recorder: &Recorder<'_>| {
                    drop(python.value(recorder, at, LIMITS));
                };
                let bytes = seed(number, &core(), at, look);
                seeds.extend(
                    bytes.map(|bytes| (format!("{variant}_{}", name.replace(' ', "_")), bytes)),
                );
            }
        }
        let core = open("python-stack", variant);
        let threads = core.tids();
        let is_it = |tid: &&Tid| core.thread_facts(**tid).name.as_deref() == Some(THREAD);
        let tid = *threads.iter().find(is_it).expect("the thread");
        let fresh = open("python-stack", variant);
        let walk = |python: &Python, recorder: &Recorder<'_>| drop(python.chains(recorder, tid));
        let bytes = seed(number, &fresh, Addr::new(0), walk);
        seeds.extend(bytes.map(|bytes| (format!("{variant}_stack"), bytes)));
    }
    seeds
}

pub fn open(scenario: &str, variant: &str) -> Core {
    let folder = folder(scenario, variant);
    let (core, exe) = (Some(folder.join("core")), Some(folder.join(scenario)));
    Core::open(&OpenOptions { core, exe, ..OpenOptions::default() }).expect("a core")
}

fn folder(scenario: &str, variant: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/cores").join(scenario).join(variant)
}

/// Where a program said that its values lie.
fn told(scenario: &str, variant: &str, names: &[&str]) -> Vec<(String, Addr)> {
    let text = fs::read_to_string(folder(scenario, variant).join("values.jsonl"));
    let text = text.expect("values");
    let of_name = |name: &&str| {
        let line =
            text.lines().find(|line| line.starts_with(&format!("{{\"name\":\"{name}\",")))?;
        let at = line.split("\"at\":\"0x").nth(1)?.split('"').next()?;
        Some(((*name).to_owned(), Addr::new(u64::from_str_radix(at, 16).ok()?)))
    };
    names.iter().filter_map(of_name).collect()
}

fn seed(
    number: u8,
    core: &Core,
    object: Addr,
    look: impl FnOnce(&Python, &Recorder<'_>),
) -> Option<Vec<u8>> {
    let recorder = Recorder::new(core);
    // To 3.12 what it takes to find CPython is made up.
    let found = (number >= 5).then(|| Runtimes::find(PROBES, &recorder));
    let runtimes = found.as_ref().unwrap_or_else(|| core.runtimes());
    let python = runtimes.of::<Python>().next().expect("CPython");
    let state = python.state(&recorder);
    let (interpreter, thread) = (state.interpreters.first()?, state.threads.first()?);
    look(python, &recorder);
    let runtime = if number >= 5 { runtime_of(core)?.get() } else { RUNTIME };
    let head = [runtime, interpreter.at.get(), thread.at.get(), thread.ident];
    let start = Output::default().word(object.get()).word(0).byte(number);
    let output = head.into_iter().fold(start, Output::word);
    let memory = recorder.memory();
    let bytes = memory.write(output).0;
    (memory.0.len() <= PARTS && bytes.len() <= BYTES).then_some(bytes)
}

pub fn runtime_of(core: &Core) -> Option<Addr> {
    let mut modules = Host::modules(core).into_iter();
    modules.find_map(|module| module.addr(module.exported("_PyRuntime")?.0))
}
