//! Variables of a process: the arguments and locals of frames, and those that modules have.
//!
//! - [`KnownFrames`] are the frames of a stack with the registers that were recovered for each.
//! - [`context`] is a frame as DWARF expressions see it, [`caller`] finds the call that led to it.
//! - [`frame`] lists the variables of a frame, [`array_bounds`] gives arrays the length that they have
//!   there, [`go`] shows those of Go as its source has them; [`globals`] finds variables by name, [`near`] by what is around the
//!   name.
//! - [`script`] has those of frames of languages.

mod array_bounds;
mod at;
mod caller;
mod context;
mod frame;
mod globals;
mod go;
#[cfg(feature = "disassembly")]
mod held;
mod known_frames;
mod module_context;
mod near;
mod of_class;
mod scopes_cache;
mod script;
mod thread_local_at;

use crate::Core;

pub use frame::FrameVariable;
pub use globals::FoundVariable;
#[cfg(feature = "disassembly")]
pub(crate) use held::HeldVariable;
pub use kcore_symbols::VariableKind;
pub use known_frames::KnownFrames;
pub(crate) use scopes_cache::ScopesCache;
pub use thread_local_at::ThreadVariable;

/// Questions about variables by their names and places: see [`Core::variables`].
#[derive(Clone, Copy)]
pub struct VariableView<'c> {
    pub(crate) core: &'c Core,
}

impl Core {
    /// The variables that its modules describe.
    pub const fn variables(&self) -> VariableView<'_> {
        VariableView { core: self }
    }
}
