//! What is copied of a process, as the parts of a core.

use std::sync::Arc;

use kcore_elf::{CoreFile, CoreSpace};
use kcore_live::Process;

use crate::{OpenError, open::CoreParts, snapshot::LiveParts, thread::threads_of};

/// The parts of the core that was made of a process in memory.
///
/// # Errors
/// When what was made is no core.
pub fn parts_of(
    process: &Process,
    bytes: Vec<u8>,
    live: LiveParts,
) -> Result<CoreParts, OpenError> {
    let path = process.folder();
    let file = CoreFile::parse(bytes.into()).map_err(|error| OpenError::Parse { path, error })?;
    let threads = threads_of(&file);
    let index = threads.iter().enumerate().map(|(index, thread)| (thread.tid, index));
    Ok(CoreParts {
        space: Arc::new(CoreSpace::of_snapshot(&file)),
        thread_index: index.collect(),
        threads,
        path: None,
        compressed: None,
        lacks: None,
        unpack_note: None,
        live: Some(live),
        file,
    })
}
