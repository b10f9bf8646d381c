//! Frames with the registers that were recovered for each.

use std::{cell::OnceCell, sync::Arc};

use kcore_mem::Addr;
use kcore_symbols::{Scopes, TypeError};
use kcore_unwind::{Flow, Frame, Regs};

use super::caller::{Began, KnownTail};
use crate::{Core, FpRegisters, Module, Stack, StackView, Tid};

/// Frames of one stack whose registers are kept at a time: each takes half a kilobyte.
const MAX_KEPT: usize = 1 << 12;
/// Frames that are kept beyond those that are wanted: a caller may have passed what its own callers passed.
const CALLERS_KEPT: usize = 1 << 6;

/// The innermost frames of a stack with their registers. What is read of each is kept as long as this.
pub struct KnownFrames<'c> {
    pub(super) core: &'c Core,
    pub(super) tid: Option<Tid>,
    pub(super) frames: Vec<KnownFrame<'c>>,
    /// Whether the first frame has the registers with which the kernel stopped the thread.
    is_stopped: bool,
    vectors: OnceCell<Option<FpRegisters>>,
}

/// A frame, and what was read of it.
pub(super) struct KnownFrame<'c> {
    pub(super) frame: Frame,
    pub(super) regs: Regs,
    pub(super) module: Option<&'c Module>,
    pub(super) scopes: OnceCell<Option<Arc<Scopes>>>,
    /// How its function began, if that is certain.
    pub(super) began: OnceCell<Option<Began>>,
    /// The functions that ended by tail calls before it began.
    pub(super) tails: OnceCell<Vec<KnownTail>>,
}

impl<'c> StackView<'c> {
    /// The frames of a stack with their registers: the innermost `limit` of them, and no more than 4096.
    pub fn known_frames(self, stack: &Stack, limit: usize) -> KnownFrames<'c> {
        let wanted = limit.min(MAX_KEPT).min(stack.frames.len());
        let mut known = KnownFrames {
            core: self.core,
            tid: stack.tid,
            frames: Vec::with_capacity(wanted.saturating_add(CALLERS_KEPT)),
            is_stopped: false,
            vectors: OnceCell::new(),
        };
        known.walk(stack, wanted);
        known
    }
}

impl<'c> KnownFrames<'c> {
    /// Walks the stack again, to the first frame that is wanted and as far as wanted, with some of the callers.
    fn walk(&mut self, stack: &Stack, wanted: usize) {
        let (Some(mut walker), Some(origin)) = (self.core.stacks().walker(), stack.origin()) else {
            return;
        };
        let Some(first) = stack.frames.first().filter(|_| wanted > 0) else { return };
        let mut skipped = 0_usize;
        walker.set_thread(stack.tid);
        let keep = wanted.saturating_add(CALLERS_KEPT);
        walker.walk_from(&origin.regs, origin.pc, origin.trust, usize::MAX, &mut |frame, regs| {
            if self.frames.is_empty() && frame != first {
                skipped = skipped.saturating_add(1);
                return Flow::Continue;
            }
            self.frames.push(self.core.known(*frame, *regs));
            if self.frames.len() < keep { Flow::Continue } else { Flow::Stop }
        });
        self.is_stopped = origin.is_thread && skipped == 0;
    }

    /// How many frames have their registers: of one beyond them nothing is known.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether no frame has.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The general registers of a frame, as far as they are known.
    pub(crate) fn general_registers(&self, index: usize) -> Vec<u64> {
        let Some((known, machine)) = self.frames.get(index).zip(self.core.machine()) else {
            return Vec::new();
        };
        let names = machine.register_names().iter();
        names.filter_map(|(_, register)| known.regs.get(*register)).collect()
    }

    /// The vector registers of a frame: callees do not preserve them, so only the innermost has any.
    pub(super) fn vectors(&self, index: usize) -> Option<&FpRegisters> {
        if index != 0 || !self.is_stopped {
            return None;
        }
        self.vectors.get_or_init(|| self.core.registers().floating_point(self.tid?)).as_ref()
    }

    /// The functions that run in a frame, with their variables.
    pub(super) fn scopes(&self, index: usize) -> Option<&Scopes> {
        let known = self.frames.get(index)?;
        let read = || self.core.scopes_at(known.frame.pc.lookup());
        known.scopes.get_or_init(read).as_deref()
    }
}

impl Core {
    /// The functions that run at an address of code, with their variables.
    pub(crate) fn scopes_at(&self, at: Addr) -> Option<Arc<Scopes>> {
        self.scopes.get(at, || {
            let Some(module) = self.modules().at(at) else { return Some(None) };
            let Some(svma) = module.svma(at) else { return Some(None) };
            match module.symbols().scopes_at(svma, self.budget()) {
                Ok(scopes) => Some(scopes.map(Arc::new)),
                Err(TypeError::Exhausted) => None,
                Err(_) => Some(None),
            }
        })
    }

    fn known(&self, frame: Frame, regs: Regs) -> KnownFrame<'_> {
        let module = self.modules().at(frame.pc.lookup());
        KnownFrame {
            frame,
            regs,
            module,
            scopes: OnceCell::new(),
            began: OnceCell::new(),
            tails: OnceCell::new(),
        }
    }
}
