//! Finds where the function that a call leads to begins in the process.

use kcore_mem::{Addr, CodeAddr};
use kcore_symbols::{CallPlace, CallTarget, FunctionCode};

use crate::{Core, Module};

/// Jumps of the linker that stand for one function: an entry of the PLT, behind a veneer.
const MAX_STUBS: usize = 2;

impl Core {
    /// Where the function that runs at `at` begins.
    pub(super) fn function_start(&self, at: Addr) -> Option<Addr> {
        let module = self.modules().at(at)?;
        let told = module.svma(at).and_then(|svma| module.symbols().entry_at(svma));
        let told = told.and_then(|entry| module.addr(entry));
        told.or_else(|| self.symbols().at(at).map(|symbol| symbol.start))
    }

    /// The function that the call before a return address calls, if its instruction says so, perhaps by what the
    /// linker put in between.
    pub(crate) fn called_before(&self, returns_to: Addr) -> Option<Addr> {
        let machine = self.machine()?;
        let mut called = machine.called_before(returns_to, self.space())?;
        for _ in 0..MAX_STUBS {
            if self.is_told_of(called) {
                break;
            }
            let Some(next) = machine.jump_at(called, self.space()) else { break };
            called = next;
        }
        Some(called)
    }

    /// Whether debug information has a function that begins at `at`: one that does nothing but jump is none of the
    /// linker's.
    fn is_told_of(&self, at: Addr) -> bool {
        let Some(module) = self.modules().at(at) else { return false };
        let Some(svma) = module.svma(at) else { return false };
        module.symbols().entry_at(svma) == Some(svma)
    }

    /// Where the function begins that a call names; `None` where the name alone does not tell, or the call gets it
    /// from elsewhere.
    pub(crate) fn named_target(&self, module: &Module, target: &CallTarget) -> Option<Addr> {
        match target {
            CallTarget::Address(at) => module.addr(*at),
            CallTarget::Function(id) => {
                let code = module.symbols().debug_info()?.code_of(*id).ok()?;
                self.placed(module, &code)
            }
            CallTarget::Computed(_) | CallTarget::Unknown => None,
        }
    }

    fn placed(&self, module: &Module, code: &FunctionCode) -> Option<Addr> {
        let own = match (code.entry, &code.symbol) {
            (Some(entry), _) => Some(entry),
            (None, name) => {
                module.symbols().table().only_function(name.as_ref()?, code.is_external)
            }
        };
        let own = own.and_then(|svma| module.addr(svma));
        match &code.symbol {
            Some(name) if code.is_external => self.linked(module, name, own),
            _ => own,
        }
    }

    /// The function that the dynamic linker bound a call in `module` to, where `own` is the module's own one: what
    /// several modules export is one or the other.
    fn linked(&self, module: &Module, name: &str, own: Option<Addr>) -> Option<Addr> {
        let exports = |module: &Module| {
            let symbol = module.image()?.exported(name)?;
            module.addr(symbol.value)
        };
        // What the executable has, or what nobody else sees, is what the module calls.
        if own.is_some() && (module.is_exe() || exports(module).is_none()) {
            return own;
        }
        let mut all = self.modules().in_scope_order().filter_map(exports);
        let found = all.next();
        found.filter(|_| all.next().is_none() && (own.is_none() || own == found))
    }
}

/// Where the call is in the process.
pub(super) fn place_of(module: &Module, place: CallPlace) -> Option<CodeAddr> {
    match place {
        CallPlace::At(at) => module.addr(at).map(CodeAddr::Pc),
        CallPlace::Behind(end) => module.addr(end).map(CodeAddr::Return),
    }
}
