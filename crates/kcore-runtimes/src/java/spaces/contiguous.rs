//! Spaces that are filled from their bottom (`src/hotspot/share/gc/{serial,parallel,epsilon}`, `gc/shared/{space,
//! genCollectedHeap}.hpp`, JDK 11 to 25).

use kcore_mem::Addr;

use super::{HEAP, Space, Spaces, between, variable};
use crate::java::{memory::Memory, vm_structs::VmStructs};

/// A variable, and the fields that lead from what it points to to a space, by the names that versions give each.
type Path = (&'static str, &'static [&'static [&'static str]]);

const YOUNG: &[&str] = &["GenCollectedHeap._young_gen", "SerialHeap._young_gen"];
const OLD: &[&str] = &["GenCollectedHeap._old_gen", "SerialHeap._old_gen"];

/// Those of the collector of one thread.
pub const SERIAL: &[Path] = &[
    (HEAP, &[YOUNG, &["DefNewGeneration._eden_space"]]),
    (HEAP, &[YOUNG, &["DefNewGeneration._from_space"]]),
    (HEAP, &[YOUNG, &["DefNewGeneration._to_space"]]),
    (HEAP, &[OLD, &["TenuredGeneration._the_space"]]),
];
const PARALLEL_YOUNG: &str = "ParallelScavengeHeap._young_gen";
/// Those of the one of many threads.
pub const PARALLEL: &[Path] = &[
    (PARALLEL_YOUNG, &[&["PSYoungGen._eden_space"]]),
    (PARALLEL_YOUNG, &[&["PSYoungGen._from_space"]]),
    (PARALLEL_YOUNG, &[&["PSYoungGen._to_space"]]),
    ("ParallelScavengeHeap._old_gen", &[&["PSOldGen._object_space"]]),
];
/// That of the one that collects nothing.
pub const EPSILON: &[Path] = &[(HEAP, &[&["EpsilonHeap._space"]])];

const BOTTOM: [&str; 4] =
    ["MutableSpace._bottom", "ImmutableSpace._bottom", "ContiguousSpace._bottom", "Space._bottom"];
const TOP: [&str; 2] = ["MutableSpace._top", "ContiguousSpace._top"];

/// Where the spaces hang.
#[derive(Clone, Debug)]
pub struct ContiguousLayout {
    paths: Vec<(Addr, Vec<u64>)>,
    bottom: u64,
    top: u64,
}

impl ContiguousLayout {
    /// The layout that the tables of a virtual machine describe.
    ///
    /// # Errors
    /// In words, where they lack something.
    pub fn of(tables: &VmStructs, paths: &[Path]) -> Result<Self, String> {
        let is_parallel = paths.first().is_some_and(|(from, _)| *from == PARALLEL_YOUNG);
        let path = |(from, fields): &Path| {
            let offsets = fields.iter().map(|names| tables.need_one(names));
            Ok((variable(tables, from)?, offsets.collect::<Result<_, String>>()?))
        };
        // The two kinds of spaces have nothing to do with each other.
        let (bottom, top) = match is_parallel {
            true => (tables.need_one(&BOTTOM[..2])?, tables.need_one(&TOP[..1])?),
            false => (tables.need_one(&BOTTOM[2..])?, tables.need_one(&TOP[1..])?),
        };
        Ok(Self { paths: paths.iter().map(path).collect::<Result<_, String>>()?, bottom, top })
    }

    /// They, as far as they can be read.
    pub fn spaces(&self, memory: Memory<'_>) -> Spaces {
        let mut spaces = Spaces::default();
        for (from, offsets) in &self.paths {
            let first = memory.pointer(*from, 0);
            let at = offsets.iter().try_fold(first, |at, by| Some(memory.pointer(at?, *by)));
            let range = at.flatten().and_then(|at| between(memory, at, self.bottom, self.top));
            spaces.add(range.map(|range| Space::new(range, false)));
        }
        spaces
    }
}
