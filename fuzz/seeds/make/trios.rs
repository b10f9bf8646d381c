//! Tasks of trio of the test cores: one that sleeps, one that waits for a lock and one for a file descriptor, with the memory
//! that reading them takes.

use kcore::{Addr, Core};
use kcore_fuzz::{
    input::Output,
    memory::Memory,
    trio::{PIECES, TASKS},
};
use kcore_runtimes::{
    PROBES, Runtimes,
    python::{Python, trio::Trio},
};

use super::{
    pythonic::{PARTS, RUNTIME, Seed, open, runtime_of},
    recorder::Recorder,
};

/// The cores, by the minor version of CPython, counted from 8.
const CORES: [(u8, &str, &str); 3] =
    [(0, "trio-old", "python3.8"), (3, "trio", "python3.11"), (5, "trio", "python3.13")];
/// What the names of the tasks end with.
const NAMES: [&str; TASKS] = [".sleeps", ".locks", ".accepts"];
/// Bytes of a seed, at most.
const BYTES: usize = 96 << 10;

/// All seeds of the target `trio`.
pub fn seeds() -> Vec<Seed> {
    let made = CORES.iter().filter_map(|(number, scenario, variant)| {
        let bytes = seed(*number, &open(scenario, variant))?;
        Some((format!("{scenario}_{variant}"), bytes))
    });
    made.collect()
}

fn seed(number: u8, core: &Core) -> Option<Vec<u8>> {
    let trio = core.tasks().runtimes().of::<Trio>().next()?;
    let known = trio.known(core);
    let of = |name: &str| {
        let mut all = known.all.iter();
        let is_it = |own: &str| own.ends_with(name);
        all.find(|task| task.name.as_deref().is_some_and(is_it)).map(|task| task.at)
    };
    let (runner, tasks) = (trio.runs(core).first().copied()?, NAMES.map(of));
    let tasks: Vec<Addr> = tasks.into_iter().collect::<Option<_>>()?;
    let recorder = Recorder::new(core);
    let found = Trio::of_tasks(&recorder, runner, &tasks)?;
    found.known(&recorder).all.iter().for_each(|task| drop(found.frames(&recorder, task)));
    // To 3.12 what it takes to find CPython is made up.
    let runtimes = (number >= 5).then(|| Runtimes::find(PROBES, &recorder));
    let runtimes = runtimes.as_ref().unwrap_or_else(|| core.runtimes());
    let state = runtimes.of::<Python>().next()?.state(&recorder);
    let (interpreter, thread) = (state.interpreters.first()?, state.threads.first()?);
    let runtime = if number >= 5 { runtime_of(core)?.get() } else { RUNTIME };
    let start = Output::default().word(runner.get());
    let start = tasks.iter().fold(start, |output, at| output.word(at.get()));
    let head = [runtime, interpreter.at.get(), thread.at.get(), thread.ident];
    let output = head.into_iter().fold(start.byte(number), Output::word);
    let memory = recorder.memory().0;
    let pieces = memory.chunks(PARTS).map(|parts| Memory(parts.to_vec()));
    let bytes = pieces.fold(output, |output, piece| piece.write(output)).0;
    (memory.len() <= PARTS * PIECES && bytes.len() <= BYTES).then_some(bytes)
}
