//! All runtimes of one process.

use std::{any::Any, sync::Arc};

use kcore_mem::{Addr, CodeAddr};
use kcore_unwind::{Phase, Regs, RuleFrame, RuleStep, Tid};

use crate::{
    Damage, Dialect, DyingStack, Ending, Finding, FrameOfLanguage, Host, Identity, LanguageFrame,
    LanguageLock, NativeStack, Probe, Runtime, ScriptNode, ScriptVariables, Sleeper, Span, Task,
    ThreadFacts, VariableLimits, objects::Objects, span,
};

/// The runtimes that were found in a process, in the order of their probes.
#[derive(Default)]
pub struct Runtimes {
    found: Vec<Arc<dyn Runtime>>,
    damaged: Vec<Damage>,
}

impl Runtimes {
    /// Looks for all of them.
    pub fn find<'p>(probes: impl IntoIterator<Item = &'p Probe>, host: &dyn Host) -> Self {
        let mut runtimes = Self::default();
        for finding in probes.into_iter().flat_map(|probe| (probe.find)(host)) {
            match finding {
                Finding::Found(runtime) => runtimes.found.push(runtime.into()),
                Finding::Damaged(damage) => runtimes.damaged.push(damage),
            }
        }
        runtimes
    }

    /// The same ones a moment later: what they learnt of what changes while the process runs is forgotten.
    pub fn later(&self) -> Self {
        let later = |runtime: &Arc<dyn Runtime>| runtime.later().unwrap_or_else(|| runtime.clone());
        Self { found: self.found.iter().map(later).collect(), damaged: self.damaged.clone() }
    }

    /// Whether nothing was found that could be decoded.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// What was found.
    pub fn identities(&self) -> impl Iterator<Item = &Identity> {
        self.found.iter().map(|runtime| runtime.identity())
    }

    /// What was found and cannot be decoded at all.
    pub fn damaged(&self) -> &[Damage] {
        &self.damaged
    }

    /// The instances of one kind.
    pub fn of<R: Runtime>(&self) -> impl Iterator<Item = &R> {
        self.found.iter().filter_map(|runtime| {
            let runtime: &dyn Any = runtime.as_ref();
            runtime.downcast_ref()
        })
    }

    /// The step out of a frame, from the first whose code it is.
    pub fn step(
        &self,
        host: &dyn Host,
        phase: Phase,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        self.found.iter().find_map(|runtime| runtime.step(host, phase, frame, caller))
    }

    /// Whether none of them says anything of a stack.
    pub fn is_silent(&self) -> bool {
        self.found.is_empty() && self.damaged.iter().all(|damage| damage.stand_in.is_none())
    }

    /// What all of them say of a stack: spans in the order of its frames that do not lie over each
    /// other. Of what cannot be decoded native frames say what they stand for.
    pub fn decode(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Vec<Span> {
        let decoded = self.found.iter().flat_map(|runtime| runtime.decode(host, stack));
        let known =
            self.damaged.iter().filter_map(|damage| Some((damage, damage.stand_in.as_ref()?)));
        let stand_ins = known.flat_map(|(damage, it)| it.spans(host, stack, damage));
        span::in_order(decoded.chain(stand_ins).collect(), stack.frames.len())
    }

    /// What runs at an address of machine code, from the first whose code it is; see [`Runtime::locate`].
    pub fn locate(&self, host: &dyn Host, at: CodeAddr) -> Option<(Addr, Vec<LanguageFrame>)> {
        self.found.iter().find_map(|runtime| runtime.locate(host, at))
    }

    /// Whether one of them keeps stacks that are no thread's in memory.
    pub fn keep_stacks(&self) -> bool {
        self.found.iter().any(|runtime| runtime.keeps_stacks())
    }

    /// Those that cannot decode a stack whose thread has run on meanwhile.
    pub fn needing_their_instant(&self) -> impl Iterator<Item = &Identity> {
        let needing = self.found.iter().filter(|runtime| runtime.needs_its_instant());
        needing.map(|runtime| runtime.identity())
    }

    /// The stacks that belong to no thread, of all of them.
    pub fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        self.found.iter().flat_map(|runtime| runtime.tasks(host)).collect()
    }

    /// The frames of a task whose runtime keeps them, innermost first.
    pub fn task_frames(&self, host: &dyn Host, task: &Task) -> Vec<LanguageFrame> {
        let own = self.found.iter().filter(|runtime| runtime.identity().name == task.runtime);
        let mut frames = own.map(|runtime| runtime.task_frames(host, task));
        frames.find(|frames| !frames.is_empty()).unwrap_or_default()
    }

    /// The lock of a language that a sleeping thread waits for; see [`Runtime::lock`].
    pub fn lock(&self, host: &dyn Host, sleeper: Sleeper) -> Option<LanguageLock> {
        self.found.iter().find_map(|runtime| runtime.lock(host, sleeper))
    }

    /// The arguments of a frame of machine code as words, from the first that tells them; see
    /// [`Runtime::argument_words`].
    pub fn argument_words(&self, host: &dyn Host, pc: CodeAddr, cfa: Addr) -> Option<String> {
        self.found.iter().find_map(|runtime| runtime.argument_words(host, pc, cfa))
    }

    /// What the object is that holds `at`.
    pub fn identify(&self, host: &dyn Host, at: Addr) -> Option<String> {
        self.found.iter().find_map(|runtime| runtime.identify(host, at))
    }

    /// The object that begins at `at`, from the first in whose heap one does.
    pub fn value(
        &self,
        host: &dyn Host,
        at: Addr,
        limits: VariableLimits,
    ) -> Option<(Dialect, ScriptNode)> {
        self.found.iter().find_map(|runtime| runtime.value(host, at, limits))
    }

    /// Whether an address lies in memory of the heap of any of them that no thread runs on.
    pub fn is_off_threads(&self, host: &dyn Host, at: Addr) -> bool {
        self.found.iter().any(|runtime| runtime.is_off_threads(host, at))
    }

    /// Those whose objects can be decoded.
    pub fn with_objects<'r>(
        &'r self,
        host: &dyn Host,
    ) -> impl Iterator<Item = (&'r Identity, &'r dyn Objects)> {
        let with =
            |runtime: &'r Arc<dyn Runtime>| Some((runtime.identity(), runtime.objects(host)?));
        self.found.iter().filter_map(with)
    }

    /// The variables of a frame of a language, from the first whose frame it is.
    pub fn variables(
        &self,
        host: &dyn Host,
        frame: &FrameOfLanguage<'_>,
        limits: VariableLimits,
    ) -> Option<ScriptVariables> {
        self.found.iter().find_map(|runtime| runtime.variables(host, frame, limits))
    }

    /// What is known of a thread: each fact from the first that has it.
    pub fn thread(&self, host: &dyn Host, thread: Tid) -> ThreadFacts {
        let mut known = ThreadFacts::default();
        for facts in self.found.iter().filter_map(|runtime| runtime.thread(host, thread)) {
            known.name = known.name.or(facts.name);
            known.state = known.state.or(facts.state);
        }
        known
    }

    /// What ended the process, as all of them have it.
    pub fn end(&self, host: &dyn Host, dying: &DyingStack<'_>) -> Vec<Ending> {
        self.found.iter().flat_map(|runtime| runtime.end(host, dying)).collect()
    }

    /// Has all of them read what their lists have beside tasks.
    pub fn survey(&self, host: &dyn Host) {
        self.found.iter().for_each(|runtime| runtime.survey(host));
    }

    /// Has all of them read what the stacks of threads that run need at this moment; says whether there is one that
    /// does.
    pub fn follow_running(&self, host: &dyn Host) -> bool {
        self.found.iter().filter(|runtime| runtime.follow_running(host)).count() > 0
    }
}
