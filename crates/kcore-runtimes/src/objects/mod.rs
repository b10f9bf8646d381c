//! *objects*: the heap of a runtime as all runtimes have one.
//!
//! A runtime that has objects says which objects there are, what each refers to, and what keeps them from outside. Counts
//! by class and paths from roots ([`crate::graph`]) follow from that, for every runtime. A runtime that knows a quicker
//! way overrides the methods that have an answer for all.
//!
//! The address of an object is that of its first byte. Users type and see a reference to it, which may have a tag:
//! [`Objects::reference_to`].

mod by_name;
mod counts;
mod edge;
mod watch;

use std::sync::Arc;

use kcore_mem::Addr;

pub use counts::ClassCount;
pub use edge::{Edge, NamedEdge, Referrer};
pub use watch::{Stopped, Watch};

use crate::{
    Host,
    graph::{self, Graph, GraphCell, Nodes, Path, Retained, Root},
};

/// An object of a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapObject {
    /// Where it begins.
    pub at: Addr,
    /// Where its class lies; `None` where that cannot be read.
    pub class: Option<Addr>,
    /// Its own size in bytes, without what it keeps elsewhere.
    pub size: u64,
}

/// Reads which objects others keep. It may remember what it learnt about classes.
pub trait Targets {
    /// Calls `tell` with each address to which the object at `at` has a strong reference. No object may lie there. Calls
    /// it for none if the object cannot be read.
    fn each(&mut self, at: Addr, tell: &mut dyn FnMut(Addr));
}

/// The objects of a runtime. Memory may be damaged anywhere: what cannot be read is left out.
pub trait Objects: Send + Sync {
    /// The word with which the language refers to the object at `at`, with its tag. Users pass it on.
    fn reference_to(&self, at: Addr) -> Addr {
        at
    }

    /// The object that holds `at`, which may have a tag.
    fn holder(&self, host: &dyn Host, at: Addr) -> Option<HeapObject>;

    /// What the class of the object that begins at `at` is called.
    fn class_at(&self, host: &dyn Host, at: Addr) -> Option<Arc<str>>;

    /// Tells every object once, in no order. Their number is bounded by the heap.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    fn each_object(
        &self,
        host: &dyn Host,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(HeapObject),
    ) -> Result<(), Stopped>;

    /// How many objects each class has, in no order.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    fn class_counts(&self, host: &dyn Host, watch: Watch<'_>) -> Result<Vec<ClassCount>, Stopped> {
        counts::count(self, host, watch)
    }

    /// Says which part of the heap could not be read, so that there may be more objects. `None` until somebody asked
    /// for all objects.
    fn missing(&self, host: &dyn Host) -> Option<String> {
        let _ = host;
        None
    }

    /// What the object that begins at `at` refers to, and how. The number of references is bounded.
    fn edges(&self, host: &dyn Host, at: Addr) -> Vec<NamedEdge>;

    /// Reads quickly what objects keep. There may be one on each processor.
    fn targets<'a>(&'a self, host: &'a dyn Host) -> Box<dyn Targets + 'a> {
        Box::new(by_name::ByName { objects: self, host })
    }

    /// What refers to any of the objects that begin at `to`, sorted by the object referred to. The number of
    /// referrers is bounded.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    fn referrers(
        &self,
        host: &dyn Host,
        to: &[Addr],
        watch: Watch<'_>,
    ) -> Result<Vec<Referrer>, Stopped> {
        by_name::referrers(self, host, to, watch)
    }

    /// Tells what keeps objects from outside of the heap. `nodes` knows where objects begin.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    fn roots(
        &self,
        host: &dyn Host,
        nodes: &dyn Nodes,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Root),
    ) -> Result<(), Stopped>;

    /// What may also keep objects, but is not known: `what C code keeps in its own memory`.
    fn unknown_roots(&self) -> &'static str;

    /// Holds the graph once it is made.
    fn graph_cell(&self) -> &GraphCell;

    /// All objects, and what they keep; made once. `None` when there are too many: see [`Graph`].
    ///
    /// # Errors
    /// When whoever watches stopped it.
    fn graph(&self, host: &dyn Host, watch: Watch<'_>) -> Result<Option<Arc<Graph>>, Stopped> {
        self.graph_cell().graph(|| Graph::of(self, host, watch))
    }

    /// What the objects of its graph retain; found once.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    fn retained(&self, graph: &Graph, watch: Watch<'_>) -> Result<Arc<Retained>, Stopped> {
        self.graph_cell().retained(graph, watch)
    }

    /// The shortest way from a root to the object that begins at `at`; `None` when there is none, or too many objects.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    fn path(&self, host: &dyn Host, at: Addr, watch: Watch<'_>) -> Result<Option<Path>, Stopped> {
        graph::path_to(self, host, at, watch)
    }
}
