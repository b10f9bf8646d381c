//! The call that led to a frame, if it is certain that it was this one.
//!
//! A return address tells where the machine goes on, and not always what it called: a function that ends
//! by a jump to another one leaves the other with its own return address and with registers that nobody
//! told of. What a caller passed therefore counts only where its call names the very function that runs,
//! and where that function cannot have reached itself by such jumps (gdb: `func_verify_no_selftailcall`).

use std::collections::HashSet;

use kcore_mem::{Addr, CodeAddr};
use kcore_symbols::{CallSite, CallTarget, DebugInfo};
use kcore_values::location::{self, Call};
use std::sync::Arc;

use super::context::FrameView;
use crate::{Core, Module};

/// Functions that are looked at for jumps by which one may reach itself.
const MAX_FUNCTIONS: usize = 256;

impl FrameView<'_> {
    /// The call by which the function of this frame began.
    pub(super) fn calling(&self) -> Option<Call<'_>> {
        let site = self.known()?.call.get_or_init(|| self.find_call()).as_ref()?;
        Some(Call { site, frame: Box::new(self.caller()) })
    }

    fn caller(&self) -> Self {
        Self { index: self.index.saturating_add(1), ..*self }
    }

    fn find_call(&self) -> Option<CallSite> {
        let caller = self.caller();
        let frame = &caller.known()?.frame;
        let CodeAddr::Return(returns_to) = frame.pc else { return None };
        if frame.guess {
            return None;
        }
        let module = caller.known()?.module?;
        let svma = module.svma(returns_to)?;
        let budget = self.frames.core.budget();
        let site = module.symbols().call_returning_to(svma, budget).ok()??;
        let began = self.known()?.module?.addr(self.frames.scopes(self.index)?.entry?)?;
        let is_certain =
            caller.target(module, &site.target) == Some(began) && !self.may_have_jumped_to_itself();
        is_certain.then_some(site)
    }

    /// The function that a call of this frame calls.
    fn target(&self, module: &Module, target: &CallTarget) -> Option<Addr> {
        match target {
            CallTarget::Computed(expression) => {
                // What the caller was passed itself is not asked: such calls would ask all callers.
                let alone = Self { asks_caller: false, ..*self };
                location::number_of(expression, &alone).ok().map(Addr::new)
            }
            named => self.frames.core.named_target(module, named),
        }
    }

    /// Whether the function of this frame can have ended, by jumps, as itself; also where that is
    /// unknown.
    fn may_have_jumped_to_itself(&self) -> bool {
        let Some(module) = self.known().and_then(|known| known.module) else { return true };
        let Some(own) = self.frames.scopes(self.index).and_then(|scopes| scopes.entry) else {
            return true;
        };
        let own = module.addr(own);
        let mut seen: HashSet<Addr> = HashSet::new();
        let mut left: Vec<Addr> = own.into_iter().collect();
        while let Some(next) = left.pop() {
            let Some(targets) = self.frames.core.jump_targets(next) else { return true };
            for target in targets {
                if Some(target) == own || seen.len() >= MAX_FUNCTIONS {
                    return true;
                }
                if seen.insert(target) {
                    left.push(target);
                }
            }
        }
        false
    }
}

impl Core {
    /// The functions that the one at `at` may end as; `None` where that is unknown.
    fn jump_targets(&self, at: Addr) -> Option<Vec<Addr>> {
        let module = self.modules().at(at)?;
        let scopes = self.scopes_at(at)?;
        let info = module.symbols().debug_info()?;
        let targets = info.tail_calls_of(scopes.function()?, self.budget()).ok()?;
        targets.iter().map(|target| self.named_target(module, target)).collect()
    }

    /// Where the function begins that a call names.
    fn named_target(&self, module: &Module, target: &CallTarget) -> Option<Addr> {
        let CallTarget::Function(id) = target else { return None };
        let info: &Arc<DebugInfo> = module.symbols().debug_info()?;
        let code = info.code_of(*id).ok()?;
        if let Some(entry) = code.entry {
            return module.addr(entry);
        }
        let name = code.symbol?;
        let own = module.symbols().table().lookup(&name).filter(|symbol| symbol.is_defined());
        match own {
            Some(symbol) => module.addr(symbol.value()),
            None => self.lookup_symbol(None, &name).ok(),
        }
    }
}
