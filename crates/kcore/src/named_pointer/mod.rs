//! The words in which a program names a pointer that a register held: a variable, or what one leads to, such as
//! `conn->peer`.
//!
//! - [`straight_code`] has the instructions that certainly ran right before another.
//! - [`trace`] follows a register back through them, and to the caller where it is an argument.
//! - [`loaded`] tells what a call through a register went to.
//! - [`passed`] tells what code states for the arguments of a call.
//! - [`argument`] tells which argument a function keeps somewhere.
//! - [`element`] names elements of arrays.
//! - [`covered`] names what pointers of frames lead to.
//! - [`path`] names memory, and members behind pointers.

mod argument;
mod covered;
mod element;
mod loaded;
mod passed;
mod path;
mod straight_code;
mod trace;

use std::sync::Arc;

use kcore_mem::{Addr, CodeAddr};
use kcore_symbols::Type;

use crate::{Core, Tid};
pub(crate) use path::pointee_member;
use trace::Trace;

/// Frames of the thread that are looked at: that of a fault lies close to the innermost, and so do its callers.
const MAX_FRAMES: usize = 64;

/// A pointer by the words of its program.
#[derive(Clone, Debug)]
pub(crate) struct NamedPointer {
    /// An expression of the program: `conn`, `conn->peer`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The memory that holds it; `None` if that is a register.
    pub at: Option<Addr>,
    /// What it is where the frame stopped.
    pub value: Addr,
    /// How deep the function whose words these are is inlined into that of the frame.
    pub depth: usize,
}

/// What a frame calls a pointer.
pub(crate) struct NameInFrame {
    /// The pointer.
    pub pointer: NamedPointer,
    /// Calls from that frame to the one that was asked about: 0 for that frame.
    pub calls: usize,
    /// The function of the frame.
    pub function: Option<Arc<str>>,
    /// The function whose words these are, if it is inlined into that one.
    pub inlined: Option<Arc<str>>,
}

impl Core {
    /// What the program calls the pointer that a register held when a thread was about to run `pc`, in one of the
    /// frames of its stack. The first name is that of the frame itself. If it is an argument, the names follow that
    /// its callers have for what they passed, as far as that is certain. Empty without debug information, and where the
    /// code does not tell.
    pub(crate) fn names_of_pointer(&self, tid: Tid, pc: Addr, register: &str) -> Vec<NameInFrame> {
        let stack = self.stacks().of_thread(tid, MAX_FRAMES);
        let mut certain = stack.frames.iter().take_while(|frame| !frame.guess);
        let Some(first) = certain.position(|frame| frame.pc.addr() == pc) else {
            return Vec::new();
        };
        let frames = self.stacks().known_frames(&stack, MAX_FRAMES);
        let names = Trace::new(self, &stack, &frames).names(first, register).into_iter();
        let in_frame = names.filter_map(|(frame, pointer)| {
            let pc = stack.frames.get(frame)?.pc;
            let function = self.symbols().at(pc.lookup()).map(|symbol| symbol.name);
            let inlined = match pointer.depth {
                0 => None,
                depth => Some(self.inlined_function(pc, depth)?),
            };
            Some(NameInFrame { pointer, calls: frame.saturating_sub(first), function, inlined })
        });
        in_frame.collect()
    }

    /// The pointer of the program that a register was computed from by adding bytes, when a thread was about to run `pc` in one
    /// of the frames of its stack, and the bytes. `None` without debug information, and where the code does not tell.
    pub(crate) fn moved_pointer(
        &self,
        tid: Tid,
        pc: Addr,
        register: &str,
    ) -> Option<(NamedPointer, u64)> {
        let stack = self.stacks().of_thread(tid, MAX_FRAMES);
        let mut certain = stack.frames.iter().take_while(|frame| !frame.guess);
        let first = certain.position(|frame| frame.pc.addr() == pc)?;
        let frames = self.stacks().known_frames(&stack, MAX_FRAMES);
        Trace::new(self, &stack, &frames).moved_pointer(first, register)
    }

    /// The word in memory from which the pointer was loaded that a register held when a thread was about to run `pc`, in one
    /// of the frames of its stack; `None` if the code does not tell. What is there now may be something else.
    pub(crate) fn source_of_pointer(&self, tid: Tid, pc: Addr, register: &str) -> Option<Addr> {
        let stack = self.stacks().of_thread(tid, MAX_FRAMES);
        let mut certain = stack.frames.iter().take_while(|frame| !frame.guess);
        let first = certain.position(|frame| frame.pc.addr() == pc)?;
        let frames = self.stacks().known_frames(&stack, MAX_FRAMES);
        Trace::new(self, &stack, &frames).source(first, register)
    }

    /// The function that is inlined so deep into the one that the machine called.
    fn inlined_function(&self, pc: CodeAddr, depth: usize) -> Option<Arc<str>> {
        let locations = self.symbols().locations(pc);
        let outermost = locations.len().checked_sub(1)?;
        locations.get(outermost.checked_sub(depth)?)?.function.as_deref().map(Into::into)
    }
}
