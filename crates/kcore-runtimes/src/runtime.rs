//! The duties of a runtime that was found.

use std::{any::Any, sync::Arc};

use kcore_mem::{Addr, CodeAddr};
use kcore_unwind::{End, Frame, Phase, Regs, RuleFrame, RuleStep, Tid};

use crate::{
    Dialect, DyingStack, Ending, FrameOfLanguage, Host, LanguageFrame, LanguageLock, ScriptNode,
    ScriptVariables, Sleeper, Span, Task, Undecoded, VariableLimits, objects::Objects,
};

/// What a runtime is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its name: `v8`.
    pub name: &'static str,
    /// Its version, as it says itself.
    pub version: Option<Arc<str>>,
    /// Which one it is, where a process may hold several: the module, the isolate.
    pub instance: Arc<str>,
    /// Where its layouts were had from: `v8dbg_ symbols of node`.
    pub metadata: Arc<str>,
    /// What cannot be decoded of it, and why.
    pub undecoded: Vec<Undecoded>,
}

impl Identity {
    /// A runtime of which nothing is known but its name, and which one it is.
    pub fn new(name: &'static str, instance: &str) -> Self {
        let (instance, metadata) = (instance.into(), "".into());
        Self { name, version: None, instance, metadata, undecoded: Vec::new() }
    }
}

/// The native frames of one stack.
#[derive(Clone, Copy, Debug)]
pub struct NativeStack<'a> {
    /// The thread; `None` on a stack that no thread runs on.
    pub thread: Option<Tid>,
    /// The task that it belongs to, if it is not a thread's own.
    pub task: Option<&'a Task>,
    /// Its frames, innermost first. They may begin above the innermost frame of the thread: the trust
    /// of a frame says whether it is the one that the thread was stopped in.
    pub frames: &'a [Frame],
    /// Why there are no more.
    pub end: End,
}

/// What a runtime knows of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadFacts {
    /// Its name.
    pub name: Option<Arc<str>>,
    /// Its state, in the runtime's word.
    pub state: Option<Arc<str>>,
}

/// One instance of a runtime in a process. What it is asked about may be damaged anywhere: whatever it
/// cannot tell it leaves out, and it never costs the native stack.
pub trait Runtime: Any + Send + Sync {
    /// What it is.
    fn identity(&self) -> &Identity;

    /// *step* and *stop*: the way out of a frame of its code; `None` when the frame is not of its code.
    /// Asked for every frame, twice: a quick look at the pc comes first. `caller` becomes the registers of
    /// the caller, as far as they are known.
    fn step(
        &self,
        host: &dyn Host,
        phase: Phase,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        let _ = (host, phase, frame, caller);
        None
    }

    /// *decode*: the language frames among the frames of a stack.
    fn decode(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Vec<Span> {
        let _ = (host, stack);
        Vec::new()
    }

    /// *locate*: of machine code that a compiler of its language made, where the function begins that holds `at`, and
    /// what runs there: inlined calls, innermost first, and that function. `None` when it is not of its code.
    fn locate(&self, host: &dyn Host, at: CodeAddr) -> Option<(Addr, Vec<LanguageFrame>)> {
        let _ = (host, at);
        None
    }

    /// The same one without what it learnt of the process that may have changed when that has run on; `None` where it
    /// keeps nothing of the kind.
    fn later(&self) -> Option<Arc<dyn Runtime>> {
        None
    }

    /// Whether *decode* follows what changes with every call and lies elsewhere than on the stack of C: that must be of the
    /// same instant as the stack, and cannot be read while the thread runs on.
    fn needs_its_instant(&self) -> bool {
        false
    }

    /// Whether it keeps stacks in memory that are no thread's, which whoever copies a process has to copy with it.
    fn keeps_stacks(&self) -> bool {
        false
    }

    /// Reads what lists of the runtime's own have beside its tasks. Whoever takes a snapshot of a process asks for that
    /// beforehand, and copies the memory that was read with it.
    fn survey(&self, host: &dyn Host) {
        let _ = host;
    }

    /// *enumerate* and *seed*: the stacks that it keeps beside those of threads.
    fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        let _ = host;
        Vec::new()
    }

    /// *tasks*: the frames of one whose start is [`crate::TaskStart::Kept`], innermost first.
    fn task_frames(&self, host: &dyn Host, task: &Task) -> Vec<LanguageFrame> {
        let _ = (host, task);
        Vec::new()
    }

    /// *values*: what the object is that holds `at`, in one line.
    fn identify(&self, host: &dyn Host, at: Addr) -> Option<String> {
        let _ = (host, at);
        None
    }

    /// *values*: the object of its heap that begins at `at`, with its parts; `None` where none does.
    fn value(
        &self,
        host: &dyn Host,
        at: Addr,
        limits: VariableLimits,
    ) -> Option<(Dialect, ScriptNode)> {
        let _ = (host, at, limits);
        None
    }

    /// Whether an address lies in memory of its heap that no thread runs on: in an object, or in a stack that is not
    /// running. A mapping may hold such memory beside the stack of a thread.
    fn is_off_threads(&self, host: &dyn Host, at: Addr) -> bool {
        let _ = (host, at);
        false
    }

    /// *variables*: those of a frame that *decode* told of; `None` where the frame is not its own, or cannot be read.
    fn variables(
        &self,
        host: &dyn Host,
        frame: &FrameOfLanguage<'_>,
        limits: VariableLimits,
    ) -> Option<ScriptVariables> {
        let _ = (host, frame, limits);
        None
    }

    /// *variables*: the arguments of a function of its language, in machine code that runs at `pc` in a frame that ends at
    /// `cfa`, as words, the way its own traces print them; `None` where nothing but debug information tells them.
    fn argument_words(&self, host: &dyn Host, pc: CodeAddr, cfa: Addr) -> Option<String> {
        let _ = (host, pc, cfa);
        None
    }

    /// *locks*: the lock of its language that a sleeping thread waits for; `None` of a thread that it does not run, and of
    /// what is no lock of its own.
    fn lock(&self, host: &dyn Host, sleeper: Sleeper) -> Option<LanguageLock> {
        let _ = (host, sleeper);
        None
    }

    /// *objects*: those of its heap; `None` where it has none, or they cannot be decoded.
    fn objects(&self, host: &dyn Host) -> Option<&dyn Objects> {
        let _ = host;
        None
    }

    /// *threads*: what it knows of a thread.
    fn thread(&self, host: &dyn Host, thread: Tid) -> Option<ThreadFacts> {
        let _ = (host, thread);
        None
    }

    /// *end*: what ended the process, given the stack of the thread that died.
    fn end(&self, host: &dyn Host, dying: &DyingStack<'_>) -> Vec<Ending> {
        let _ = (host, dying);
        Vec::new()
    }

    /// *follow*: reads what the stacks of threads that run need at this moment, beside the stacks themselves. Whoever
    /// takes a snapshot of a process asks that some times beforehand, and copies the memory that was read with it.
    /// `false` where there is nothing of the kind, and no use in asking again.
    fn follow_running(&self, host: &dyn Host) -> bool {
        let _ = host;
        false
    }
}
