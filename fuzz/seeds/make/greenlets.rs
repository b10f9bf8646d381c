//! Greenlets of the test cores: a main one, one that was left, and one that did not begin, with the memory that reading
//! them takes.

use kcore::{Addr, Core};
use kcore_fuzz::{greenlet::OBJECTS, input::Output};
use kcore_runtimes::{
    Host, PROBES, Runtime, Runtimes,
    python::{
        Python,
        greenlet::{Greenlet, GreenletState, Greenlets},
    },
};

use super::{
    pythonic::{BYTES, RUNTIME, Seed, VARIANTS, open, runtime_of},
    recorder::Recorder,
};

/// All seeds of the target `greenlet`: of the newest release for each CPython, and of old ones.
pub fn seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for (number, variant) in (0..).zip(VARIANTS) {
        let scenarios: &[&str] = match variant.starts_with("debian") {
            true => &["greenlets"],
            false => &["greenlets", "greenlets-old"],
        };
        for scenario in scenarios {
            let bytes = seed(number, &open(scenario, variant));
            seeds.extend(bytes.map(|bytes| (format!("{scenario}_{variant}"), bytes)));
        }
    }
    seeds
}

fn seed(number: u8, core: &Core) -> Option<Vec<u8>> {
    let class = class_of(core)?;
    let objects = objects(core)?;
    let recorder = Recorder::new(core);
    let greenlets = Greenlets::of_objects(&recorder, class, &objects)?;
    for greenlet in &greenlets.known(&recorder).all {
        let _ = (greenlets.frames(&recorder, greenlet), greenlets.function(&recorder, greenlet));
        let _ = greenlets.class_name(&recorder, greenlet.class);
    }
    let _ = greenlets.tasks(&recorder);
    // To 3.12 what it takes to find CPython is made up.
    let found = (number >= 5).then(|| Runtimes::find(PROBES, &recorder));
    let runtimes = found.as_ref().unwrap_or_else(|| core.runtimes());
    let state = runtimes.of::<Python>().next()?.state(&recorder);
    let (interpreter, thread) = (state.interpreters.first()?, state.threads.first()?);
    let runtime = if number >= 5 { runtime_of(core)?.get() } else { RUNTIME };
    let start = objects
        .iter()
        .fold(Output::default().word(class.get()), |output, at| output.word(at.get()));
    let head = [runtime, interpreter.at.get(), thread.at.get(), thread.ident];
    let output = head.into_iter().fold(start.byte(number), Output::word);
    let memory = recorder.memory();
    let bytes = memory.write(output).0;
    // The number of parts is a byte.
    (memory.0.len() < 1 << u8::BITS && bytes.len() <= BYTES).then_some(bytes)
}

/// `PyGreenlet_Type`.
fn class_of(core: &Core) -> Option<Addr> {
    let mut modules = Host::modules(core).into_iter();
    modules.find_map(|module| module.addr(module.exported("PyGreenlet_Type")?.0))
}

fn objects(core: &Core) -> Option<[Addr; OBJECTS]> {
    let all = &core.tasks().runtimes().of::<Greenlets>().next()?.known(core).all;
    let first = |is_it: &dyn Fn(&&Greenlet) -> bool| all.iter().find(is_it).map(|it| it.at);
    let is = |it: &&Greenlet, state| it.state == state && !it.is_main;
    let left = all.iter().find(|it| is(it, GreenletState::Suspended))?;
    Some([
        first(&|it| it.is_main && it.state == GreenletState::Suspended)?,
        left.at,
        first(&|it| is(it, GreenletState::Created))?,
        first(&|it| is(it, GreenletState::Running))?,
    ])
}
