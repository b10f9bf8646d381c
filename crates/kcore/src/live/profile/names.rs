//! The frames of a stack as a profile has them.

use std::sync::Arc;

use kcore_profile::{Profile, ProfileFrame, StackId, ThreadId};
use kcore_runtimes::FrameKind;
use kcore_unwind::Walker;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{CodeAddr, Core, Location, NamedFrame, Stack, Tid};

/// Frames of one stack, at most: one that calls itself without end says nothing more than its
/// innermost ones.
const MAX_FRAMES: usize = 2048;
/// Stacks that are remembered by their addresses, at most.
const MAX_KNOWN: usize = 1 << 18;

/// What marks a function of a language of which something is not certain.
const DOUBTFUL: &str = " (?)";

/// Stacks of native code by the addresses of their frames, and why there are no more: such a stack is
/// named once.
pub struct Names {
    /// Whether frames of runtimes are not decoded.
    is_native: bool,
    /// Stacks with functions of languages of which something is not certain.
    doubtful: FxHashSet<StackId>,
    known: FxHashMap<(Vec<CodeAddr>, &'static str), StackId>,
}

impl Names {
    /// None is known yet.
    pub fn new(is_native: bool) -> Self {
        Self { is_native, doubtful: FxHashSet::default(), known: FxHashMap::default() }
    }

    /// Whether a stack has functions of languages of which something is not certain: they are marked.
    pub fn is_doubtful(&self, stack: StackId) -> bool {
        self.doubtful.contains(&stack)
    }

    /// A thread, and its stack; `None` when not even its innermost frame is known.
    pub fn of_thread(
        &mut self,
        core: &Core,
        tid: Tid,
        profile: &mut Profile,
    ) -> Option<(ThreadId, StackId)> {
        let mut walker = core.stacks().walker()?;
        let stack = self.stack_of(core, &mut walker, tid, profile)?;
        let name = core.thread_facts(tid).name.unwrap_or_default();
        Some((profile.thread(tid.get(), &name), stack))
    }

    fn stack_of(
        &mut self,
        core: &Core,
        walker: &mut Walker<'_>,
        tid: Tid,
        profile: &mut Profile,
    ) -> Option<StackId> {
        let stack = core.stacks().of_thread_with(walker, tid, MAX_FRAMES);
        let spans = if self.is_native { Arc::default() } else { core.decoded(&stack).clone() };
        let is_native = spans.is_empty();
        let pcs: Vec<CodeAddr> = stack.frames.iter().map(|frame| frame.pc).collect();
        let key = (pcs, stack.end.as_str());
        if is_native && let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let named: Vec<NamedFrame> = core.named(&stack, spans).collect();
        let is_doubtful = named.iter().any(|frame| is_doubtful(&frame.location));
        let frames = named.iter().map(|frame| frame_of(&frame.location));
        let id = profile.stack(frames.chain(rest_of(&stack)).collect())?;
        if is_doubtful {
            self.doubtful.insert(id);
        }
        // Code that a runtime made may be other code later.
        let is_lasting = is_native && key.0.iter().all(|pc| core.modules().at(pc.addr()).is_some());
        if is_lasting && self.known.len() < MAX_KNOWN {
            self.known.insert(key, id);
        }
        Some(id)
    }
}

/// Whether something is not certain of a function of a language.
fn is_doubtful(location: &Location) -> bool {
    location.doubt.is_some() && location.kind != FrameKind::Native
}

/// A named frame as a profile has it.
pub fn frame_of(location: &Location) -> ProfileFrame {
    let function = location.function.clone().unwrap_or_else(|| nameless(location));
    let is_doubtful = is_doubtful(location);
    ProfileFrame {
        function: if is_doubtful { format!("{function}{DOUBTFUL}").into() } else { function },
        module: location.module.clone(),
        file: location.file.clone(),
        line: location.line,
        column: location.column,
        inline: location.inline,
        script: (location.kind != FrameKind::Native).then(|| location.kind.as_str()),
    }
}

/// What stands for the frames that could not be found, if there are any.
fn rest_of(stack: &Stack) -> Option<ProfileFrame> {
    let function = || format!("[incomplete: {}]", stack.end.as_str()).into();
    let rest = || ProfileFrame { function: function(), ..ProfileFrame::default() };
    (!stack.is_complete() && !stack.frames.is_empty()).then(rest)
}

/// What stands for a function without a name: its module.
fn nameless(location: &Location) -> Arc<str> {
    match &location.module {
        Some(module) => format!("[{module}]").into(),
        None => "[unknown]".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kcore_mem::Addr;
    use kcore_unwind::{End, Frame, Trust};

    #[test]
    fn what_could_not_be_found_stands_in_a_frame_of_its_own() {
        let frame = Frame {
            pc: CodeAddr::Pc(Addr::new(0x1000)),
            sp: None,
            cfa: None,
            frame_pointer: None,
            trust: Trust::Context,
            guess: false,
            signal_trampoline: false,
            on_other_stack: false,
            calls_elsewhere: false,
        };
        let rest = |frames: Vec<Frame>, end: End| {
            rest_of(&Stack::of_frames(Tid::new(1), frames, end)).map(|rest| rest.function)
        };
        let zeros = rest(vec![frame], End::Zeros(Addr::new(0x7000)));
        assert_eq!(zeros.as_deref(), Some("[incomplete: zeros]"));
        assert_eq!(rest(vec![frame], End::Outermost), None);
        assert_eq!(rest(Vec::new(), End::NoRegisters), None, "such a stack is no sample");
    }
}
