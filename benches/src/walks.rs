//! The walker itself, on a core that is open.

use anyhow::Result;
use gen_cores::Case;
use kcore::{Core, MAX_FRAMES, OpenOptions, Stack};

use crate::{
    framehop::Hop,
    sample::median,
    table::{Row, Table},
};

const RUNS: usize = 11;

/// Frames of all threads, by kcore with and without parallel threads, and by framehop.
pub fn all_threads(case: &Case) -> Result<Table> {
    let core = open(case)?;
    Ok(Table {
        title: format!("walk of 1,000 threads in one process, {}", case.name()),
        rows: rows(&core),
    })
}

/// Frames of one deep stack.
pub fn deep_stack(case: &Case) -> Result<Table> {
    let core = open(case)?;
    Ok(Table {
        title: format!("walk of 100,000 frames in one process, {}", case.name()),
        rows: rows(&core),
    })
}

fn open(case: &Case) -> Result<Core> {
    let options = OpenOptions { core: Some(case.core.clone()), ..OpenOptions::default() };
    Ok(Core::open(&options)?)
}

fn rows(core: &Core) -> Vec<Row> {
    let hop = Hop::new(core);
    vec![
        row("kcore", || one_by_one(core)),
        row("kcore, threads in parallel", || count(&core.stacks(&core.tids(), MAX_FRAMES))),
        row("framehop, one cache", || hop.count_frames(core)),
    ]
}

fn row(name: &str, mut walk: impl FnMut() -> usize) -> Row {
    let mut frames = 0;
    let time = median(RUNS, || {
        frames = walk();
        Ok(())
    });
    Row { name: name.to_owned(), time, frames: Some(frames) }
}

/// By one walker, which remembers the rows that it has read.
fn one_by_one(core: &Core) -> usize {
    let Some(mut walker) = core.walker() else { return 0 };
    let stacks = core.tids().into_iter().map(|tid| core.stack_with(&mut walker, tid, MAX_FRAMES));
    stacks.map(|stack| stack.frames.len()).sum()
}

fn count(stacks: &[Stack]) -> usize {
    stacks.iter().map(|stack| stack.frames.len()).sum()
}
