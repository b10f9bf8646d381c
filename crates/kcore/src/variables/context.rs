//! A frame as DWARF expressions see it.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, Endian, Svma};
use kcore_symbols::VariableLocation;
use kcore_unwind::RegisterId;
use kcore_values::{
    Absent,
    location::{Call, FrameContext},
};

use super::known_frames::{Known, KnownFrames};

/// One frame of those that are known.
#[derive(Clone, Copy)]
pub struct FrameView<'s> {
    pub(super) frames: &'s KnownFrames<'s>,
    pub(super) index: usize,
    /// Whether it may be asked what its caller passed.
    pub(super) asks_caller: bool,
}

impl<'s> FrameView<'s> {
    /// A frame by its index among physical frames.
    pub const fn new(frames: &'s KnownFrames<'s>, index: usize) -> Self {
        Self { frames, index, asks_caller: true }
    }

    pub(super) fn known(&self) -> Option<&'s Known<'s>> {
        self.frames.frames.get(self.index)
    }

    /// The bytes of a general register in the order of memory.
    fn general(&self, number: u16) -> Option<Arc<[u8]>> {
        let (known, target) = (self.known()?, self.frames.core.target());
        let is_pc = self.frames.core.machine()?.program_counter() == RegisterId(number);
        let value = match is_pc {
            true => known.regs.pc().get(),
            false => known.regs.get(RegisterId(number))?,
        };
        let word = target.word_size().min(8);
        let little = value.to_le_bytes();
        let little = little.get(..word)?;
        Some(match target.endian {
            Endian::Little => little.into(),
            Endian::Big => little.iter().rev().copied().collect(),
        })
    }
}

impl FrameContext for FrameView<'_> {
    fn space(&self) -> &dyn AddressSpace {
        self.frames.core.space()
    }

    fn register(&self, number: u16) -> Option<Arc<[u8]>> {
        self.general(number).or_else(|| {
            let vectors = self.frames.vectors(self.index)?;
            vectors.by_dwarf_number(number).map(Into::into)
        })
    }

    fn cfa(&self) -> Option<Addr> {
        self.known()?.frame.cfa
    }

    fn frame_base(&self) -> Option<&VariableLocation> {
        self.frames.scopes(self.index).map(|scopes| &scopes.frame_base)
    }

    fn pc(&self) -> Option<Svma> {
        let known = self.known()?;
        known.module?.svma(known.frame.pc.lookup())
    }

    fn relocated(&self, at: Svma) -> Option<Addr> {
        self.known()?.module?.addr(at)
    }

    fn thread_local(&self, offset: u64) -> Result<Addr, Absent> {
        let module = self.known().and_then(|known| known.module);
        let module = module.ok_or_else(|| Absent::Unreadable("no module".to_owned()))?;
        let no_thread = || Absent::Unreadable("no thread runs on this stack".to_owned());
        let tid = self.frames.tid.ok_or_else(no_thread)?;
        self.frames.core.thread_local(tid, module, offset)
    }

    fn call(&self) -> Option<Call<'_>> {
        self.asks_caller.then(|| self.calling()).flatten()
    }
}
