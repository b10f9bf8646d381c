//! The records of stacks, which several commands emit, and the agent.

mod frame_line;
mod frame_values;
mod group;
mod original;
mod stack_record;

pub use frame_line::{FrameLine, Layout};
pub use frame_values::{
    DEFAULT_ARGUMENTS, FrameValues, LIMITS, NamedValue, ValueReader, VariableChoice,
};
pub use group::{GroupBegin, MAX_GROUP_FRAMES, sort_groups, state_of_group};
pub use original::original_cell;
pub use stack_record::{StackBegin, StackEnd};

use kcore::{Core, StackGroup};

use crate::{Result, Sink};

/// Puts a group of threads with its stack into a sink, by the names that modules have.
///
/// # Errors
/// See [`Sink`].
pub fn put_group(sink: &mut dyn Sink, core: &Core, group: &StackGroup) -> Result<()> {
    sink.begin(&GroupBegin::new(core, group), "frames")?;
    for frame in core.stacks().named_frames(&group.stack) {
        sink.put(&FrameLine::new(core, group.first(), frame, Layout::Indented))?;
    }
    sink.end(&StackEnd::new(core, &group.stack, Layout::Indented))
}
