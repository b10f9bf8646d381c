//! What the walker asks about the code of a process: that of its modules, and that which it made while it ran.

use std::sync::{Arc, OnceLock};

use kcore_mem::{Addr, AddrRange};
use kcore_runtimes::{
    HostModule,
    registered::{Registered, RegistryAddresses},
};
use kcore_symbols::Function;
use kcore_unwind::{Cfi, Modules};

use crate::{ModuleSet, made_names::MadeNames, space::ProcessSpace};

/// The code of a process.
pub struct ProcessCode {
    modules: Arc<ModuleSet>,
    space: Arc<ProcessSpace>,
    /// Read when code is met that belongs to no module, once for all samples of a profile: what is registered later
    /// is walked as code without unwind information, and has no names.
    pub(crate) registered: Arc<OnceLock<Registered>>,
    /// What files say beside that.
    pub(crate) names: MadeNames,
}

impl ProcessCode {
    pub const fn new(
        modules: Arc<ModuleSet>,
        space: Arc<ProcessSpace>,
        registered: Arc<OnceLock<Registered>>,
        names: MadeNames,
    ) -> Self {
        Self { modules, space, registered, names }
    }

    /// The function of code that the process made, as it told debuggers or a file.
    pub fn made_function_at(&self, at: Addr) -> Option<Function> {
        self.registered_at(at)?.function_at(at).or_else(|| self.names.function_at(at))
    }

    /// What was registered, if `at` may be code of that.
    fn registered_at(&self, at: Addr) -> Option<&Registered> {
        let read = || Registered::read(&self.places(), &*self.space);
        let may_be = self.modules.at(at).is_none() && self.modules.is_code(at);
        may_be.then(|| self.registered.get_or_init(read))
    }

    fn places(&self) -> RegistryAddresses {
        let modules: Vec<_> = self.modules.all().iter().map(|it| it as &dyn HostModule).collect();
        let exe = self.modules.exe().map(|it| it as &dyn HostModule);
        RegistryAddresses::find(&modules, exe, &*self.space)
    }
}

impl Modules for ProcessCode {
    fn cfi_at(&self, at: Addr) -> Option<&Cfi> {
        if let Some(module) = self.modules.at(at) {
            return module.cfi();
        }
        self.registered_at(at)?.at(at)
    }

    fn is_code(&self, at: Addr) -> bool {
        self.modules.is_code(at)
    }

    fn is_in_module(&self, at: Addr) -> bool {
        self.modules.is_in_module(at)
    }

    fn function_before(&self, at: Addr) -> Option<AddrRange> {
        self.modules.function_before(at)
    }

    fn exception_table(&self, at: Addr) -> Option<AddrRange> {
        self.modules.at(at)?.exception_table()
    }

    fn is_entry(&self, at: Addr) -> bool {
        self.modules.is_entry(at)
    }

    fn is_first_on_stack(&self, at: Addr) -> bool {
        self.modules.is_first_on_stack(at)
    }
}
