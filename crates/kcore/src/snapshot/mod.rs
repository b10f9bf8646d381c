//! What a snapshot of a live process has beside a core of the kernel, whoever took it: a core by `kcore save` is
//! one, and is read without the feature `live` as well.

mod doubts;
mod facts;
mod mappings;

use std::{sync::Arc, time::Duration};

use kcore_mem::Addr;

use crate::Core;
pub use facts::LiveFacts;
pub(crate) use mappings::mappings;

/// Memory of a live process that is read after its snapshot was taken, once somebody asks for it.
pub(crate) trait LaterMemory: Send + Sync {
    /// The bytes from `at` on, as far as they were read at once; `None` where there are none.
    fn slice(&self, at: Addr) -> Option<&[u8]>;

    /// Whether any of it was read since this was asked last.
    fn take_use(&self) -> bool;
}

/// What belongs to the snapshot of a live process alone.
#[derive(Default)]
pub(crate) struct LiveParts {
    /// What reads the live process.
    pub(crate) pages: Option<Arc<dyn LaterMemory>>,
    /// Whether that is because the user wants what was not copied to be read later; else it is to learn
    /// what is to be copied.
    pub(crate) reads_later: bool,
    /// How long the process stood still, each time.
    pub(crate) stops: Vec<Duration>,
    /// Pages that stacks, or names of their frames, need and that were not copied, since the process came
    /// to use them from one stop to the next.
    pub(crate) missed_pages: u64,
    /// The event at whose moment it was taken.
    #[cfg(feature = "live")]
    pub(crate) caught: Option<kcore_live::Caught>,
}

/// Questions about when and how the memory was copied: see [`Core::snapshot`].
#[derive(Clone, Copy)]
pub struct SnapshotView<'c> {
    pub(crate) core: &'c Core,
}

impl Core {
    /// What is known of the moment at which it was copied or dumped.
    pub const fn snapshot(&self) -> SnapshotView<'_> {
        SnapshotView { core: self }
    }
}

impl Core {
    /// What belongs to the snapshot of a live process alone; `None` for a core.
    pub(crate) fn live(&self) -> Option<&LiveParts> {
        self.parts.as_ref()?.live.as_ref()
    }
}
