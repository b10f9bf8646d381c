//! All objects of heaps, against what programs themselves counted.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    ops::ControlFlow,
    sync::Arc,
};

use gen_cores::Case;
use kcore::{Addr, Core};
use kcore_runtimes::objects::Stopped;
use kcore_runtimes::v8::{
    V8,
    census::{Area, Census, Group, HeapOccupant, Use},
};
use serde_json::Value as Told;

use crate::{CASES, open};

/// Between two addresses that are asked about, in bytes.
const PROBE: u64 = 8 << 10;

/// The heap of one core.
pub struct Counted {
    pub core: Core,
    pub census: Arc<Census>,
}

impl Counted {
    pub fn of(case: &Case) -> Self {
        let core = open(case);
        let census = v8(&core).census(&core, &mut go_on);
        let census = census.expect("nobody stops it").expect("its layouts are known");
        Self { core, census }
    }

    /// The objects in groups.
    pub fn groups(&self) -> Arc<[Group]> {
        let groups = v8(&self.core).groups(&self.core, &self.census, &mut go_on);
        groups.expect("nobody stops it")
    }

    /// The size of V8's read-only objects.
    fn read_only_bytes(&self) -> u64 {
        const READ: u32 = 4;
        let flags = |at| self.core.mapping_at(at).and_then(|mapping| mapping.flags);
        let areas = self.census.areas().iter();
        let read_only = areas.filter(|area| flags(area.chunk.area.start) == Some(READ));
        let held = read_only.map(|Area { chunk, rest, .. }| {
            chunk.area.len() - rest.free - rest.blank - rest.skipped - rest.missing
        });
        held.sum()
    }

    /// How many objects each class has, and their size.
    fn classes(&self) -> BTreeMap<String, (u64, u64)> {
        let mut classes = BTreeMap::<String, (u64, u64)>::new();
        for group in self.groups().iter() {
            let class = classes.entry(group.constructor.to_string()).or_default();
            class.0 += group.count;
            class.1 += group.bytes;
        }
        classes
    }
}

/// Nobody stops the work.
pub const fn go_on(_: u64, _: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

pub fn v8(core: &Core) -> &V8 {
    core.runtimes().of::<V8>().next().expect("V8")
}

pub fn cases(scenarios: &'static [&'static str]) -> impl Iterator<Item = &'static Case> {
    let cases = CASES.iter().map(|(case, _)| case);
    cases.filter(move |case| scenarios.contains(&case.scenario.as_str()))
}

pub fn told(case: &Case) -> Vec<Told> {
    let values = case.core.with_file_name("values.jsonl");
    let text = fs::read_to_string(values).expect("the program told its values");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// What the program counted beside what was counted, and what V8 said of sizes.
fn differences(case: &Case, classes: &BTreeMap<String, (u64, u64)>) -> Vec<String> {
    let mut differences = Vec::new();
    for told in told(case) {
        let Some(class) = told["class"].as_str() else { continue };
        let (count, bytes) = classes.get(class).copied().unwrap_or_default();
        let mut expect = |what: &str, told: Option<u64>, found: u64| {
            if told.is_some_and(|told| told != found) {
                differences.push(format!("{} {class}: {what} {found} for {told:?}", case.name()));
            }
        };
        expect("count", told["count"].as_u64(), count);
        expect("instances", told["instances"].as_u64(), count);
        let size = told["size"].as_u64();
        expect("bytes", size.map(|size| size * count), bytes);
    }
    differences
}

#[test]
fn every_object_is_counted_once() {
    let mut differences = Vec::new();
    for case in cases(&["node-heap", "node-retained"]) {
        let classes = Counted::of(case).classes();
        assert!(classes.contains_key("Point"), "{}", case.name());
        differences.extend(self::differences(case, &classes));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Between objects: what was left where a map was cleared away.
const LEFT: u64 = 1 << 10;
/// What the four threads of Node's platform may have taken to allocate from: `kMaxLabSize` of
/// `src/heap/concurrent-allocator.h` each, of the spaces of old objects, of code, and of trusted objects
/// (`LocalHeap` in `src/heap/local-heap.h`).
const THREAD_AREAS: u64 = 4 * 3 * (32 << 10);
/// What the program allocates after it asked V8: it tells its stack, and dies in functions that are compiled then.
const MADE_SINCE: u64 = 160 << 10;

#[test]
fn heaps_are_walked_from_object_to_object() {
    for case in cases(&["node-heap", "node-retained", "node-values"]) {
        let counted = Counted::of(case);
        let (census, rest) = (&counted.census, counted.census.rest());
        assert!(rest.skipped < LEFT && rest.missing == 0, "{}: {rest:?}", case.name());
        let damaged = census.areas().iter().find(|area| area.chunk.use_ == Use::Damaged);
        assert!(damaged.is_none(), "{}: {damaged:?}", case.name());
        let told = told(case).iter().find_map(|told| told["heap"]["used_heap_size"].as_u64());
        if let Some(used) = told {
            // It has in it what threads took to allocate from, but not always the read-only objects.
            let most = used + counted.read_only_bytes() + MADE_SINCE;
            let (expected, bytes) = (used - THREAD_AREAS..most, census.bytes());
            assert!(expected.contains(&bytes), "{}: {bytes} {used}", case.name());
        }
    }
}

#[test]
fn objects_are_numbered_in_the_order_of_addresses() {
    for case in cases(&["node-retained"]) {
        let census = Counted::of(case).census;
        let mut count = 0;
        for (at, index) in census.objects().zip(0..) {
            assert_eq!((census.index_of(at), census.nth(index)), (Some(index), Some(at)));
            assert_eq!(census.at_or_before(Addr::new(at.get() + 7)), Some(at));
            count += 1;
        }
        assert_eq!(census.object_count(), count, "{}", case.name());
    }
}

#[test]
fn all_values_that_a_program_holds_are_found() {
    for case in cases(&["node-values"]) {
        let counted = Counted::of(case);
        let core = &counted.core;
        let groups = counted.groups();
        let known = groups.iter().filter(|group| &*group.constructor == "KnownValues");
        let known: Vec<_> = known.collect();
        assert_eq!(known.iter().map(|group| group.count).sum::<u64>(), 1, "{}", case.name());
        let mut left = vec![known[0].example];
        let mut seen = HashSet::new();
        while let Some(at) = left.pop().filter(|_| seen.len() < 5000) {
            assert!(counted.census.index_of(at).is_some(), "{}: {at:?}", case.name());
            let references = v8(core).references(core, &counted.census, at);
            left.extend(references.iter().map(|found| found.to).filter(|to| seen.insert(*to)));
        }
        assert!(seen.len() > 1000, "{}: only {} objects", case.name(), seen.len());
    }
}

#[test]
fn many_objects_with_keys_of_their_own_are_one_group() {
    for case in cases(&["node-heap"]) {
        let counted = Counted::of(case);
        let all = counted.groups();
        let of = |class: &'static str| all.iter().filter(move |it| &*it.constructor == class);
        let crowd: Vec<_> = of("Session").collect();
        let names: Vec<&str> = crowd[0].properties.iter().map(|name| &**name).collect();
        assert_eq!((crowd.len(), crowd[0].count, names), (1, 100, vec!["user"]), "{}", case.name());
        assert!(crowd[0].differs && crowd[0].names == 100 * 21, "{}: {crowd:?}", case.name());
        let lone: Vec<usize> = of("Lone").map(|group| group.properties.len()).collect();
        assert_eq!(lone, [21, 21, 21], "few tell their keys: {}", case.name());
        let with = |name| v8(&counted.core).with_property(&counted.core, crowd[0], name);
        let (seventh, missing) = (with("s7_3").expect("a session has it"), with("first"));
        assert!(crowd[0].tables.contains(&seventh) && missing.is_none(), "{}", case.name());
        assert_ne!(Some(seventh), with("s8_3"), "{}", case.name());
    }
}

#[test]
fn an_address_within_an_object_is_told_by_its_chunk_alone() {
    for case in cases(&["node-retained"]) {
        let counted = Counted::of(case);
        let fresh = open(case);
        for group in counted.groups().iter() {
            if !["Point", "Owner", "Root"].contains(&&*group.constructor) {
                continue;
            }
            let inside = Addr::new(group.example.get() + 11);
            let holder = v8(&fresh).holder(&fresh, inside).expect("an object holds it");
            assert_eq!((holder.at, holder.offset), (group.example, 11), "{}", case.name());
            assert_eq!(holder.class, group.constructor);
            assert_eq!(holder.size * group.count, group.bytes);
        }
    }
}

#[test]
fn what_is_about_to_be_allocated_is_no_object() {
    let mut unused = 0;
    for case in cases(&["node-values"]) {
        let counted = Counted::of(case);
        let (core, census) = (&counted.core, &counted.census);
        let young = census.areas().iter().filter(|area| area.chunk.use_ == Use::New);
        let probes = young.flat_map(|area| {
            let first = area.chunk.area.start;
            (0..area.chunk.area.len() / PROBE).map(move |probe| first.saturating_add(probe * PROBE))
        });
        for at in probes {
            if let Some(HeapOccupant::Unused(range)) = v8(core).place(core, at) {
                assert!(range.contains(at), "{}: {at:?} {range:?}", case.name());
                let inside = census.objects().find(|object| range.contains(*object));
                assert_eq!(inside, None, "{}: {range:?}", case.name());
                assert_eq!(v8(core).holder(core, at), None, "{}", case.name());
                unused += 1;
            }
        }
    }
    assert!(unused > 10, "{unused} addresses of what is about to be allocated");
}

#[test]
fn whoever_watches_may_stop_what_is_asked_of_a_heap() {
    for case in cases(&["node-retained"]) {
        let counted = Counted::of(case);
        let (core, census, stop) =
            (&counted.core, &counted.census, &mut |_, _| ControlFlow::Break(()));
        let v8 = v8(core);
        assert_eq!(v8.groups(core, census, stop).err(), Some(Stopped), "{}", case.name());
        assert_eq!(v8.definitions(core, census, stop).err(), Some(Stopped), "{}", case.name());
        let first = census.objects().next().expect("an object");
        assert_eq!(v8.referrers(core, census, &[first], stop).err(), Some(Stopped));
        assert!(v8.graph(core, census, stop).is_err());
        let fresh = open(case);
        assert!(self::v8(&fresh).census(&fresh, stop).is_err());
        assert!(self::v8(&fresh).known_census().is_none());
    }
}
