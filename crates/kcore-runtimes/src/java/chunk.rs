//! Frames of virtual threads that no thread runs: the virtual machine keeps them in objects of the heap
//! (`src/hotspot/share/runtime/stackChunkFrameStream.inline.hpp`, `oops/stackChunkOop.hpp`, JDK 21 to 25).
//!
//! A chunk holds frames as they were on a stack, without those that called the continuation. In frames of the interpreter
//! the frame pointer and the stack pointer of the caller are relative.

use kcore_mem::{Addr, AddrRange, CodeAddr};

use super::{Java, blobs::BlobKind, classes::Objects, fields::ADDED};
use crate::LanguageFrame;

/// Chunks of one virtual thread, at most, and frames in all of them.
const MAX_CHUNKS: usize = 4096;
const MAX_FRAMES: usize = 1 << 16;
/// By bytes from the frame pointer of the interpreter: the stack pointer of the caller, relative, and where it returns.
const SENDER: i64 = -8;
const RETURN: u64 = 8;
/// Bytes that the interpreter's frame pointer and return address take.
const LINK: u64 = 16;

/// A chunk that holds frames.
struct Chunk {
    /// The frames.
    area: AddrRange,
    /// The stack pointer of the innermost.
    sp: Addr,
    /// Where that goes on.
    pc: Addr,
}

/// A frame in a chunk.
#[derive(Clone, Copy)]
struct At {
    pc: Addr,
    sp: Addr,
}

impl Java {
    /// The frames of the chunks that begin with one, innermost first.
    pub(super) fn frames_of_chunks(
        &self,
        objects: &Objects<'_>,
        first: Addr,
    ) -> Vec<LanguageFrame> {
        let mut frames = Vec::new();
        for chunk in self.chunks(objects, first) {
            let mut next = Some(At { pc: chunk.pc, sp: chunk.sp });
            while let Some(at) = next.filter(|at| chunk.area.contains(at.sp)) {
                if frames.len() >= MAX_FRAMES {
                    return frames;
                }
                next = self.step_in_chunk(objects, at, &mut frames).filter(|next| next.sp > at.sp);
            }
        }
        frames
    }

    /// Whether there are frames in the chunks that begin with one.
    pub(super) fn has_frames(&self, objects: &Objects<'_>, first: Addr) -> bool {
        self.chunks(objects, first).next().is_some()
    }

    /// The chunks from one on that hold frames.
    fn chunks(&self, objects: &Objects<'_>, first: Addr) -> impl Iterator<Item = Chunk> {
        let parent = |chunk: &Addr| objects.reference(*chunk, "parent");
        let chunks = std::iter::successors(Some(first), parent).take(MAX_CHUNKS);
        chunks.filter_map(|at| self.chunk(objects, at))
    }

    /// The frames that a chunk holds; `None` where it holds none, or cannot be read.
    fn chunk(&self, objects: &Objects<'_>, at: Addr) -> Option<Chunk> {
        let memory = objects.memory;
        let class = objects.oops.class_of(memory, at)?;
        let start = at.checked_add(self.layout.heap.as_ref()?.size_of(memory, class)?)?;
        let words = |name| objects.number(at, name, 4)?.checked_mul(8);
        let area = AddrRange::with_len(start, words("size")?);
        let sp = start.checked_add(words("sp")?)?;
        let fields = objects.fields_of(class);
        let added = fields.iter().filter(|field| &*field.name == ADDED && !field.is_static);
        let pc = { added }
            .filter(|field| field.offset % 8 == 0)
            .filter_map(|field| memory.pointer(at, field.offset))
            .find(|pc| self.cache.contains(*pc))?;
        area.contains(sp).then_some(Chunk { area, sp, pc })
    }

    /// Tells a frame, and finds the one that called it.
    fn step_in_chunk(
        &self,
        objects: &Objects<'_>,
        at: At,
        frames: &mut Vec<LanguageFrame>,
    ) -> Option<At> {
        let memory = objects.memory;
        let pc = CodeAddr::Return(at.pc);
        let blob = self.cache.at(pc.lookup(), memory.0)?;
        if blob.kind == BlobKind::Interpreter {
            let slot = Addr::new(at.sp.get().checked_sub(LINK)?);
            let fp = slot.wrapping_offset(relative(memory.uint(slot, 0, 8)?)?);
            frames.push(self.interpreted_at(memory.0, fp, None));
            let pc = memory.pointer(fp, RETURN)?;
            let end = fp.checked_add(LINK)?;
            let caller = self.cache.at(CodeAddr::Return(pc).lookup(), memory.0)?;
            let sp = match caller.kind {
                BlobKind::Interpreter => end,
                _ => {
                    let slot = fp.wrapping_offset(SENDER);
                    fp.wrapping_offset(relative(memory.uint(slot, 0, 8)?)?)
                }
            };
            return Some(At { pc, sp });
        }
        if blob.kind == BlobKind::Method {
            frames.extend(self.compiled_at(memory.0, &blob, pc, Some(at.sp)));
        }
        let sp = at.sp.checked_add(blob.frame).filter(|_| blob.frame >= 8)?;
        Some(At { pc: memory.pointer(Addr::new(sp.get().checked_sub(8)?), 0)?, sp })
    }
}

/// Bytes that a relative word stands for.
fn relative(words: u64) -> Option<i64> {
    (words as i64).checked_mul(8)
}
