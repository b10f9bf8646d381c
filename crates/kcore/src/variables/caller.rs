//! The call that led to a frame, if it is certain that it was this one.
//!
//! A return address tells where the machine goes on, and not always what it called: a function that ends
//! by a jump to another one leaves the other with its own return address and with registers that only the entry of
//! that jump tells of. What a caller passed therefore counts only where its call leads to the very function that
//! runs. Where it leads to another one, the one way by which that became the other counts, jump by jump; where
//! there are several ways, or the function can have reached itself by jumps, nothing does (gdb:
//! `func_verify_no_selftailcall`).

use std::{cell::OnceCell, sync::Arc};

use kcore_mem::{Addr, CodeAddr};
use kcore_symbols::{CallSite, CallTarget, Scopes};
use kcore_values::location::{self, Call};

use super::context::FrameView;
use crate::{Module, tail_calls::TailCaller};

/// How the function of a frame was entered: by a call, and then perhaps by tail calls.
pub(super) struct Began {
    /// The call of the physical frame above it.
    site: CallSite,
    /// The functions that ended by tail calls since, the last one first.
    tails: Vec<TailCaller>,
}

/// A function that ended by a tail call.
pub(super) struct KnownTail {
    pub(super) pc: CodeAddr,
    pub(super) scopes: OnceCell<Option<Arc<Scopes>>>,
    /// The tail call.
    pub(super) site: Option<CallSite>,
}

impl<'s> FrameView<'s> {
    /// The call by which the function of this frame began.
    pub(super) fn calling(&self) -> Option<Call<'_>> {
        let began = self.known()?.began.get_or_init(|| self.find_beginning()).as_ref()?;
        let before = self.tail.map_or(Some(0), |tail| tail.checked_add(1))?;
        if before >= began.tails.len() {
            return Some(Call { site: &began.site, frame: Box::new(self.caller()) });
        }
        let jumped = Self { tail: Some(before), ..*self };
        Some(Call { site: jumped.known_tail()?.site.as_ref()?, frame: Box::new(jumped) })
    }

    /// The physical frame above this one.
    fn caller(&self) -> Self {
        Self { index: self.index.saturating_add(1), tail: None, ..*self }
    }

    /// The functions that ended by tail calls before the physical frame began, the last one first.
    pub(super) fn tails(&self) -> &'s [KnownTail] {
        let tails = self.known().map(|known| known.tails.get_or_init(|| self.find_tails()));
        tails.map(Vec::as_slice).unwrap_or_default()
    }

    fn find_tails(&self) -> Vec<KnownTail> {
        let Some(known) = self.known() else { return Vec::new() };
        let began = known.began.get_or_init(|| self.find_beginning());
        let chain = self.caller().known().and_then(|caller| {
            let chain = self.frames.core.tail_chain(&known.frame, &caller.frame)?;
            Some(chain.callers.clone())
        });
        let callers = began.as_ref().map(|began| began.tails.clone()).or(chain);
        callers.unwrap_or_default().iter().map(|caller| self.known_tail_of(caller)).collect()
    }

    fn known_tail_of(&self, caller: &TailCaller) -> KnownTail {
        let core = self.frames.core;
        let module = core.modules().at(caller.pc.lookup());
        let info = module.and_then(|module| module.symbols().debug_info());
        let site = info.and_then(|info| info.call_site(caller.call, core.budget()).ok());
        KnownTail { pc: caller.pc, scopes: OnceCell::new(), site }
    }

    fn find_beginning(&self) -> Option<Began> {
        let physical = Self { tail: None, ..*self };
        let caller = self.caller();
        let frame = &caller.known()?.frame;
        let CodeAddr::Return(returns_to) = frame.pc else { return None };
        if frame.guess || self.known()?.frame.guess {
            return None;
        }
        let module = caller.module()?;
        let svma = module.svma(returns_to)?;
        let core = self.frames.core;
        let site = module.symbols().call_returning_to(svma, core.budget()).ok()??;
        let began = physical.module()?.addr(physical.scopes()?.entry?)?;
        let called = caller.target(module, returns_to, &site.target)?;
        let chain = core.chain_of_jumps(called, began);
        chain.is_whole.then_some(Began { site, tails: chain.callers })
    }

    /// The function that a call of this frame calls.
    fn target(&self, module: &Module, returns_to: Addr, target: &CallTarget) -> Option<Addr> {
        let core = self.frames.core;
        match target {
            CallTarget::Computed(expression) => {
                // What the caller was passed itself is not asked: such calls would ask all callers.
                let alone = Self { asks_caller: false, ..*self };
                location::number_of(expression, &alone).ok().map(Addr::new)
            }
            CallTarget::Unknown => None,
            named => core.called_before(returns_to).or_else(|| core.named_target(module, named)),
        }
    }
}
