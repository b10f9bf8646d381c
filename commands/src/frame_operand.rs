//! The frame that a dcmd is about: what the address before it means.

use kcore::{Core, MAX_FRAMES, NamedFrame, Stack, TaskId, Tid};
use kcore_dcmd::{Cx, DcmdError, Dot, NameScope, Result};

use crate::stack_start::StackStart;

/// A physical frame of a thread's or a task's stack.
#[derive(Clone, Debug)]
pub struct FrameOperand {
    /// The stack.
    start: StackStart,
    /// The frame, innermost 0.
    pub index: usize,
    /// The number that `::frame` chose it by, of all that `::stack` shows.
    chosen: Option<usize>,
}

impl FrameOperand {
    /// The frame from a pipe, or the one whose frame pointer was typed; the innermost one of a thread or task;
    /// without an address the current one.
    ///
    /// # Errors
    /// When there is none.
    pub fn of(cx: &Cx<'_>) -> Result<Self> {
        Self::within(cx.names())
    }

    /// The same for names in a scope.
    pub fn within(scope: NameScope<'_>) -> Result<Self> {
        let at_top = |start| Ok(Self { start, index: 0, chosen: None });
        match StackStart::within(scope)? {
            StackStart::Thread(tid) if scope.owner.is_none() => {
                let (index, chosen) =
                    (scope.shell.current_frame(), scope.shell.current_named_frame());
                Ok(Self { start: StackStart::Thread(tid), index, chosen })
            }
            StackStart::Above { tid, index } => {
                Ok(Self { start: StackStart::Thread(tid), index, chosen: None })
            }
            StackStart::AboveInTask { task, index } => {
                Ok(Self { start: StackStart::Task(task), index, chosen: None })
            }
            StackStart::FramePointer { at, .. } | StackStart::Context { at, .. } => {
                Err(DcmdError::at(at, format!("no frame has the frame pointer {at:x}")))
            }
            start @ (StackStart::Thread(_) | StackStart::Task(_)) => at_top(start),
        }
    }

    /// The same for a value of a pipe; `None` if it is not a thread, task or frame.
    ///
    /// # Errors
    /// When there is no such thread or task.
    pub fn of_piped(cx: &Cx<'_>, dot: Dot) -> Result<Option<Self>> {
        match dot {
            Dot::Thread(_) | Dot::Task(_) | Dot::Frame { .. } | Dot::TaskFrame { .. } => {
                Self::of(cx).map(Some)
            }
            Dot::Number(_) | Dot::Addr(_) => Ok(None),
        }
    }

    /// The thread that runs it; `None` for a suspended task.
    pub fn tid(&self) -> Option<Tid> {
        self.start.tid()
    }

    /// The task, if no thread runs it.
    pub fn suspended(&self) -> Option<TaskId> {
        self.start.suspended()
    }

    /// Its stack up to this frame, with the caller, which tells where it ends, or up to frame `last`.
    pub fn stack(&self, core: &Core, last: Option<usize>) -> Stack {
        let last = last.unwrap_or(self.index.saturating_add(1));
        // Frames of a language are placed among all native ones: of a part they would be others.
        let limit = match core.runtimes().is_empty() {
            true => last.saturating_add(1).min(MAX_FRAMES),
            false => MAX_FRAMES,
        };
        self.start.stack(core, limit)
    }

    /// The named frames that the operand stands for, innermost first: a function and the calls inlined into it. If
    /// `::frame` chose a function that ended by a tail call, these are that function's.
    pub fn named(&self, core: &Core, stack: &Stack) -> Vec<NamedFrame> {
        let here = core.stacks().named_frames(stack).filter(|frame| frame.physical == self.index);
        let mut here: Vec<NamedFrame> = here.collect();
        let chosen = here.iter().find(|frame| Some(frame.index) == self.chosen);
        let meant = chosen.or(here.first()).cloned();
        here.retain(|frame| meant.as_ref().is_some_and(|meant| frame.is_of(meant)));
        here
    }

    /// The named frame that the operand means: the one that `::frame` chose, or else the innermost function of the frame.
    pub fn chosen_of(&self, core: &Core, stack: &Stack) -> Option<NamedFrame> {
        let mut here =
            core.stacks().named_frames(stack).filter(|frame| frame.physical == self.index);
        match self.chosen {
            Some(chosen) => here.find(|frame| frame.index == chosen),
            None => here.next(),
        }
    }

    /// All named frames of the physical frame, innermost first: of a language's, all calls that it runs.
    pub fn all_of(&self, core: &Core, stack: &Stack) -> Vec<NamedFrame> {
        let named = core.stacks().named_frames(stack);
        named.filter(|frame| frame.physical == self.index).collect()
    }

    /// A description: its number, its function, and its thread or task.
    pub fn in_words(&self, core: &Core) -> String {
        let stack = self.stack(core, None);
        let frame = self.named(core, &stack).into_iter().next();
        let function = frame.as_ref().and_then(|frame| frame.location.function.as_deref());
        let function = function.map(|name| format!(" ({name})")).unwrap_or_default();
        let index = frame.as_ref().map_or(self.index, |frame| frame.index);
        format!("frame {index}{function} of {}", self.whose())
    }

    /// The thread or task in words.
    pub fn whose(&self) -> String {
        match (&self.start, self.start.tid()) {
            (StackStart::Task(task), None) => format!("{} {}", task.runtime, task.shown_id()),
            (_, Some(tid)) => format!("thread {tid}"),
            (_, None) => "the stack".to_owned(),
        }
    }
}
