//! When frames and stacks of different cores are the same: if their functions are.

use std::sync::Arc;

use kcore::{Core, End, NamedFrame, SharedLocation, Stack};

/// A frame without its addresses, which differ from process to process.
#[derive(Clone)]
pub(super) struct FrameKey {
    pub(super) location: SharedLocation,
    pub(super) is_guess: bool,
}

impl FrameKey {
    fn new(frame: NamedFrame) -> Self {
        Self { is_guess: frame.is_guess(), location: frame.location }
    }

    /// The name of the function. Code without one is named by its module.
    pub(super) fn name(&self) -> Arc<str> {
        let location = &*self.location;
        match (&location.function, &location.module) {
            (Some(function), _) => function.clone(),
            (None, Some(module)) => format!("<unknown> in {module}").into(),
            (None, None) => "<unknown>".into(),
        }
    }

    /// The module of a library's function, which stands before its name.
    pub(super) fn module(&self) -> Option<&str> {
        let location = &*self.location;
        location.module.as_deref().filter(|_| !location.in_exe && location.function.is_some())
    }
}

/// What two stacks have in common that are the same.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Likeness {
    waits_in: Option<String>,
    frames: Vec<(Option<Arc<str>>, Arc<str>)>,
    end: &'static str,
}

/// The frames of a stack, why it ends if that is not as it should be, and what it shares with stacks like it.
pub(super) struct Comparable {
    pub(super) likeness: Likeness,
    pub(super) frames: Vec<FrameKey>,
    pub(super) end: Option<String>,
}

impl Comparable {
    pub(super) fn new(core: &Core, stack: &Stack, waits_in: Option<String>) -> Self {
        let frames: Vec<FrameKey> = core.stacks().named_frames(stack).map(FrameKey::new).collect();
        let names = frames.iter().map(|frame| (frame.module().map(Into::into), frame.name()));
        let end = stack.end.as_str();
        let likeness = Likeness { waits_in, frames: names.collect(), end };
        let end = (stack.end != End::Outermost).then(|| stack.end.to_string());
        Self { likeness, frames, end }
    }
}
