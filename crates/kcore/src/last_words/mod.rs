//! What a program left behind about its own death, where memory still holds it.

mod cxx;
mod error_file;
mod glibc;
mod library;
mod runtimes;
mod rust;

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_runtimes::Fate;
use kcore_unwind::Frame;

use crate::{Core, CrashView};

/// Frames of the crashed thread that are looked at: the machinery of dying is never far out.
const FRAMES: usize = 64;

/// A message of a program about its own death.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastWords {
    /// What glibc printed before it aborted: a failed assertion, heap corruption, a smashed stack.
    AbortMessage(String),
    /// The exception that nobody caught, that was on its way, or that was handled: of C++, or of a language that a
    /// runtime runs.
    Exception {
        /// Which of them.
        fate: Fate,
        /// Its type, demangled; its class.
        type_name: String,
        /// What its `what()` would give, where that needs no code of the program; its message.
        what: Option<String>,
        /// The signal of which its runtime made it, as the runtime prints that.
        signal: Option<String>,
        /// Where a language's value lies, as its dcmds take it.
        object: Option<Addr>,
        /// The stack that it carries, as its language prints it, innermost first.
        trace: Vec<String>,
    },
    /// A runtime gave up, or the program made it.
    Fatal {
        /// Why.
        message: String,
        /// The innermost frames of its language, as that prints them.
        trace: Vec<String>,
    },
    /// What a library wrote down of the failed check for which it ended the process.
    Library {
        /// The name of the library.
        library: &'static str,
        /// Its words.
        message: String,
    },
    /// What a runtime wrote to a file right before, which lies beside the core or where it was written. It is no part of
    /// the core.
    ErrorFile {
        /// The path of the file.
        path: String,
        /// The lines that say why.
        lines: Vec<String>,
    },
    /// A Rust panic. When one panic led to another, the latest comes first.
    Panic(Panic),
}

/// A Rust panic, as far as memory tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Panic {
    /// Its message.
    pub message: Option<String>,
    /// The type of what it carries, where that is no text.
    pub payload_type: Option<String>,
    /// Where it came about.
    pub place: Option<PanicPlace>,
    /// The name of its thread.
    pub thread: Option<String>,
}

/// A place in a source file, as a Rust panic has it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PanicPlace {
    /// The path, as the compiler was given it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// A frame of the crashed thread with its function. The symbol is enough here: what is looked for
/// is never inlined, and lines would cost a hundred times as much.
struct DyingFrame {
    frame: Frame,
    function: Arc<str>,
}

impl CrashView<'_> {
    /// What the program left behind about its death; nothing where it did not die of itself.
    pub fn last_words(self) -> Vec<LastWords> {
        let Some(crashed) = self.core.crashed_thread() else { return Vec::new() };
        let stack = self.core.stacks().of_thread(crashed.tid, FRAMES);
        let frames: Vec<DyingFrame> =
            stack.frames.iter().map(|frame| self.core.dying_frame(frame)).collect();
        let mut found: Vec<LastWords> = [
            glibc::find(self.core, crashed).into_iter().collect(),
            cxx::find(self.core, &frames),
            library::find(self.core, crashed.tid, &frames).into_iter().collect(),
        ]
        .concat();
        found.extend(rust::allocation::find(self.core, &stack, &frames));
        found.extend(rust::find(self.core, crashed.tid, &frames).into_iter().map(LastWords::Panic));
        found.extend(runtimes::find(self.core, crashed.tid, &stack, &frames));
        found.extend(error_file::find(self.core, crashed));
        found
    }
}

impl CrashView<'_> {
    /// Whether a C++ exception reached a function that lets none out, and the functions of its frame, inlined ones first: none
    /// if they are not known.
    pub(crate) fn exception_barrier(self) -> Option<Vec<Arc<str>>> {
        let crashed = self.core.crashed_thread()?;
        let stack = self.core.stacks().of_thread(crashed.tid, FRAMES);
        let frames: Vec<DyingFrame> =
            stack.frames.iter().map(|frame| self.core.dying_frame(frame)).collect();
        let stopped = cxx::stopped_by(self.core, &frames)?;
        let locations = stopped.map(|pc| self.core.symbols().locations(pc)).unwrap_or_default();
        let names = locations.iter().filter_map(|it| it.function.as_deref().map(Into::into));
        Some(names.collect())
    }
}

impl Core {
    fn dying_frame(&self, frame: &Frame) -> DyingFrame {
        let symbol = self.symbols().at(frame.pc.lookup());
        DyingFrame { frame: *frame, function: symbol.map_or("".into(), |symbol| symbol.name) }
    }
}

/// The first frame whose function is one of `names`.
fn frame_of<'a>(frames: &'a [DyingFrame], names: &[&str]) -> Option<&'a DyingFrame> {
    frames.iter().find(|frame| names.contains(&&*frame.function))
}
