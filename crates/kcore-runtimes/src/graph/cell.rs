//! A graph that is made once.

use std::sync::{Arc, OnceLock};

use super::{Graph, Retained};
use crate::objects::{Stopped, Watch};

/// The graph of a runtime's objects and what they retain, once somebody asked.
#[derive(Debug, Default)]
pub struct GraphCell {
    graph: OnceLock<Option<Arc<Graph>>>,
    retained: OnceLock<Arc<Retained>>,
}

impl GraphCell {
    /// The graph; `build` makes it, unless it was made. It answers `None` where there are too many objects.
    ///
    /// # Errors
    /// When whoever watched stopped it: then it is made by the next one who asks.
    pub fn graph(
        &self,
        build: impl FnOnce() -> Result<Option<Graph>, Stopped>,
    ) -> Result<Option<Arc<Graph>>, Stopped> {
        if let Some(graph) = self.graph.get() {
            return Ok(graph.clone());
        }
        let graph = build()?.map(Arc::new);
        Ok(self.graph.get_or_init(|| graph).clone())
    }

    /// What the objects of its graph retain.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn retained(&self, graph: &Graph, watch: Watch<'_>) -> Result<Arc<Retained>, Stopped> {
        if let Some(retained) = self.retained.get() {
            return Ok(retained.clone());
        }
        let retained = Arc::new(Retained::of(graph, watch)?);
        Ok(self.retained.get_or_init(|| retained).clone())
    }
}
