//! The variables of frames that runtimes told of.

use kcore_runtimes::{FrameKind, FrameOfLanguage, ScriptVariables, VariableLimits};
use kcore_unwind::Frame;

use super::known_frames::KnownFrames;
use crate::NamedFrame;

impl KnownFrames<'_> {
    /// The arguments of a frame of machine code as words, the way the traces of its runtime print them; `None` of a call
    /// that was inlined, and where no runtime tells them. No debug information is needed.
    pub fn argument_words(&self, frame: &NamedFrame) -> Option<String> {
        let location = &frame.location;
        (location.kind == FrameKind::Go && !location.inline).then_some(())?;
        let physical = frame.frame.as_ref()?;
        self.core.runtimes().argument_words(self.core, physical.pc, physical.cfa?)
    }

    /// The variables of a frame that a runtime told of; `None` of a native one, and where they cannot be read.
    pub fn script_variables(
        &self,
        frame: &NamedFrame,
        limits: VariableLimits,
    ) -> Option<ScriptVariables> {
        let location = &frame.location;
        (!location.kind.is_machine_code()).then_some(())?;
        // Of a task whose runtime keeps its frames elsewhere none of the frames here is it.
        let is_it = |own: &Frame| frame.frame.as_ref() == Some(own);
        let known = self.frames.get(frame.physical).filter(|known| is_it(&known.frame));
        let callee = frame.physical.checked_sub(1).and_then(|index| self.frames.get(index));
        let of_language = FrameOfLanguage {
            kind: location.kind,
            object: location.object,
            inline: location.inline,
            depth: location.depth(),
            native: frame.frame.as_ref(),
            callee: known.and(callee).map(|callee| &callee.frame),
            registers: known.map(|known| &known.regs),
        };
        self.core.runtimes().variables(self.core, &of_language, limits)
    }
}
