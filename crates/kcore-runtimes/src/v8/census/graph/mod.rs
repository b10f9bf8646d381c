//! The graph of all objects of V8's heaps.
//!
//! An object's number is that in the census. A table whose keys keep its values, that of a weak map, has no edges to them:
//! its keys do.

mod build;
mod path;
mod roots;

use std::sync::Arc;

use super::{Census, Stopped, Watch};
use crate::{
    Host,
    graph::{ClassSize, Graph, MAX_OBJECTS, Nodes, Retained},
    v8::V8,
};
use kcore_mem::Addr;

pub(in crate::v8) use roots::find as roots;
pub use roots::{CONTEXT, GUESSED, ISOLATE, LONE_CONTEXT, REGISTER, STACK};

impl V8 {
    /// The graph of all objects; it is made once. `None` when it would have more than half of 2³² objects, or
    /// 2³² edges.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn graph(
        &self,
        host: &dyn Host,
        census: &Arc<Census>,
        watch: Watch<'_>,
    ) -> Result<Option<Arc<Graph>>, Stopped> {
        self.graph.graph(|| self.build_graph(host, census, watch))
    }

    fn build_graph(
        &self,
        host: &dyn Host,
        census: &Arc<Census>,
        watch: Watch<'_>,
    ) -> Result<Option<Graph>, Stopped> {
        if census.object_count() > MAX_OBJECTS {
            return Ok(None);
        }
        let heap = self.heap(host);
        let Some(read) = build::build(&heap, census, watch)? else { return Ok(None) };
        let (certain, guessed) = roots::find(host, &heap, census, watch)?;
        Ok(Some(Graph::new(read, certain, guessed)))
    }

    /// What objects retain, as far as they are reachable; it is found once.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn retained(&self, graph: &Graph, watch: Watch<'_>) -> Result<Arc<Retained>, Stopped> {
        self.graph.retained(graph, watch)
    }

    /// All objects by class, those that retain most first.
    pub fn class_sizes(
        &self,
        host: &dyn Host,
        graph: &Graph,
        retained: &Retained,
    ) -> Vec<ClassSize> {
        graph.class_sizes(retained, &|at| self.class_at(host, at).unwrap_or_default().into())
    }
}

impl Nodes for Census {
    fn number(&self, at: Addr) -> Option<u32> {
        u32::try_from(self.index_of(at)?).ok()
    }

    fn address(&self, node: u32) -> Option<Addr> {
        self.nth(u64::from(node))
    }
}
