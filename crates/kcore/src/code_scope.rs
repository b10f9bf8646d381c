//! The code in which a name is used. It decides what the name means.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_symbols::{DebugInfo, DieId, FunctionScope, Scopes};

use crate::{Core, Module, NamedFrame};

/// The code of a function that runs in a frame. A name that is used there is looked for in the blocks of the
/// function, then in its unit, then in its module, and only then in the rest of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeScope {
    /// Within the instruction that runs, or that called.
    at: Addr,
    /// How many functions hold the one that is meant: of the one that the machine called 0.
    depth: usize,
}

impl NamedFrame {
    /// The code that runs there; `None` of a frame of a runtime's language.
    pub fn code_scope(&self) -> Option<CodeScope> {
        let is_native = self.location.kind.is_machine_code();
        let at = self.pc().filter(|_| is_native)?.lookup();
        Some(CodeScope { at, depth: self.location.depth() })
    }
}

/// The functions that hold a place in the code, and the debug information that tells of them.
pub struct FunctionsAt<'c> {
    pub info: &'c Arc<DebugInfo>,
    scopes: Arc<Scopes>,
    skipped: usize,
}

impl FunctionsAt<'_> {
    /// The function that is meant, and those that it is inlined into.
    pub fn functions(&self) -> &[FunctionScope] {
        self.scopes.functions.get(self.skipped..).unwrap_or_default()
    }
}

impl Core {
    /// The module of the code.
    pub(crate) fn module_of(&self, scope: CodeScope) -> Option<&Module> {
        self.modules().at(scope.at)
    }

    /// The functions that hold the code, if debug information tells of them.
    pub(crate) fn functions_at(&self, scope: CodeScope) -> Option<FunctionsAt<'_>> {
        let info = self.module_of(scope)?.symbols().debug_info()?;
        let scopes = self.scopes_at(scope.at)?;
        let skipped = scopes.functions.len().checked_sub(scope.depth.checked_add(1)?)?;
        Some(FunctionsAt { info, scopes, skipped })
    }
}

/// Where a name comes from: the module, and the source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct NameSource {
    /// The name of the module.
    pub module: Arc<str>,
    /// The main source file of the unit, as the compiler was given it. `None` of what several units share, and
    /// without debug information.
    pub file: Option<Arc<str>>,
}

impl NameSource {
    /// Of an entry of a module's debug information.
    pub(crate) fn of(module: &Module, info: Option<&DebugInfo>, id: Option<DieId>) -> Self {
        let file = info.zip(id).and_then(|(info, id)| info.source_file_of(id));
        Self { module: module.name().into(), file: file.map(Into::into) }
    }
}

impl std::fmt::Display for NameSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.file {
            Some(file) => {
                let file = file.rsplit('/').next().unwrap_or(file);
                write!(f, "{}`{file}", self.module)
            }
            None => f.write_str(&self.module),
        }
    }
}
