//! Where the names that a user types are looked for.

use std::sync::Arc;

use kcore::{CodeScope, Core, ScopeFrame, Tid, Type};

use crate::{DcmdError, Dot, Result, Shell};

/// Where the names that a user types are looked for: the current thread and frame, or those of a pipe.
#[derive(Clone, Copy)]
pub struct NameScope<'a> {
    /// The core.
    pub core: &'a Arc<Core>,
    /// The session.
    pub shell: &'a dyn Shell,
    /// The address before the dcmd that names are typed for, or what a pipe hands on.
    pub owner: Option<Dot>,
    /// Dot.
    pub dot: Dot,
}

impl NameScope<'_> {
    /// The type that `text` names, perhaps with a module before a backquote; the session's own come first, then
    /// those of the code in which names are used: see [`NameScope::code`].
    ///
    /// # Errors
    /// When there is none.
    pub fn type_named(&self, text: &str) -> Result<Type> {
        let (scope, name) = match text.rsplit_once('`') {
            Some((scope, name)) => (Some(scope), name),
            None => (None, text),
        };
        let types = self.core.types().seen_from(self.code());
        types
            .named_in(self.shell.types(), scope, name)
            .map_err(|why| DcmdError::failed(format!("failed to look up type {text}: {why}")))
    }

    /// The code in which names are used: that of the frame or thread from a pipe, or else that of the current
    /// frame. `None` if there is no such frame, or a runtime's language runs in it.
    pub fn code(&self) -> Option<CodeScope> {
        let frame = match self.owner {
            Some(Dot::Frame { tid, index, .. }) => ScopeFrame { tid, physical: index, named: None },
            Some(Dot::Thread(tid)) => ScopeFrame::innermost_of(tid),
            Some(Dot::Task(_) | Dot::TaskFrame { .. }) => return None,
            Some(Dot::Number(_) | Dot::Addr(_)) | None => self.current_frame()?,
        };
        self.core.variables().scope_of(frame)
    }

    fn current_frame(&self) -> Option<ScopeFrame> {
        let (physical, named) = (self.shell.current_frame(), self.shell.current_named_frame());
        Some(ScopeFrame { tid: self.shell.current_thread()?, physical, named })
    }

    /// The current thread.
    ///
    /// # Errors
    /// When there is none: an executable without a core.
    pub fn current_thread(&self) -> Result<Tid> {
        self.shell.current_thread().ok_or_else(|| DcmdError::failed("no process active"))
    }
}
