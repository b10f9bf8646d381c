//! The records of a stack: its beginning and its end.

use std::sync::Arc;

use kcore::{Addr, Core, End, MissingDebug, Stack, Task, TaskStart, ThreadFacts, Tid};

use super::Layout;
use crate::{Cell, Fields, Record, Settings, View};

/// Frames of one stack whose missing files are looked for, and files that its notes name, at most.
const MAX_LOOKED_AT: usize = 1 << 10;
const MAX_MISSING: usize = 4;

/// What a stack begins with.
pub struct StackBegin {
    /// The thread; `None` on the stack of a task that no thread runs.
    pub tid: Option<Tid>,
    /// Whether it is the session's current one.
    pub current: bool,
    /// What runtimes know of it.
    pub facts: ThreadFacts,
    /// The system call that it waits in.
    pub waits_in: Option<String>,
    /// Its stack pointer.
    pub sp: Option<Addr>,
    /// Whether people need to be told which thread this is: one of several.
    pub titled: bool,
    /// Whether they want to be told its state.
    pub show_state: bool,
    /// The task that runs on it.
    pub task: Option<Arc<Task>>,
    /// What instant it is of.
    pub instant: &'static str,
    /// What `::findstack` says of where it begins: its innermost frame pointer, if there is one.
    pub found_at: Option<Option<Addr>>,
}

impl StackBegin {
    /// The beginning of the stack of `tid`, which may be on that of a task.
    pub fn new(core: &Core, tid: Tid, current: bool, titled: bool) -> Self {
        Self {
            tid: Some(tid),
            current,
            facts: core.thread_facts(tid),
            waits_in: core.waits_in(tid),
            sp: core.registers().stack_pointer(tid),
            titled,
            show_state: false,
            task: None,
            instant: core.snapshot().instant(),
            found_at: None,
        }
    }

    /// The same with what the user wants to be told of every thread.
    pub const fn showing(mut self, settings: &Settings) -> Self {
        self.show_state = settings.show_state;
        self.titled |= settings.show_state || settings.show_stack_pointer;
        self
    }

    /// The beginning of the stack of a task that no thread runs.
    pub fn of_task(core: &Core, task: Option<Arc<Task>>, sp: Option<Addr>, titled: bool) -> Self {
        let name = task.as_ref().and_then(|task| task.name.clone());
        Self {
            tid: None,
            current: false,
            facts: ThreadFacts { name, state: None },
            waits_in: None,
            sp,
            titled,
            show_state: false,
            task,
            instant: core.snapshot().instant(),
            found_at: None,
        }
    }

    /// The same, of a thread that runs a task, if it does.
    pub fn running(mut self, task: Option<&Arc<Task>>) -> Self {
        self.task = task.cloned();
        self
    }

    /// The same, titled as `::findstack` does.
    pub const fn found_at(mut self, frame_pointer: Option<Addr>) -> Self {
        self.found_at = Some(frame_pointer);
        self
    }
}

impl StackBegin {
    /// The state, where it is wanted; `-` where nobody knows it, as of a core.
    fn shown_state(&self) -> Option<&str> {
        self.show_state.then(|| self.facts.state.as_deref().unwrap_or("-"))
    }

    /// The coroutine or green thread whose stack it is.
    fn task(&self) -> Cell<'_> {
        Cell::or_null(self.task.as_deref(), |task| {
            Cell::Object(vec![
                ("runtime", Cell::text(task.runtime)),
                ("id", Cell::Hex(task.id)),
                ("state", Cell::text(task.state.as_ref())),
                ("waits_on", Cell::or_null(task.waits_on.as_deref(), Cell::text)),
                ("entry", Cell::or_null(task.entry, Cell::Addr)),
            ])
        })
    }
}

impl Record for StackBegin {
    fn kind(&self) -> &'static str {
        "stack"
    }

    fn view(&self) -> View {
        if self.found_at.is_some() {
            View::Line("stack pointer for thread {tid}: {found_at:x}{found_at^unknown}")
        } else if self.tid.is_none() && self.titled {
            View::Line(
                "stack pointer for {runtime} {id}{name? ({name})}: {sp?{sp:x}}{sp^unknown}, {task_state}{waits? on {waits}}",
            )
        } else if self.task.is_some() && self.tid.is_some() {
            View::Line(
                "stack pointer for thread {tid}{name? ({name})}: {sp?{sp:x}}{sp^unknown}, {task_state} {runtime} {id}",
            )
        } else if self.titled {
            View::Line(
                "stack pointer for thread {tid}{name? ({name})}: {sp?{sp:x}}{sp^unknown}\
                 {waits_in?, in {waits_in}}{shown_state?, state {shown_state}}",
            )
        } else {
            View::Hidden
        }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let task = self.task.as_deref();
        out.put("tid", Cell::or_null(self.tid, |tid| Cell::Num(u64::from(tid.get()))))
            .opt_text("name", self.facts.name.as_deref())
            .flag("current", self.current)
            .opt_text("state", self.facts.state.as_deref())
            .opt_text("waits_in", self.waits_in.as_deref())
            .put("task", self.task())
            .addr("sp", self.sp)
            .text("instant", self.instant)
            .display("shown_state", Cell::or_null(self.shown_state(), Cell::text))
            .display("runtime", Cell::or_null(task, |task| Cell::text(task.runtime)))
            .display("id", Cell::or_null(task, |task| Cell::text(task.shown_id())))
            .display("task_state", Cell::or_null(task, |task| Cell::text(task.state.as_ref())))
            .display(
                "waits",
                Cell::or_null(task.and_then(|task| task.waits_on.as_deref()), Cell::text),
            )
            // Where no frame pointer is known, the stack pointer tells where the stack is.
            .display("found_at", Cell::or_null(self.found_at.flatten().or(self.sp), Cell::Addr));
    }
}

/// What a stack ends with.
pub struct StackEnd {
    /// Why there are no more frames.
    pub end: End,
    /// Why there is none, of a task that does not run.
    pub why: Option<Arc<str>>,
    /// Whether this frame, or one below it that led here, was found by a guess.
    pub guess: bool,
    /// What is doubtful about the frames that there are.
    pub notes: Vec<String>,
    /// How the frames were laid out.
    pub layout: Layout,
}

impl StackEnd {
    /// The end of `stack`.
    pub fn new(core: &Core, stack: &Stack, layout: Layout) -> Self {
        let guess = stack.frames.last().is_some_and(|frame| frame.guess);
        Self { end: stack.end, why: why_nothing(stack), guess, notes: notes(core, stack), layout }
    }

    /// The same of a stack of which only the first `limit` frames were shown.
    #[must_use]
    pub fn cut(mut self, limit: usize) -> Self {
        if !matches!(self.end, End::Limit(_)) {
            self.notes.push(shown_alone(limit));
        }
        Self { end: End::Limit(limit), ..self }
    }

    /// Why there are no more frames, where that is not as it should be.
    fn text(&self) -> Option<String> {
        let why = || self.why.as_ref().map_or_else(|| self.end.to_string(), ToString::to_string);
        match (self.end, self.guess) {
            (End::Outermost, false) => None,
            (_, false) => Some(why()),
            (_, true) => Some(format!("{}, by a guess", why())),
        }
    }
}

impl Record for StackEnd {
    fn kind(&self) -> &'static str {
        "stack_end"
    }

    fn view(&self) -> View {
        match (self.end, self.layout) {
            (End::Outermost, Layout::Indented) if !self.guess => View::Line(""),
            (End::Outermost, _) if !self.guess => View::Hidden,
            (_, Layout::Indented) => View::Line("                 -- {why}\n"),
            (_, Layout::Plain) => View::Line("-- {why}"),
            _ => View::Line("                 -- {why}"),
        }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let end = vec![
            ("reason", Cell::text(self.end.as_str())),
            ("address", Cell::or_null(self.end.addr(), Cell::Addr)),
            ("text", Cell::or_null(self.text(), Cell::text)),
        ];
        let notes = self.notes.iter().map(|note| Cell::text(note.as_str()));
        out.put("end", Cell::Object(end))
            .put("notes", Cell::List(notes.collect()))
            .display("why", Cell::or_null(self.text(), Cell::text));
    }
}

/// Why a task has no stack.
fn why_nothing(stack: &Stack) -> Option<Arc<str>> {
    match &stack.task.as_ref()?.start {
        TaskStart::Unknown(why) => Some(why.clone()),
        _ => None,
    }
}

/// What is doubtful about the frames of a stack.
fn notes(core: &Core, stack: &Stack) -> Vec<String> {
    let guesses = stack.frames.iter().filter(|frame| frame.guess).count();
    let guessed = (guesses > 0).then(|| match guesses {
        1 => "the last frame is a guess".to_owned(),
        _ => format!("the last {guesses} frames are guesses or follow from one"),
    });
    let limit = match stack.end {
        End::Limit(limit) => Some(shown_alone(limit)),
        _ => None,
    };
    let unreadable = stack.frames.last().filter(|_| !stack.is_complete()).and_then(|frame| {
        let module = core.modules().at(frame.pc.lookup())?;
        (module.cfi().is_none() && !module.is_vdso())
            .then(|| format!("{} has no unwind information at hand", module.name()))
    });
    let known = [guessed, limit, unreadable].into_iter().flatten();
    let known = known.chain(missing_debug(core, stack));
    known.chain(core.stacks().doubts(stack).iter().map(ToString::to_string)).collect()
}

fn shown_alone(limit: usize) -> String {
    format!("only the first {limit} frames are shown")
}

/// The files that have the functions and variables of frames, and were not found.
fn missing_debug(core: &Core, stack: &Stack) -> Vec<String> {
    if core.files().times_debug_missed() == 0 {
        return Vec::new();
    }
    let mut missing: Vec<MissingDebug> = Vec::new();
    for frame in stack.frames.iter().take(MAX_LOOKED_AT) {
        let Some(it) = core.files().missing_debug_at(frame.pc.lookup()) else { continue };
        if !missing.contains(&it) && missing.len() < MAX_MISSING {
            missing.push(it);
        }
    }
    let told = missing.into_iter().map(|MissingDebug { module, file, .. }| {
        format!("debug information of {module} is in {file}, which was not found")
    });
    told.collect()
}
