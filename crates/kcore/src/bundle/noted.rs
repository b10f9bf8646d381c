//! What memory answers need: they are asked for once, and what was read is noted.

use std::sync::Arc;

use kcore_elf::{CoreFile, CoreSpace, PageReads};
use kcore_mem::{Addr, AddrRange};
use kcore_parallel::prelude::*;

use crate::{
    BundleView, Core, Frame, MAX_FRAMES, OpenOptions, open::CoreParts, thread::threads_of,
};

/// Bytes below the stack pointer that code may use (System V ABI of x86-64: 128; of ppc64: 288, or 512 where a kernel
/// saves more).
const RED_ZONE: u64 = 512;
/// Bytes of one frame that are taken, at most.
const MAX_FRAME: u64 = 16 << 20;

impl BundleView<'_> {
    /// The same core, opened anew, and what notes which pages of its memory are read: those of answers that were asked
    /// for before are not among them. `None` where there is no core file.
    pub fn noting_reads(self) -> Option<(Core, Arc<PageReads>)> {
        let (parts, reads) = (self.core.parts.as_ref()?, Arc::new(PageReads::default()));
        let file = CoreFile::parse(parts.file.bytes().clone()).ok()?;
        let threads = threads_of(&file);
        let index = threads.iter().enumerate().map(|(index, thread)| (thread.tid, index));
        let noted = CoreParts {
            space: Arc::new(CoreSpace::new(&file).noted_by(Arc::clone(&reads))),
            thread_index: index.collect(),
            threads,
            path: parts.path.clone(),
            compressed: parts.compressed,
            lacks: parts.lacks,
            unpack_note: parts.unpack_note.clone(),
            live: None,
            file,
        };
        let options = OpenOptions {
            probes: self.core.probes,
            untrusted: self.core.is_untrusted(),
            ..OpenOptions::default()
        };
        Some((Core::of_parts(noted, self.core.finder.clone(), &options), reads))
    }

    /// Where the native frames of all threads lie, in order, what touches together: variables of theirs may be anywhere
    /// in them.
    pub fn memory_of_stacks(self) -> Vec<AddrRange> {
        let tids = self.core.tids();
        let ranges = tids.par_iter().map_init(
            || self.core.stacks().walker(),
            |walker, tid| match walker {
                Some(walker) => {
                    memory_of(&self.core.stacks().of_thread_with(walker, *tid, MAX_FRAMES).frames)
                }
                None => Vec::new(),
            },
        );
        AddrRange::merged(ranges.flatten_iter().collect::<Vec<AddrRange>>())
    }
}

/// Where frames lie, each from its stack pointer to its end.
fn memory_of(frames: &[Frame]) -> Vec<AddrRange> {
    let red_zone = frames
        .first()
        .and_then(|frame| frame.sp)
        .map(|sp| AddrRange::new(Addr::new(sp.get().saturating_sub(RED_ZONE)), sp));
    let ranges = frames.iter().filter_map(|frame| {
        let (sp, cfa) = frame.sp.zip(frame.cfa)?;
        (sp < cfa && cfa.offset_from(sp)? <= MAX_FRAME).then(|| AddrRange::new(sp, cfa))
    });
    red_zone.into_iter().chain(ranges).collect()
}
