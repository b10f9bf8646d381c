//! Coroutines of C++20 that are suspended.
//!
//! A coroutine has no stack: its frame is a block of memory that begins with the function which goes on and the one which
//! destroys it, and is reached by whoever is to resume it. Nothing lists them. `functions` knows the functions by their
//! symbols, `frame` finds the frames that have them in all memory, `layout` reads what debug information says of a
//! frame, `chain` finds who awaits whom, and `suspension` the line.
//!
//! Facts come from gcc 12.2 (`gcc/cp/coroutines.cc`) and clang 14 to 19 (`llvm/lib/Transforms/Coroutines`), and were held
//! against programs of both.

mod chain;
mod code;
mod dispatch;
mod flags;
mod frame;
mod functions;
mod layout;
mod probe;
mod running;
mod suspension;
#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use kcore_mem::{Addr, Budget};
use kcore_symbols::Type;
use kcore_unwind::Tid;
use rustc_hash::{FxHashMap, FxHashSet};

pub use chain::AwaitedBy;
pub use functions::{Compiler, CoroutineFunction};
pub use probe::{NAME, PROBE};

use chain::Chains;
use frame::{CoroutineFrame, FrameWords};
use layout::{FrameLayout, IndexPlace};
use running::Running;
use suspension::{FIRST, Suspension};

use crate::{
    FrameKind, Host, Identity, LanguageFrame, Runtime, Task, TaskStart, Undecoded,
    reactor::Reactors,
};

/// Coroutines of one chain that are followed.
const MAX_CHAIN: usize = 1024;
const MAY_RUN: &str = "a thread runs this function; whether of this frame is not known";
const ON_STACK: &str =
    "it lies in the stack of a thread, and may be left of one that was destroyed";
/// What types of promises of Asio's coroutines have in their names.
const OF_ASIO: &str = "asio::detail::awaitable_frame";
const BEHIND: &str = "the line may be that of the next statement";

/// The coroutines of a process.
pub struct Coroutines {
    identity: Identity,
    functions: Arc<Vec<CoroutineFunction>>,
    words: Arc<FrameWords>,
    /// In the order of the functions.
    layouts: Arc<OnceLock<Vec<FrameLayout>>>,
    known: OnceLock<Vec<Coroutine>>,
    leaves: OnceLock<Vec<usize>>,
    /// What reactors have for coroutines, by the promises of those that go on then.
    reactor_waits: OnceLock<FxHashMap<Addr, Arc<str>>>,
}

/// What a coroutine is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoroutineState {
    /// It was made and did not begin.
    Created,
    /// It waits.
    Suspended,
    /// It was made, and no thread runs it. Whether it began is not known.
    NotRunning,
    /// A thread runs it.
    Running,
    /// It has nothing left to do, and was not destroyed.
    Done,
}

impl CoroutineState {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Created, Self::Suspended, Self::NotRunning, Self::Running, Self::Done];

    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Suspended => "suspended",
            Self::NotRunning => "not_running",
            Self::Running => "running",
            Self::Done => "done",
        }
    }
}

/// A coroutine that was not destroyed.
#[derive(Clone, Debug)]
pub struct Coroutine {
    /// Where its frame lies.
    pub at: Addr,
    /// Its function.
    pub function: Arc<str>,
    /// What it is doing.
    pub state: CoroutineState,
    /// The compiler's number of the point at which it is suspended.
    pub index: Option<u64>,
    /// Where its promise lies.
    pub promise: Addr,
    /// The type of that.
    pub promise_type: Option<Arc<str>>,
    /// The type of its frame, as debug information has it.
    pub frame_type: Option<Arc<str>>,
    /// Bytes of its frame.
    pub size: Option<u64>,
    /// The type of what it awaits.
    pub awaits: Option<Arc<str>>,
    /// The coroutine that goes on when it is done.
    pub awaited_by: Option<AwaitedBy>,
    /// Whether it awaits none of the others.
    pub is_leaf: bool,
    /// The thread that runs it.
    pub thread: Option<Tid>,
    /// The file of the line at which it is suspended.
    pub file: Option<Arc<str>>,
    /// That line.
    pub line: Option<u32>,
    /// Why something of it is not known.
    pub doubt: Option<&'static str>,
    function_index: usize,
}

impl Coroutine {
    /// Why it may not be there, or not do what its state says: a doubt of more than its line.
    pub fn doubt_of_state(&self) -> Option<&'static str> {
        self.doubt.filter(|doubt| *doubt != BEHIND)
    }
}

/// Where the code of gcc that begins at `resume` goes on with a frame, whose two bytes at `offset` are the number of the
/// point of suspension; `None` if that does not follow from the number, or the machine is not x86-64.
pub fn landing_of_gcc(host: &dyn Host, resume: Addr, frame: Addr, offset: u64) -> Option<Addr> {
    dispatch::landing(host.space(), resume, frame, IndexPlace { offset, size: 2, bits: 16 })
}

/// What a function and a point of suspension have in common of all their frames.
type SuspensionCache = FxHashMap<(usize, Option<u64>), Option<Suspension>>;

impl Coroutines {
    fn new(host: &dyn Host, modules: Vec<(Arc<str>, Vec<CoroutineFunction>)>) -> Self {
        let names: Vec<Arc<str>> = modules.iter().map(|(name, _)| name.clone()).collect();
        let functions: Vec<_> = modules.into_iter().flat_map(|(_, all)| all).collect();
        let identity = identity(host, &names, functions.len());
        Self { identity, ..Self::of_functions(functions) }
    }

    /// Those of functions that are known otherwise than by symbols.
    pub fn of_functions(mut functions: Vec<CoroutineFunction>) -> Self {
        functions.sort_by_key(|function| function.resume.start);
        let words = Arc::new(FrameWords::new(&functions));
        Self {
            identity: Identity::new(NAME, ""),
            functions: Arc::new(functions),
            words,
            layouts: Arc::default(),
            known: OnceLock::new(),
            leaves: OnceLock::new(),
            reactor_waits: OnceLock::new(),
        }
    }

    /// The functions that are coroutines, by address.
    pub fn functions(&self) -> &[CoroutineFunction] {
        &self.functions
    }

    /// All coroutines that were not destroyed, lowest address first. They are looked for once.
    pub fn known(&self, host: &dyn Host) -> &[Coroutine] {
        self.known.get_or_init(|| self.list(host))
    }

    /// The coroutine whose frame begins at a place.
    pub fn at(&self, host: &dyn Host, at: Addr) -> Option<&Coroutine> {
        let all = self.known(host);
        let found = all.binary_search_by_key(&at, |coroutine| coroutine.at);
        all.get(found.ok()?)
    }

    /// Those that await no other, and are not done: each is the end of a chain.
    pub fn leaves(&self, host: &dyn Host) -> impl Iterator<Item = &Coroutine> {
        let all = self.known(host);
        let is_end = |one: &Coroutine| one.is_leaf && one.state != CoroutineState::Done;
        let find = || (0..all.len()).filter(|at| all.get(*at).is_some_and(is_end)).collect();
        self.leaves.get_or_init(find).iter().filter_map(|index| all.get(*index))
    }

    /// A coroutine and those that wait for it, innermost first. One that would come again ends it.
    pub fn chain<'c>(&'c self, host: &dyn Host, leaf: &'c Coroutine) -> Vec<&'c Coroutine> {
        let mut chain = vec![leaf];
        let mut met = FxHashSet::from_iter([leaf.at]);
        let mut next = leaf.awaited_by;
        while let Some(one) = next.and_then(|by| self.at(host, by.at)) {
            if chain.len() >= MAX_CHAIN || !met.insert(one.at) {
                break;
            }
            chain.push(one);
            next = one.awaited_by;
        }
        chain
    }

    /// The chain that begins with the coroutine whose frame lies at a place, as a task. One that another coroutine is awaited
    /// by, or that is done, is none of [`Runtime::tasks`].
    pub fn task_at(&self, host: &dyn Host, at: Addr) -> Option<Task> {
        self.at(host, at).map(|one| self.task_of(host, one))
    }

    /// Whether a place has the two words with which a frame begins: a look that takes no search.
    pub fn is_frame(&self, host: &dyn Host, at: Addr) -> bool {
        self.words.load(host.space(), &self.functions, at).is_some()
    }

    /// The type of the frame at a place, where debug information tells: clang calls those of all functions the same.
    pub fn type_at(&self, host: &dyn Host, at: Addr) -> Option<Type> {
        let frame = self.words.load(host.space(), &self.functions, at)?;
        self.layouts(host).get(frame.function)?.ty.clone()
    }

    fn task_of(&self, host: &dyn Host, one: &Coroutine) -> Task {
        Task {
            runtime: NAME,
            id: one.at.get(),
            name: Some(self.root(host, one).function.clone()),
            state: Cow::Borrowed(one.state.as_str()),
            waits_on: self.in_reactor(host, one).or_else(|| one.awaits.clone()),
            until: None,
            entry: None,
            thread: one.thread,
            stack: None,
            start: if one.thread.is_some() { TaskStart::Running } else { TaskStart::Kept },
        }
    }

    /// What a chain waits for in a reactor, by the outermost coroutine, which an operation of the reactor has.
    fn in_reactor(&self, host: &dyn Host, leaf: &Coroutine) -> Option<Arc<str>> {
        if leaf.state != CoroutineState::Suspended {
            return None;
        }
        let waits = self.reactor_waits.get_or_init(|| self.all_in_reactors(host));
        let waiting = || self.chain(host, leaf).into_iter();
        (!waits.is_empty()).then(|| waiting().find_map(|one| waits.get(&one.promise).cloned()))?
    }

    /// Reactors are looked for where a coroutine is of a library that has one.
    fn all_in_reactors(&self, host: &dyn Host) -> FxHashMap<Addr, Arc<str>> {
        let is_of_asio = |one: &Coroutine| {
            one.promise_type.as_deref().is_some_and(|name| name.contains(OF_ASIO))
        };
        if !self.known(host).iter().any(is_of_asio) {
            return FxHashMap::default();
        }
        let waits = Reactors::find(host).waits.into_iter();
        waits.filter_map(|wait| Some((wait.promise?, wait.to_string().into()))).collect()
    }

    /// The outermost coroutine of a chain that is known to be of it: a guess gives it no name.
    fn root<'c>(&'c self, host: &dyn Host, leaf: &'c Coroutine) -> &'c Coroutine {
        let chain = self.chain(host, leaf);
        let is_last = |one: &&&Coroutine| one.awaited_by.is_none_or(|by| by.is_guess);
        let last = chain.iter().find(is_last).or(chain.last());
        last.copied().unwrap_or(leaf)
    }

    fn layouts(&self, host: &dyn Host) -> &[FrameLayout] {
        let unlimited = Budget::default();
        let load = |function: &CoroutineFunction| {
            let module = host.module_at(function.resume.start);
            let budget = host.budget().unwrap_or(&unlimited);
            let layout = module.and_then(|module| {
                Some(FrameLayout::load(module, module.svma(function.resume.start)?, budget))
            });
            layout.unwrap_or_default()
        };
        self.layouts.get_or_init(|| self.functions.iter().map(load).collect())
    }

    fn list(&self, host: &dyn Host) -> Vec<Coroutine> {
        let frames = frame::frames(host, &self.words, &self.functions);
        if frames.is_empty() {
            return Vec::new();
        }
        let running = Running::of(host, &self.functions, &frames);
        let layouts = self.layouts(host);
        let mut places = SuspensionCache::default();
        let one = |frame: &CoroutineFrame| {
            let layout = layouts.get(frame.function)?;
            self.coroutine(host, frame, layout, &running, &mut places)
        };
        let mut all: Vec<Coroutine> = frames.iter().filter_map(one).collect();
        join(host, &mut all, layouts);
        all
    }

    fn coroutine(
        &self,
        host: &dyn Host,
        frame: &CoroutineFrame,
        layout: &FrameLayout,
        running: &Running,
        places: &mut SuspensionCache,
    ) -> Option<Coroutine> {
        let function = self.functions.get(frame.function)?;
        let index = layout.index.and_then(|place| index(host, frame.at, place));
        let thread = running.threads.get(&frame.at).copied();
        // Where an exception leaves one, gcc has said that nothing is left to do, and yet a thread is in it.
        let is_done = frame.is_done && thread.is_none();
        let is_suspended = !frame.is_done && thread.is_none();
        let mut of_place = || {
            let key = (frame.function, index);
            let known = places.entry(key).or_insert_with(|| {
                suspension::suspension(host, function, frame.at, layout.index?, index?)
            });
            known.clone()
        };
        let place = is_suspended.then(&mut of_place).flatten();
        let begun = begun(function.compiler, index, layout.waits_first, place.as_ref());
        let state = match thread {
            Some(_) => CoroutineState::Running,
            None if is_done => CoroutineState::Done,
            None => state_of(begun),
        };
        let is_behind = place.as_ref().is_some_and(|place| place.is_behind);
        let may_run = thread.is_none() && running.unknown.contains(&frame.function);
        let doubts = [(may_run, MAY_RUN), (frame.is_on_stack, ON_STACK), (is_behind, BEHIND)];
        let doubt = doubts.into_iter().find(|(is_so, _)| *is_so).map(|(_, why)| why);
        let awaiter = layout.awaiter(index).filter(|_| state == CoroutineState::Suspended);
        let awaits = awaiter.and_then(|awaiter| awaiter.name.clone());
        let by_code = || place.as_ref().and_then(|place| place.awaits.clone());
        let awaits = awaits.or_else(|| by_code().filter(|_| state == CoroutineState::Suspended));
        let (file, line) = place.map_or((None, None), |place| (place.file, place.line));
        Some(Coroutine {
            at: frame.at,
            function: function.name.clone(),
            state,
            index,
            promise: frame.at.checked_add(layout.promise)?,
            promise_type: layout.promise_name.clone(),
            frame_type: layout.name.clone(),
            size: layout.size,
            awaits,
            awaited_by: None,
            is_leaf: true,
            thread,
            file,
            line,
            doubt,
            function_index: frame.function,
        })
    }

    fn frame_of(&self, coroutine: &Coroutine, is_guess: bool) -> LanguageFrame {
        let doubt = match (is_guess, coroutine.doubt) {
            (true, _) => Some("guess: a word leads from the frame inside to this one"),
            (false, doubt) => doubt,
        };
        LanguageFrame {
            kind: FrameKind::Async,
            function: Some(coroutine.function.clone()),
            file: coroutine.file.clone(),
            line: coroutine.line,
            language: Some("c++"),
            object: Some(coroutine.at),
            doubt: doubt.map(Arc::from),
            ..LanguageFrame::default()
        }
    }
}

fn identity(host: &dyn Host, modules: &[Arc<str>], functions: usize) -> Identity {
    let without = modules.iter().filter(|name| {
        let mut all = host.modules().into_iter();
        let module = all.find(|module| module.name() == &***name);
        module.is_some_and(|module| module.symbols().debug_info().is_none())
    });
    let undecoded = without.map(|name| {
        let why = format!("lines and types of coroutines: {name} has no debug information");
        Undecoded { why: why.into(), nearest: None }
    });
    Identity {
        name: NAME,
        version: None,
        instance: modules.join(", ").into(),
        metadata: format!("symbols of {functions} coroutines").into(),
        undecoded: undecoded.collect(),
    }
}

/// Whether one that no thread runs began, as far as is known. clang's number 0 is that of the point before the body, or of
/// the first `co_await` where there is no such point: what the promise returns there tells, else the line.
fn begun(
    compiler: Compiler,
    index: Option<u64>,
    waits_first: Option<bool>,
    place: Option<&Suspension>,
) -> Option<bool> {
    match (compiler, index?) {
        (Compiler::Gcc, index) => Some(index != FIRST),
        (Compiler::Clang, 0) => waits_first.map(|waits| !waits).or_else(|| place?.begun),
        (Compiler::Clang, _) => Some(true),
    }
}

const fn state_of(begun: Option<bool>) -> CoroutineState {
    match begun {
        Some(true) => CoroutineState::Suspended,
        Some(false) => CoroutineState::Created,
        None => CoroutineState::NotRunning,
    }
}

/// The number of the point at which a frame is suspended.
fn index(host: &dyn Host, at: Addr, place: IndexPlace) -> Option<u64> {
    let value = host.space().read_uint(at.checked_add(place.offset)?, place.size).ok()?;
    let unused = u64::BITS.saturating_sub(place.bits);
    value.checked_shl(unused)?.checked_shr(unused)
}

/// Says of all who awaits them, and which await none.
fn join(host: &dyn Host, all: &mut [Coroutine], layouts: &[FrameLayout]) {
    let awaited_by = Chains { space: host.space(), all, layouts }.awaited_by();
    for (one, by) in all.iter_mut().zip(&awaited_by) {
        one.awaited_by = by.filter(|_| one.state != CoroutineState::Done);
    }
    let awaiting: FxHashSet<Addr> =
        all.iter().filter_map(|one| one.awaited_by.map(|by| by.at)).collect();
    for one in all {
        one.is_leaf = !awaiting.contains(&one.at);
    }
}

impl Runtime for Coroutines {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn task_frames(&self, host: &dyn Host, task: &Task) -> Vec<LanguageFrame> {
        let Some(leaf) = self.at(host, Addr::new(task.id)) else { return Vec::new() };
        let mut is_guess = false;
        let mut frames = Vec::new();
        for one in self.chain(host, leaf) {
            frames.push(self.frame_of(one, is_guess));
            is_guess = one.awaited_by.is_some_and(|by| by.is_guess);
        }
        frames
    }

    /// Coroutines begin, go on and end.
    fn later(&self) -> Option<Arc<dyn Runtime>> {
        Some(Arc::new(Self {
            identity: self.identity.clone(),
            functions: self.functions.clone(),
            words: self.words.clone(),
            layouts: self.layouts.clone(),
            known: OnceLock::new(),
            leaves: OnceLock::new(),
            reactor_waits: OnceLock::new(),
        }))
    }

    fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        self.leaves(host).map(|leaf| self.task_of(host, leaf)).collect()
    }

    fn identify(&self, host: &dyn Host, at: Addr) -> Option<String> {
        let known = self.known.get()?;
        let below = known.partition_point(|one| one.at <= at).checked_sub(1)?;
        let one = known.get(below)?;
        let within = at.offset_from(one.at)?;
        let _ = host;
        (within < one.size?).then(|| format!("frame of coroutine {}", one.function))
    }
}
