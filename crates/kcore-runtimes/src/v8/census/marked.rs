//! Objects that a user marked, to ask later what refers to them.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use kcore_mem::Addr;

use super::super::V8;

/// Objects that are remembered, at most.
const MAX_MARKED: usize = 1 << 20;

/// The objects that were marked.
#[derive(Debug, Default)]
pub struct Marked(Mutex<BTreeSet<Addr>>);

impl V8 {
    /// Marks an object.
    pub fn mark_object(&self, at: Addr) {
        let mut marked = self.marked.0.lock().unwrap_or_else(PoisonError::into_inner);
        if marked.len() < MAX_MARKED {
            marked.insert(at);
        }
    }

    /// The objects that were marked, lowest first.
    pub fn marked_objects(&self) -> Vec<Addr> {
        let marked = self.marked.0.lock().unwrap_or_else(PoisonError::into_inner);
        marked.iter().copied().collect()
    }
}
