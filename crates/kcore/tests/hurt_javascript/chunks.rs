//! Chunks whose beginning is lost, and memory that looks like one.

use std::{ops::ControlFlow, sync::Arc};

use gen_cores::Outcome;
use kcore::{Addr, AddrRange, Core};
use kcore_runtimes::{
    Host, PROBES, Runtimes,
    v8::{
        V8,
        census::{Area, Census, Chunk, Use},
    },
};

use crate::{
    alone::alone,
    hurt_host::HurtHost,
    rounds::{count, open},
};

/// Chunks are this long.
const CHUNK: u64 = 1 << 18;
/// Where the C library has a heap for a thread.
const ARENA: u64 = 64 << 20;
/// What describes a chunk lies within so many bytes.
const DESCRIPTION: u64 = 128;
/// Objects of a chunk that is worth looking at.
const FULL: u64 = 100;
/// Its links lie within so many words.
const LINKS: u64 = 64;
/// Cores that are looked at, of a version of each way to describe a chunk.
const VARIANTS: [&str; 3] = ["node20", "node22", "node24"];

/// Cores, what all of their objects are, and how many.
pub fn each(look: impl Fn(&str, &Core, &Arc<Census>, u64)) {
    let _alone = alone();
    for variant in VARIANTS {
        let case = match gen_cores::ensure("node-retained", variant).expect("a case") {
            Outcome::Made(case) | Outcome::Fresh(case) => case,
            Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
        };
        let (core, _) = open(&case);
        let v8 = core.runtimes().of::<V8>().next().expect("V8");
        let census = v8.census(&core, &mut |_, _| ControlFlow::Continue(()));
        let census = census.expect("nobody stops it").expect("its layouts are known");
        look(variant, &core, &census, count(&HurtHost::new(&core)));
    }
}

/// Writes over what describes a chunk.
fn without_beginning<'a>(core: &'a Core, chunk: &Chunk) -> HurtHost<'a> {
    let mut host = HurtHost::new(core);
    let described = DESCRIPTION.min(chunk.area.start.get() - chunk.base.get());
    for offset in (0..described).step_by(8) {
        host.set(chunk.base.saturating_add(offset), 0x5555_5555_5555_5555);
    }
    host
}

/// Every chunk, whatever it holds: strings, machine code, what describes builtins.
#[test]
fn a_chunk_without_a_beginning_is_found() {
    each(|variant, core, census, healthy| {
        let is_full = |area: &&Area| area.chunk.use_ == Use::Old && area.starts.count() > FULL;
        let full: Vec<&Area> = census.areas().iter().filter(is_full).collect();
        assert!(!full.is_empty(), "{variant}");
        for area in full {
            let left = count(&without_beginning(core, &area.chunk));
            // What was about to be allocated from may hold what is left of dead objects.
            let lost = healthy.abs_diff(left);
            assert!(
                lost * 100 < area.starts.count(),
                "{variant}: {left} of {healthy}: {:?}",
                area.chunk
            );
        }
    });
}

/// Words of a map of V8's.
const MAP: u64 = 72;

#[test]
fn all_objects_are_found_when_a_word_of_the_map_of_maps_is_damaged() {
    each(|variant, core, census, healthy| {
        let map_of = |at: Addr| core.space().read_word(at).map(|map| Addr::new(map & !3)).unwrap();
        let mut metas: Vec<Addr> = census
            .maps()
            .iter()
            .map(|map| map_of(map.map))
            .filter(|map| map_of(*map) == *map)
            .collect();
        metas.sort_unstable();
        metas.dedup();
        assert!(!metas.is_empty(), "{variant}");
        let places = metas.iter().flat_map(|meta| (0..MAP).step_by(8).map(|by| (*meta, by)));
        for (meta, by) in places {
            let mut host = HurtHost::new(core);
            host.set(meta.saturating_add(by), 0x5555_5555_5555_5555);
            let left = count(&host);
            // What does not say any more which map it has is no object.
            let lost = u64::from(by == 0);
            assert_eq!(healthy - left, lost, "{variant}: {meta} + {by}");
        }
    });
}

/// Where each chunk is described: in itself, or since V8 13 elsewhere.
fn descriptions(variant: &str, core: &Core, census: &Census) -> Vec<Addr> {
    let bases = census.areas().iter().map(|area| area.chunk.base);
    let elsewhere = |base: Addr| core.space().read_word(base.saturating_add(8)).map(Addr::new);
    let described = bases.map(|base| match variant {
        "node24" => elsewhere(base).expect("it is described"),
        _ => base,
    });
    described.collect()
}

#[test]
fn a_chunk_that_left_its_list_holds_nothing() {
    each(|variant, core, census, healthy| {
        let described = descriptions(variant, core, census);
        let links_of = |index: usize| -> Vec<Addr> {
            let words = (0..LINKS).map(|word| described[index].saturating_add(word * 8));
            let is_link = |at: &Addr| {
                let to = core.space().read_word(*at).map(Addr::new);
                to.is_ok_and(|to| to != described[index] && described.contains(&to))
            };
            words.filter(is_link).collect()
        };
        // The space itself leads to the chunks at the ends of its list.
        let is_full = |area: &Area| area.chunk.use_ == Use::Old && area.starts.count() > 1000;
        let full = (0..described.len()).filter(|index| is_full(&census.areas()[*index]));
        let mut linked = full.map(|index| (index, links_of(index)));
        let (index, links) = linked.find(|(_, links)| links.len() == 2).expect("one between two");
        let area = &census.areas()[index];
        let mut host = HurtHost::new(core);
        links.iter().for_each(|at| host.set(*at, 0));
        let left = taken(&host);
        assert_eq!(left.object_count(), healthy - area.starts.count(), "{variant}");
        assert_eq!(left.areas()[index].chunk, Chunk { use_: Use::Empty, ..area.chunk });
    });
}

/// All objects of a hurt process.
fn taken(host: &HurtHost<'_>) -> Arc<Census> {
    let runtimes = Runtimes::find(PROBES, host);
    let v8 = runtimes.of::<V8>().next().expect("V8");
    let census = v8.census(host, &mut |_, _| ControlFlow::Continue(()));
    census.expect("nobody stops it").expect("its layouts are known")
}

/// The beginnings of the heaps that the C library has for threads other than the first, which are no chunks.
fn heaps_of_threads(core: &Core, census: &Census) -> Vec<AddrRange> {
    let ranges = Host::ranges(core).into_iter().filter(|range| !range.is_file && range.readable);
    let bases = ranges.map(|range| range.range.start).filter(|at| at.get().is_multiple_of(ARENA));
    let is_chunk = |at: Addr| census.areas().iter().any(|area| area.chunk.base == at);
    let held = bases.filter(|at| !is_chunk(*at)).filter_map(|at| {
        let held = core.space().slice(at).ok()?.len() as u64;
        Some(AddrRange::with_len(at, held.min(CHUNK)))
    });
    held.collect()
}

#[test]
fn lists_of_maps_and_sizes_are_no_objects() {
    each(|variant, core, census, healthy| {
        let places = heaps_of_threads(core, census);
        assert!(!places.is_empty(), "{variant}: threads have heaps of the C library's");
        let mut host = HurtHost::new(core);
        // What V8 remembers of the objects that survived in the young generation.
        let objects = census.objects();
        let triples = objects.filter_map(|at| {
            let map = core.space().read_word(at).ok()?;
            let size = core.runtimes().of::<V8>().next()?.object_size(core, census, at)?;
            Some([map, size, at.get() | 1])
        });
        let mut words = triples.flatten();
        for place in &places {
            for offset in (0..place.len()).step_by(8) {
                let Some(word) = words.next() else { break };
                host.set(place.start.saturating_add(offset), word);
            }
        }
        let found = taken(&host);
        let overlap = |area: &&Area| {
            places.iter().any(|place| place.intersection(&area.chunk.area).is_some())
        };
        let phantom = found.areas().iter().find(overlap).map(|area| area.chunk);
        assert_eq!(phantom, None, "{variant}");
        assert!(found.object_count() * 100 > healthy * 99, "{variant}");
    });
}

#[test]
fn words_that_might_describe_a_chunk_must_name_its_space() {
    each(|variant, core, census, _| {
        // Since V8 12 a chunk says where it lies itself.
        if variant != "node20" {
            return;
        }
        let places = heaps_of_threads(core, census);
        let mut host = HurtHost::new(core);
        for place in &places {
            // What was seen in memory of the C library.
            let words = [0xc2c6d0, 0xb1, place.start.get() + 0x2150, place.start.get() + 0xc0];
            let end = place.start.get() + 0x1_c7c0;
            for (index, word) in (0..).zip(words.into_iter().chain([end])) {
                host.set(place.start.saturating_add(index * 8), word);
            }
        }
        let found = taken(&host);
        let is_there = |area: &&Area| places.iter().any(|it| it.start == area.chunk.base);
        assert_eq!(found.areas().iter().find(is_there).map(|area| area.chunk), None);
    });
}

#[test]
fn machine_code_that_is_being_made_is_an_object() {
    each(|variant, core, census, healthy| {
        // Since V8 12.4 it says its size itself.
        if variant == "node20" {
            return;
        }
        let ranges = Host::ranges(core);
        let is_code = |at: &Addr| ranges.iter().any(|it| it.executable && it.range.contains(*at));
        let code_of = |at: &Addr| core.space().read_word(at.saturating_add(8)).unwrap_or(0);
        let mut made = census.objects().filter(|at| is_code(at) && code_of(at) & 3 == 1);
        let made = made.nth(1).expect("machine code");
        let mut host = HurtHost::new(core);
        host.set(made.saturating_add(8), 0);
        assert_eq!(count(&host), healthy, "{variant}: {made}");
    });
}
