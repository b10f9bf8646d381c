//! Objects by class: how many, how large, and what they retain together.

use std::{collections::BTreeMap, sync::Arc};

use kcore_mem::Addr;

use super::{Graph, NONE, Retained};

/// The objects of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassSize {
    /// What it is called.
    pub class: Arc<str>,
    /// How many are reachable.
    pub count: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// What would be freed with all of them, in bytes.
    pub retained: u64,
    /// How many are not reachable any more.
    pub dead_count: u64,
    /// The size of those in bytes.
    pub dead_bytes: u64,
    /// One of them, a reachable one if there is one.
    pub example: Option<Addr>,
}

impl Graph {
    /// All objects by class, those that retain most first. `name` tells what the class of an object is called; those
    /// that are called the same are one.
    pub fn class_sizes(
        &self,
        retained: &Retained,
        name: &dyn Fn(Addr) -> Arc<str>,
    ) -> Vec<ClassSize> {
        let mut classes = Classes::new(self.examples.iter().map(|example| name(*example)));
        classes.count(self, retained);
        classes.retain(self, retained);
        let mut sizes = classes.sizes;
        for (size, node) in sizes.iter_mut().zip(classes.examples) {
            size.example = node.and_then(|node| self.nodes.address(node));
        }
        sizes.retain(|size| size.count > 0 || size.dead_count > 0);
        sizes.sort_by_key(|size| std::cmp::Reverse((size.retained, size.bytes)));
        sizes
    }
}

struct Classes {
    /// The name of each class, as an index of `sizes`.
    names: Vec<u32>,
    sizes: Vec<ClassSize>,
    examples: Vec<Option<u32>>,
}

impl Classes {
    fn new(names: impl Iterator<Item = Arc<str>>) -> Self {
        let mut known: BTreeMap<Arc<str>, u32> = BTreeMap::new();
        let mut sizes = Vec::new();
        let mut indices = Vec::new();
        for name in names {
            let next = u32::try_from(sizes.len()).unwrap_or(u32::MAX);
            let class = *known.entry(name.clone()).or_insert(next);
            if class == next {
                sizes.push(ClassSize {
                    class: name,
                    count: 0,
                    bytes: 0,
                    retained: 0,
                    dead_count: 0,
                    dead_bytes: 0,
                    example: None,
                });
            }
            indices.push(class);
        }
        let examples = vec![None; sizes.len()];
        Self { names: indices, sizes, examples }
    }

    fn class_of(&self, graph: &Graph, node: u32) -> Option<usize> {
        let class = *graph.class_of.get(node as usize)?;
        self.names.get(class as usize).map(|name| *name as usize)
    }

    fn count(&mut self, graph: &Graph, retained: &Retained) {
        for node in (0..).take(graph.node_count()) {
            let Some(class) = self.class_of(graph, node) else { continue };
            let Some(size) = self.sizes.get_mut(class) else { continue };
            let bytes = graph.bytes(node);
            let is_reachable = retained.bytes(node).is_some();
            let is_first = size.count == 0 && (is_reachable || size.dead_count == 0);
            let (count, total) = match is_reachable {
                true => (&mut size.count, &mut size.bytes),
                false => (&mut size.dead_count, &mut size.dead_bytes),
            };
            *count = count.saturating_add(1);
            *total = total.saturating_add(bytes);
            if let Some(example) = self.examples.get_mut(class).filter(|_| is_first) {
                *example = Some(node);
            }
        }
    }

    /// Adds what objects retain to their class, but what is within what another of the class retains.
    fn retain(&mut self, graph: &Graph, retained: &Retained) {
        let children = children(retained.dominators());
        // How many objects of a class are above in the tree.
        let mut above = vec![0_u32; self.sizes.len()];
        let mut left: Vec<Visit> = children.of_roots().map(Visit::Enter).collect();
        while let Some(visit) = left.pop() {
            let place = visit.place();
            let node = retained.order().get(place as usize).copied().unwrap_or(u32::MAX);
            let class = self.class_of(graph, node).unwrap_or(usize::MAX);
            let Some(depth) = above.get_mut(class) else { continue };
            match visit {
                Visit::Enter(_) => {
                    if *depth == 0
                        && let Some(size) = self.sizes.get_mut(class)
                    {
                        let bytes = retained.bytes_at(place as usize);
                        size.retained = size.retained.saturating_add(bytes);
                    }
                    *depth = depth.saturating_add(1);
                    left.push(Visit::Leave(place));
                    left.extend(children.of(place).map(Visit::Enter));
                }
                Visit::Leave(_) => *depth = depth.saturating_sub(1),
            }
        }
    }
}

enum Visit {
    Enter(u32),
    Leave(u32),
}

impl Visit {
    const fn place(&self) -> u32 {
        match self {
            Self::Enter(place) | Self::Leave(place) => *place,
        }
    }
}

/// The tree of dominators from above: the first child of each place, and the next of each.
struct Children {
    first: Vec<u32>,
    next: Vec<u32>,
    roots: u32,
}

fn children(dominators: &[u32]) -> Children {
    let count = dominators.len();
    let mut children = Children { first: vec![NONE; count], next: vec![NONE; count], roots: NONE };
    for (place, dominator) in (0_u32..).zip(dominators) {
        let first = match children.first.get_mut(*dominator as usize) {
            Some(first) => first,
            None => &mut children.roots,
        };
        let before = std::mem::replace(first, place);
        if let Some(next) = children.next.get_mut(place as usize) {
            *next = before;
        }
    }
    children
}

impl Children {
    fn of(&self, place: u32) -> impl Iterator<Item = u32> + '_ {
        self.list(self.first.get(place as usize).copied().unwrap_or(NONE))
    }

    fn of_roots(&self) -> impl Iterator<Item = u32> + '_ {
        self.list(self.roots)
    }

    fn list(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let next = |place: &u32| self.next.get(*place as usize).copied();
        std::iter::successors(Some(first), next).take_while(|place| *place != NONE)
    }
}
