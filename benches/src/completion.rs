//! How long a user waits for the names that Tab offers.

use std::time::{Duration, Instant};

use anyhow::Result;
use kcore::{Core, OpenOptions};

use crate::{
    measure::Measured,
    sample::median,
    table::{Row, Table},
    workloads::Subject,
};

const RUNS: usize = 11;
/// As many names as the shell asks for.
const NAMES: usize = 500;

/// The first Tab on an open core, which reads the symbol tables, and those after it.
pub fn latency(subject: &Subject) -> Result<Table> {
    let core = open(subject)?;
    let again = |prefix| median(RUNS, || complete(&core, prefix));
    Ok(Table::new(vec![
        row("kcore, a few names", again("_ZN9generated4step4242")),
        row("kcore, one name", again("main")),
        row("kcore, all names", again("")),
        row("kcore, the first time", first(subject)),
    ]))
}

fn row(name: &str, time: Result<Duration, String>) -> Row {
    let measured = time.map(|time| Measured { time, memory: None });
    Row { name: name.to_owned(), measured, frames: None }
}

/// The first completion of a core that was just opened; to open it is not part of it.
fn first(subject: &Subject) -> Result<Duration, String> {
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let core = open(subject).map_err(|error| error.to_string())?;
        let start = Instant::now();
        complete(&core, "main")?;
        times.push(start.elapsed());
    }
    times.sort();
    Ok(times[times.len() / 2])
}

fn open(subject: &Subject) -> Result<Core> {
    let core = Some(subject.core.clone());
    Ok(Core::open(&OpenOptions { core, ..OpenOptions::default() })?)
}

fn complete(core: &Core, prefix: &str) -> Result<(), String> {
    let names = core.symbols().complete(None, prefix, NAMES, &|| true).unwrap_or_default();
    if names.is_empty() { Err(format!("nothing begins with {prefix:?}")) } else { Ok(()) }
}
