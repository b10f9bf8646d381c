//! glibc's own list of threads, by which their storage is found in a core that does not hold the
//! register which points to it.

use std::collections::{HashMap, HashSet};

use kcore_mem::Addr;

use super::thread_db::{field, rtld_global, size};
use crate::{Core, Tid, arch::facts};

/// Threads of a list that are read, at most.
const MAX_THREADS: usize = 1 << 20;

/// Where the structures of threads lie.
#[derive(Debug, Default)]
pub struct ThreadAreas {
    by_tid: HashMap<Tid, Addr>,
    size: Option<u64>,
    below_pointer: bool,
    /// Bytes between the end of a structure and the thread pointer.
    beyond: u64,
}

/// Where `struct pthread` has what the list is read by.
struct Fields {
    list: u64,
    tid: u64,
    next: u64,
}

impl ThreadAreas {
    /// Reads both lists of threads: those whose stacks glibc allocated, and the others, among them
    /// the first thread. Empty where the C library does not tell of them.
    fn load(core: &Core) -> Self {
        let layout = facts(core.target()).tls.as_ref();
        let below_pointer = layout.is_some_and(|tls| tls.thread_is_below_pointer);
        let beyond = layout.map_or(0, |tls| tls.beyond_structure);
        let size = size(core, "pthread");
        let mut areas = Self { by_tid: HashMap::new(), size, below_pointer, beyond };
        if let (Some(global), Some(fields)) = (rtld_global(core), Fields::load(core)) {
            for list in ["rtld_global__dl_stack_user", "rtld_global__dl_stack_used"] {
                let head = field(core, list).and_then(|offset| global.checked_add(offset));
                areas.add_list(core, &fields, head);
            }
        }
        areas
    }

    /// The lists are rings, whose heads are no threads.
    fn add_list(&mut self, core: &Core, fields: &Fields, head: Option<Addr>) {
        let next = |at: Addr| core.space().read_addr(at.checked_add(fields.next)?).ok();
        let mut seen: HashSet<Addr> = head.into_iter().collect();
        let mut node = head.and_then(next);
        while let Some(at) = node.filter(|at| seen.len() < MAX_THREADS && seen.insert(*at)) {
            let structure = Addr::new(at.get().wrapping_sub(fields.list));
            let tid = structure.checked_add(fields.tid);
            if let Some(Ok(tid)) = tid.map(|at| core.space().read_uint(at, 4)) {
                self.by_tid.insert(Tid::new(tid as u32), structure);
            }
            node = next(at);
        }
    }

    /// The thread pointer of a thread.
    pub fn pointer(&self, tid: Tid) -> Option<Addr> {
        let structure = *self.by_tid.get(&tid)?;
        if self.below_pointer {
            structure.checked_add(self.size?.checked_add(self.beyond)?)
        } else {
            Some(structure)
        }
    }

    /// Bytes of the structure of a thread.
    pub fn structure_size(&self) -> Option<u64> {
        self.size
    }
}

impl Fields {
    fn load(core: &Core) -> Option<Self> {
        Some(Self {
            list: field(core, "pthread_list")?,
            tid: field(core, "pthread_tid")?,
            next: field(core, "list_t_next")?,
        })
    }
}

impl Core {
    /// What glibc's lists say of threads; read once.
    pub(super) fn thread_areas(&self) -> &ThreadAreas {
        self.thread_areas.get_or_build(self.budget(), || ThreadAreas::load(self))
    }
}
