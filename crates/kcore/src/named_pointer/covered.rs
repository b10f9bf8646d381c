//! What the frames of a thread call memory that their pointers lead to: `pool->lock`.

use kcore_mem::Addr;
use kcore_unwind::Tid;

use super::{
    NamedPointer,
    path::{behind, is_pointer, pointee},
};
use crate::{Core, FrameVariable, NamedFrame};

/// Frames whose variables are looked at, and those among which they are.
const MAX_FRAMES: usize = 32;
const OWN_FRAMES: usize = 3;

impl Core {
    /// What the innermost of the program's own functions of a thread that has a pointer to an object calls the member of
    /// it that lies at an address, or the whole object. `None` without debug information, or if none has.
    pub(crate) fn name_behind_pointer(&self, tid: Tid, at: Addr) -> Option<String> {
        let stack = self.stacks().of_thread(tid, MAX_FRAMES);
        let frames = self.stacks().known_frames(&stack, MAX_FRAMES);
        let own = self.stacks().own_frames(&stack).take_while(|frame| !frame.is_guess());
        let mut variables =
            own.take(OWN_FRAMES).filter_map(|frame: NamedFrame| frames.variables(&frame)).flatten();
        variables.find_map(|variable| self.name_behind(&variable, at))
    }

    fn name_behind(&self, variable: &FrameVariable, at: Addr) -> Option<String> {
        let ty = variable.ty.clone().filter(is_pointer)?;
        let value = variable.object.as_ref().ok()?.pointer(self).ok()?;
        let name = variable.name.as_deref()?.to_owned();
        let pointer = NamedPointer { name, ty, at: None, value, depth: 0 };
        let offset = i64::try_from(at.offset_from(value)?).ok()?;
        // A pointer to what has no members tells nothing: any may lead there.
        pointee(&pointer.ty)?.stripped().ok()?.composite()?;
        let member = behind(self, &pointer, offset).map(|member| member.name);
        member.or_else(|| (offset == 0).then(|| format!("*{}", pointer.name)))
    }
}
