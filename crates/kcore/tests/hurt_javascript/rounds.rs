//! The rounds: what is hurt, what is asked then, and what it may take.

use std::{collections::BTreeMap, ops::ControlFlow};

use gen_cores::{Case, Outcome};
use kcore::{Addr, AddressSpace, Core, MAX_FRAMES, OpenOptions, Stack};
use kcore_runtimes::{
    NativeStack, PROBES, Runtimes,
    v8::{
        V8,
        census::{Census, Chunk},
        value::Limits,
    },
};

use crate::{alone::alone, hurt_host::HurtHost, measure::measure, random::Random, word::word};

/// Rounds for each core, unless `KCORE_HURT_ROUNDS` says otherwise. A short run has half of them.
const ROUNDS: u64 = 20;
/// Words that are hurt at once, and pages that are lost, at most.
const MAX_WORDS: usize = 40;
const MAX_PAGES: usize = 4;
/// Rounds of counting a heap, and every so manyth object is asked about.
const COUNTS: u64 = 12;
const SOME_OBJECTS: usize = 500;
/// Bytes that describe a chunk.
const DESCRIPTION: usize = 128;
/// What is told of each value.
const LIMITS: Limits = Limits { depth: 3, entries: 30, units: 1 << 12 };
/// What a round may allocate at one time, and in all.
const PEAK: usize = 32 << 20;
const TOTAL: usize = 1 << 30;

/// How many rounds of so many this run has.
fn of_run(rounds: u64) -> u64 {
    if gen_cores::is_short_run() { rounds / 2 } else { rounds }
}

/// All that is told of a stack; gives the number of frames that have a name.
fn ask(host: &HurtHost<'_>, stack: &Stack) -> usize {
    let runtimes = Runtimes::find(PROBES, host);
    let native =
        NativeStack { thread: stack.tid, task: None, frames: &stack.frames, end: stack.end };
    let spans = runtimes.decode(host, &native);
    let Some(v8) = runtimes.of::<V8>().next() else { return 0 };
    let _ = v8.awaiting(host, &native);
    for details in stack.frames.iter().filter_map(|frame| v8.frame_details(host, frame, LIMITS)) {
        let _ = v8.scopes(host, details.function, LIMITS);
        let _ = v8.source(host, details.function, LIMITS);
    }
    let frames = spans.iter().flat_map(|span| &span.language);
    frames.filter(|frame| frame.function.is_some()).count()
}

fn round(core: &Core, stack: &Stack, tender: &[kcore::Addr], seed: u64) -> usize {
    let most = (MAX_WORDS, MAX_PAGES);
    let host = HurtHost::hurt(core, tender, most, &mut Random::new(seed));
    let (named, allocated) = measure(&format!("seed {seed:#x}"), || ask(&host, stack));
    assert!(allocated.peak <= PEAK && allocated.total <= TOTAL, "seed {seed:#x}: {allocated:?}");
    named
}

/// All rounds. Most wounds must leave something to tell: the others test little.
fn rounds(scenario: &str, variant: &str) {
    let case = match gen_cores::ensure(scenario, variant).expect("a case") {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
    };
    let (core, stack) = open(&case);
    let healthy = HurtHost::recording(&core);
    ask(&healthy, &stack);
    let tender = healthy.words_read();
    let (all, allocated) = measure(variant, || ask(&HurtHost::new(&core), &stack));
    println!("{scenario}/{variant}: {all} frames, {allocated:?}");
    let count = std::env::var("KCORE_HURT_ROUNDS").ok().and_then(|count| count.parse().ok());
    let count = count.unwrap_or_else(|| of_run(ROUNDS));
    let telling = (0..count).filter(|seed| round(&core, &stack, &tender, *seed) * 2 > all).count();
    assert!(telling as u64 * 2 > count, "{telling} of {count} rounds have names");
}

/// A core, and the stack of the thread that died.
pub fn open(case: &Case) -> (Core, Stack) {
    let (core, exe) = (Some(case.core.clone()), Some(case.exe.clone()));
    let core = Core::open(&OpenOptions { core, exe, ..OpenOptions::default() }).expect("a core");
    let stack = core.stacks().of_thread(*core.tids().first().expect("a thread"), MAX_FRAMES);
    (core, stack)
}

#[test]
fn a_hurt_stack_of_javascript_is_told() {
    let _alone = alone();
    rounds("node-stack", "node16");
    rounds("node-stack", "node26");
}

#[test]
fn hurt_values_of_javascript_are_told() {
    let _alone = alone();
    rounds("node-values", "node18");
    rounds("node-values", "node24");
}

/// Counts all objects of a heap, and asks some of them what they refer to; gives how many there are.
pub fn count(host: &HurtHost<'_>) -> u64 {
    let runtimes = Runtimes::find(PROBES, host);
    let Some(v8) = runtimes.of::<V8>().next() else { return 0 };
    let census = v8.census(host, &mut |_, _| ControlFlow::Continue(()));
    let Ok(Some(census)) = census else { return 0 };
    for at in census.objects().step_by(SOME_OBJECTS) {
        let _ = (v8.references(host, &census, at), v8.object_size(host, &census, at));
    }
    let _ = v8.groups(host, &census, &mut |_, _| ControlFlow::Continue(()));
    census.object_count()
}

/// Hurts the beginnings of chunks, and objects anywhere.
fn hurt_heap<'a>(core: &'a Core, chunks: &[Chunk], random: &mut Random) -> HurtHost<'a> {
    let mut host = HurtHost::new(core);
    for _ in 0..random.below(MAX_PAGES) {
        host.lose(random.of(chunks).base);
    }
    for number in 0..random.below(MAX_WORDS) {
        let chunk = random.of(chunks);
        let (from, len) = match number % 2 {
            0 => (chunk.base, DESCRIPTION),
            _ => (chunk.area.start, chunk.area.len() as usize),
        };
        let at = from.saturating_add(random.below(len) as u64 & !7);
        let own = core.space().read_word(at).unwrap_or_default();
        let elsewhere = random.of(chunks).area.start.get() | 1;
        host.set(at, word(own, elsewhere, random));
    }
    host
}

/// Bytes of a map of V8's.
const MAP: u64 = 72;

/// Objects that no wound can take: of chunks without one, all of whose maps, and the maps of these, have none. Where
/// an object is hurt, or its map is, those behind it may be taken for part of it, up to the end of their chunk.
fn unhurt(core: &Core, census: &Census, host: &HurtHost<'_>) -> u64 {
    let is_sound = |at: Addr, len: u64| {
        let places = (0..len).step_by(8).map(|by| at.saturating_add(by));
        let word = |space: &dyn AddressSpace, at| space.read_word(at).ok();
        places.into_iter().all(|at| word(host, at) == word(core.space(), at))
    };
    let map_of = |at: Addr| core.space().read_word(at).map_or(at, |map| Addr::new(map & !3));
    let mut known = BTreeMap::new();
    let mut has_sound_map = |object: Addr| {
        let map = map_of(object);
        *known.entry(map).or_insert_with(|| is_sound(map, MAP) && is_sound(map_of(map), MAP))
    };
    let areas = census.areas().iter().filter(|area| {
        let chunk = area.chunk;
        let whole = chunk.area.end.get().saturating_sub(chunk.base.get());
        is_sound(chunk.base, whole) && area.starts.iter().all(&mut has_sound_map)
    });
    areas.map(|area| area.starts.count()).sum()
}

#[test]
fn a_hurt_heap_is_counted() {
    let _alone = alone();
    let case = match gen_cores::ensure("node-retained", "node24").expect("a case") {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
    };
    let (core, _) = open(&case);
    let (healthy, allocated) = measure("healthy", || count(&HurtHost::new(&core)));
    println!("{healthy} objects, {allocated:?}");
    let v8 = core.runtimes().of::<V8>().next().expect("V8");
    let census = v8.census(&core, &mut |_, _| ControlFlow::Continue(()));
    let census = census.expect("nobody stops it").expect("its layouts are known");
    let chunks: Vec<Chunk> = census.areas().iter().map(|area| area.chunk).collect();
    let mut proven = 0;
    for seed in 0..of_run(COUNTS) {
        let host = hurt_heap(&core, &chunks, &mut Random::new(seed));
        let (left, allocated) = measure(&format!("heap, seed {seed:#x}"), || count(&host));
        println!("seed {seed:#x}: {left} objects, {allocated:?}");
        let sound = unhurt(&core, &census, &host);
        assert!(left >= sound, "seed {seed:#x}: {left} of {sound} objects");
        proven += sound;
        assert!(left < healthy * 2, "seed {seed:#x}: {left} objects, where there are {healthy}");
        assert!(allocated.peak <= PEAK, "seed {seed:#x}: {allocated:?}");
    }
    assert!(proven > 0, "no round left a chunk unhurt");
}
