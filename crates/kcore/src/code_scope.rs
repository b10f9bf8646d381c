//! The code in which a name is used. It decides what the name means.

use std::sync::{Arc, Mutex};

use kcore_mem::Addr;
use kcore_symbols::{DebugInfo, DieId, FunctionScope, Language, Scopes};

use crate::{Core, Module, NamedFrame, Tid, VariableView};

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

/// A frame of a thread, and whose names are meant in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScopeFrame {
    /// The thread.
    pub tid: Tid,
    /// The index among physical frames, innermost 0.
    pub physical: usize,
    /// The index among named frames, of which an inlined call has one of its own. `None` for the first one of the
    /// physical frame.
    pub named: Option<usize>,
}

impl ScopeFrame {
    /// The innermost frame of a thread.
    pub const fn innermost_of(tid: Tid) -> Self {
        Self { tid, physical: 0, named: None }
    }

    fn is(&self, frame: &NamedFrame) -> bool {
        match self.named {
            Some(named) => frame.index == named,
            None => frame.physical == self.physical,
        }
    }
}

/// The frame that was asked for last, with its code: each element of a pipe asks for the same one.
#[derive(Default)]
pub struct LastScope(Mutex<Option<(ScopeFrame, Option<CodeScope>)>>);

impl LastScope {
    fn get(&self, frame: ScopeFrame) -> Option<Option<CodeScope>> {
        let (known, scope) = (*self.0.lock().ok()?)?;
        (known == frame).then_some(scope)
    }

    fn put(&self, frame: ScopeFrame, scope: Option<CodeScope>) {
        if let Ok(mut last) = self.0.lock() {
            *last = Some((frame, scope));
        }
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

impl VariableView<'_> {
    /// The code that runs in a frame. `None` if there is no such frame, or a runtime's language runs in it.
    pub fn scope_of(self, frame: ScopeFrame) -> Option<CodeScope> {
        if let Some(known) = self.core.last_scope.get(frame) {
            return known;
        }
        let stack = self.core.stacks().of_thread(frame.tid, frame.physical.saturating_add(2));
        let scope =
            self.core.stacks().named_frames(&stack).find(|named| frame.is(named))?.code_scope();
        self.core.last_scope.put(frame, scope);
        scope
    }

    /// The language of the code, as its debug information states it.
    pub fn language_of(self, scope: CodeScope) -> Option<Language> {
        self.core.language_of(scope)
    }
}

impl Core {
    /// The module of the code.
    pub(crate) fn module_of(&self, scope: CodeScope) -> Option<&Module> {
        self.modules().at(scope.at)
    }

    /// The language of the code.
    pub(crate) fn language_of(&self, scope: CodeScope) -> Option<Language> {
        let at = self.functions_at(scope)?;
        at.info.language_of(at.functions().first()?.id)
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
