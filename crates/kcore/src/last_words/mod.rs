//! What a program left behind about its own death, where memory still holds it.

mod cxx;
mod glibc;
mod rust;

use crate::{Core, NamedFrame};

/// Frames of the crashed thread that are looked at: the machinery of dying is never far out.
const FRAMES: usize = 64;

/// A message of a program about its own death.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastWords {
    /// What glibc printed before it aborted: a failed assertion, heap corruption, a smashed stack.
    AbortMessage(String),
    /// The C++ exception that nobody caught.
    Exception {
        /// Its type, demangled.
        type_name: String,
        /// What its `what()` would give, where that needs no code of the program.
        what: Option<String>,
    },
    /// The message of the Rust panic.
    Panic(String),
}

impl Core {
    /// What the program left behind about its death; nothing where it did not die of itself.
    pub fn last_words(&self) -> Vec<LastWords> {
        let Some(crashed) = self.crashed_thread() else { return Vec::new() };
        let stack = self.stack(crashed.tid, FRAMES);
        let frames: Vec<NamedFrame> = self.named_frames(&stack.frames).collect();
        let found =
            [glibc::find(self, crashed), cxx::find(self, &frames), rust::find(self, &frames)];
        found.into_iter().flatten().collect()
    }
}

/// The first frame whose function is one of `names`, or begins with one and `<` or `::`.
fn frame_of<'a>(frames: &'a [NamedFrame], names: &[&str]) -> Option<&'a NamedFrame> {
    frames.iter().find(|frame| {
        let function = frame.location.function.as_deref().unwrap_or_default();
        names.contains(&function)
    })
}
