//! Cores of stacks that belong to no thread, hurt at random where their lists are read: always an answer,
//! within bounds, and one damaged task does not hide the others.
//!
//! A test program of its own, because it counts what is allocated, and others beside it would count too.

#[path = "../bounds/alone.rs"]
mod alone;
#[path = "../hurt_javascript/hurt_host.rs"]
mod hurt_host;
#[path = "../bounds/measure.rs"]
mod measure;
#[path = "../bounds/random.rs"]
mod random;
#[path = "../bounds/word.rs"]
mod word;

use std::{collections::HashSet, env, sync::Arc};

use gen_cores::Outcome;
use kcore::{Addr, Core, OpenOptions};
use kcore_runtimes::{PROBES, Runtimes, TASK_PROBES, Task};

use crate::{alone::alone, hurt_host::HurtHost, measure::measure, random::Random};

/// Rounds for each core, unless `KCORE_HURT_ROUNDS` says otherwise.
const ROUNDS: u64 = 200;
/// Words that are hurt at once, and pages that are lost, at most.
const MAX_WORDS: usize = 12;
const MAX_PAGES: usize = 2;
/// Frames of one stack, and stacks of one round, at most.
const FRAMES: usize = 64;
const STACKS: usize = 100;
/// What a round may allocate at one time, and in all.
const PEAK: usize = 64 << 20;
const TOTAL: usize = 1 << 30;

fn tasks(host: &HurtHost<'_>) -> Vec<Task> {
    let probes = PROBES.iter().chain(TASK_PROBES.iter().map(|task| &task.probe));
    let runtimes = Runtimes::find(probes, host);
    runtimes.tasks(host)
}

/// All tasks and their stacks; gives the numbers of the tasks.
fn ask(core: &Core, host: &HurtHost<'_>) -> HashSet<u64> {
    let tasks = tasks(host);
    let numbers = tasks.iter().map(|task| task.id).collect();
    for task in tasks.into_iter().map(Arc::new).take(STACKS) {
        let stack = core.stacks().of_task(&task, FRAMES);
        assert!(stack.frames.len() <= FRAMES, "a bound of frames");
    }
    numbers
}

/// One round, which follows from its seed; gives how many of the `healthy` tasks are told.
fn round(core: &Core, healthy: &HashSet<u64>, tender: &[Addr], seed: u64) -> usize {
    let most = (MAX_WORDS, MAX_PAGES);
    let host = HurtHost::hurt(core, tender, most, &mut Random::new(seed));
    let (told, allocated) = measure(&format!("seed {seed:#x}"), || ask(core, &host));
    assert!(allocated.peak <= PEAK && allocated.total <= TOTAL, "seed {seed:#x}: {allocated:?}");
    told.intersection(healthy).count()
}

/// All rounds. So many of a hundred must leave most tasks.
fn rounds(scenario: &str, variant: &str, least: u64) {
    let _alone = alone();
    let case = match gen_cores::ensure(scenario, variant).expect("a case") {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
    };
    let (core, exe) = (Some(case.core), Some(case.exe));
    let core = Core::open(&OpenOptions { core, exe, ..OpenOptions::default() }).expect("a core");
    let recording = HurtHost::recording(&core);
    let healthy: HashSet<u64> = tasks(&recording).iter().map(|task| task.id).collect();
    assert!(!healthy.is_empty(), "{scenario}/{variant} has tasks");
    let tender = recording.words_read();
    let count = env::var("KCORE_HURT_ROUNDS").ok().and_then(|count| count.parse().ok());
    let count = count.unwrap_or(ROUNDS);
    let tell_most = |seed: &u64| round(&core, &healthy, &tender, *seed) * 2 > healthy.len();
    let telling = (0..count).filter(tell_most).count() as u64;
    println!("{scenario}/{variant}: {telling} of {count} rounds tell most of {}", healthy.len());
    assert!(telling * 100 > count * least, "{scenario}/{variant}: {telling} of {count} rounds");
}

#[test]
fn hurt_lists_of_bthreads_are_told() {
    rounds("bthreads", "O2-pie", 50);
    rounds("bthreads-12", "O2-pie", 50);
    rounds("bthreads-18", "O2-pie", 50);
}

#[test]
fn hurt_lists_of_fibers_are_told() {
    rounds("fibers", "O2-pie", 50);
    rounds("fibers-shared", "O2-pie", 50);
}

/// There are few, so that much of what is read is the tables and the list, without which there are none.
#[test]
fn hurt_lists_of_goroutines_are_told() {
    rounds("goroutines", "go1.19", 25);
    rounds("goroutines", "go1.27", 25);
}
