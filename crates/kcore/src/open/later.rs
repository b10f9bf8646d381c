//! A live process that is looked at again and again.

use std::sync::{Arc, OnceLock};

use kcore_mem::Built;
use kcore_runtimes::Runtimes;

use super::CoreParts;
use crate::{Core, OpenOptions, ProcessSpace, mapping::Mapping, process_code::ProcessCode};

impl Core {
    /// The same process a moment later: what was learnt of its files, its code and where its runtimes
    /// are still holds. `parts` have its threads and stacks.
    pub(crate) fn later(
        &self,
        parts: CoreParts,
        mappings: Vec<Mapping>,
        options: &OpenOptions,
    ) -> Self {
        let space = ProcessSpace::new(self.target, Some(parts.space.clone()), self.modules.clone());
        let space = match &parts.live {
            Some(live) => space.of_snapshot(live),
            None => space,
        };
        let (modules, finder) = (self.modules.clone(), self.finder.clone());
        let later = Self::new(self.target, Some(parts), modules, space, finder, options);
        let (registered, names) = (self.code.registered.clone(), self.code.names.clone());
        let renewed = |found: &Arc<Runtimes>| Arc::new(found.later());
        Self {
            code: ProcessCode::new(later.modules.clone(), later.space.clone(), registered, names),
            mappings: OnceLock::from(mappings),
            locations: self.locations.clone(),
            tail_calls: self.tail_calls.clone(),
            knowledge: self.knowledge.clone(),
            runtimes: self.runtimes.get().map(renewed).map(Built::of).unwrap_or_default(),
            anchors: self.anchors.get().cloned().map(Built::of).unwrap_or_default(),
            ..later
        }
    }
}
