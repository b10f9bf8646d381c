//! What it costs to look for language runtimes where there are none.

use std::time::Duration;

use anyhow::Result;
use kcore::{Core, MAX_FRAMES, OpenOptions, Probes};

use crate::{
    measure::Measured,
    sample::median,
    table::{Row, Table},
    workloads::Subject,
};

const RUNS: usize = 41;

/// A core that is opened and its first stack named, with all probes and with none.
pub fn absent(subject: &Subject) -> Result<Table> {
    Ok(Table::new(vec![
        row("kcore, with probes", subject, Probes::default()),
        row("kcore, without", subject, Probes::NONE),
    ]))
}

fn row(name: &str, subject: &Subject, probes: Probes) -> Row {
    let time = median(RUNS, || first_stack(subject, probes));
    let measured = time.map(|time: Duration| Measured { time, memory: None });
    Row { name: name.to_owned(), measured, frames: None }
}

fn first_stack(subject: &Subject, probes: Probes) -> Result<(), String> {
    let core = Some(subject.core.clone());
    let options = OpenOptions { core, probes, ..OpenOptions::default() };
    let core = Core::open(&options).map_err(|error| error.to_string())?;
    let tid = *core.tids().first().ok_or("no thread")?;
    let stack = core.stacks().of_thread(tid, MAX_FRAMES);
    match core.stacks().named_frames(&stack).count() {
        0 => Err("no frames".to_owned()),
        _ => Ok(()),
    }
}
