//! A frame as DWARF expressions see it.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, Budget, Endian, Svma};
use kcore_symbols::{Expression, Scopes, VariableLocation};
use kcore_unwind::register_of_dwarf;
use kcore_values::{
    Absent,
    location::{self, Call, FrameContext},
};

use super::{
    caller::KnownTail,
    known_frames::{KnownFrame, KnownFrames},
};
use crate::{Module, NamedFrame};

/// Reads the word at the address on the stack (DWARF 5, 2.5.1.3).
const DW_OP_DEREF: u8 = 0x06;

/// One frame of those that are known.
#[derive(Clone, Copy)]
pub struct FrameView<'s> {
    pub(super) frames: &'s KnownFrames<'s>,
    pub(super) index: usize,
    /// Of functions that ended by tail calls before that frame began, which one: it has neither registers nor
    /// memory.
    pub(super) tail: Option<usize>,
    /// Whether it may be asked what its caller passed.
    pub(super) asks_caller: bool,
}

impl<'s> FrameView<'s> {
    /// The frame of the physical one, or of the tail call, that a named one is of.
    pub const fn new(frames: &'s KnownFrames<'s>, frame: &NamedFrame) -> Self {
        Self { frames, index: frame.physical, tail: frame.tail, asks_caller: true }
    }

    pub(super) fn known(&self) -> Option<&'s KnownFrame<'s>> {
        self.frames.frames.get(self.index)
    }

    /// The physical frame, if it is one.
    fn physical(&self) -> Option<&'s KnownFrame<'s>> {
        self.known().filter(|_| self.tail.is_none())
    }

    pub(super) fn known_tail(&self) -> Option<&'s KnownTail> {
        self.tails().get(self.tail?)
    }

    pub(super) fn module(&self) -> Option<&'s Module> {
        match self.tail {
            Some(_) => self.frames.core.modules().at(self.code()?),
            None => self.known()?.module,
        }
    }

    /// Where it runs, or called.
    fn code(&self) -> Option<Addr> {
        let pc = match self.tail {
            Some(_) => self.known_tail()?.pc,
            None => self.known()?.frame.pc,
        };
        Some(pc.lookup())
    }

    /// The functions that run there, with their variables.
    pub(super) fn scopes(&self) -> Option<&'s Scopes> {
        let Some(_) = self.tail else { return self.frames.scopes(self.index) };
        let tail = self.known_tail()?;
        tail.scopes.get_or_init(|| self.frames.core.scopes_at(tail.pc.lookup())).as_deref()
    }

    /// The frame of the function that its function stands in, whose variables it uses: the nearest one with the frame base
    /// that the static link gives (DWARF 5, 3.3.7).
    pub(super) fn host(&self) -> Option<Self> {
        let Some(VariableLocation::Expression(link)) = &self.scopes()?.static_link else {
            return None;
        };
        let base = location::number_of(link, self).ok()?;
        let outer = self.index.checked_add(1)?..self.frames.len();
        let callers = || outer.clone().map(|index| Self { index, tail: None, ..*self });
        callers().find(|caller| caller.base() == Some(base)).or_else(|| {
            // gcc says from where to read the frame base, and need not store it there: what holds it lies in the frame.
            let kept = link_place(link)?;
            let kept = location::number_of(&kept, self).ok()?;
            callers().find(|caller| caller.cfa().is_some_and(|cfa| cfa.get() > kept))
        })
    }

    fn base(&self) -> Option<u64> {
        match &self.scopes()?.frame_base {
            VariableLocation::Expression(base) => location::number_of(base, self).ok(),
            _ => None,
        }
    }

    /// The bytes of a general register in the order of memory.
    fn general(&self, number: u16) -> Option<Arc<[u8]>> {
        let (known, target) = (self.physical()?, self.frames.core.target());
        let register = register_of_dwarf(self.frames.core.arch(), number);
        let is_pc = self.frames.core.machine()?.program_counter() == register;
        let value = match is_pc {
            true => known.regs.pc().get(),
            false => known.regs.get(register)?,
        };
        let little = value.to_le_bytes();
        let little = little.get(..target.register_size().min(8))?;
        Some(match target.endian {
            Endian::Little => little.into(),
            Endian::Big => little.iter().rev().copied().collect(),
        })
    }
}

/// Where a static link is read from that is the last thing its expression reads.
fn link_place(link: &Expression) -> Option<Expression> {
    let (last, place) = link.bytes().split_last()?;
    (*last == DW_OP_DEREF).then(|| link.beside(place))
}

impl FrameContext for FrameView<'_> {
    fn space(&self) -> &dyn AddressSpace {
        self.frames.core.space()
    }

    fn budget(&self) -> Option<&Budget> {
        Some(self.frames.core.budget())
    }

    fn register(&self, number: u16) -> Option<Arc<[u8]>> {
        self.general(number).or_else(|| {
            self.physical()?;
            let vectors = self.frames.vectors(self.index)?;
            vectors.by_dwarf_number(number).map(Into::into)
        })
    }

    fn cfa(&self) -> Option<Addr> {
        self.physical()?.frame.cfa
    }

    fn frame_base(&self) -> Option<&VariableLocation> {
        self.scopes().map(|scopes| &scopes.frame_base)
    }

    fn pc(&self) -> Option<Svma> {
        self.module()?.svma(self.code()?)
    }

    fn relocated(&self, at: Svma) -> Option<Addr> {
        self.module()?.addr(at)
    }

    fn thread_local(&self, offset: u64) -> Result<Addr, Absent> {
        let module = self.module().ok_or_else(|| Absent::Unreadable("no module".to_owned()))?;
        let no_thread = || Absent::Unreadable("no thread runs on this stack".to_owned());
        let tid = self.frames.tid.ok_or_else(no_thread)?;
        self.frames.core.thread_local(tid, module, offset)
    }

    fn call(&self) -> Option<Call<'_>> {
        self.asks_caller.then(|| self.calling()).flatten()
    }
}
