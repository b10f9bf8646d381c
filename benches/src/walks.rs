//! The walker itself, on a core that is open.

use anyhow::Result;
use kcore::{Core, MAX_FRAMES, OpenOptions, Stack};

use crate::{
    framehop::Hop,
    measure::Measured,
    sample::median,
    table::{Row, Table},
    workloads::Subject,
};

const RUNS: usize = 11;

/// Frames of all threads, by kcore with and without parallel threads, and by framehop.
pub fn frames_a_second(subject: &Subject) -> Result<Table> {
    let options = OpenOptions { core: Some(subject.core.clone()), ..OpenOptions::default() };
    Ok(Table::new(rows(&Core::open(&options)?)))
}

fn rows(core: &Core) -> Vec<Row> {
    let hop = Hop::new(core);
    vec![
        row("kcore", || one_by_one(core)),
        row("kcore, threads in parallel", || {
            count(&core.stacks().of_threads(&core.tids(), MAX_FRAMES))
        }),
        row("framehop, one cache", || hop.count_frames(core)),
    ]
}

fn row(name: &str, mut walk: impl FnMut() -> usize) -> Row {
    let mut frames = 0;
    let time = median(RUNS, || {
        frames = walk();
        Ok(())
    });
    let measured = time.map(|time| Measured { time, memory: None });
    Row { name: name.to_owned(), measured, frames: Some(frames) }
}

/// By one walker, which remembers the rows that it has read.
fn one_by_one(core: &Core) -> usize {
    let Some(mut walker) = core.stacks().walker() else { return 0 };
    let stacks = core
        .tids()
        .into_iter()
        .map(|tid| core.stacks().of_thread_with(&mut walker, tid, MAX_FRAMES));
    stacks.map(|stack| stack.frames.len()).sum()
}

fn count(stacks: &[Stack]) -> usize {
    stacks.iter().map(|stack| stack.frames.len()).sum()
}
