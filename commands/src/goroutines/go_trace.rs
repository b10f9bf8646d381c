//! The stack of a goroutine as Go's own traces print it.

use std::sync::Arc;

use kcore::{
    Core, MAX_FRAMES, NamedFrame,
    go::{Go, Goroutine, State},
};
use kcore_dcmd::{Cell, Cx, Fields, Record, Result, View};

use super::subject::{self, id};

/// Emits a goroutine, its frames, innermost first, and what made it.
pub fn emit(cx: &mut Cx<'_>, goroutine: &Arc<Goroutine>) -> Result<()> {
    let core = cx.core();
    let Some(go) = subject::owner(core, goroutine) else { return Ok(()) };
    let Some(task) = core.tasks().by_id(id(goroutine)) else { return Ok(()) };
    let minutes = subject::waits_for(core, goroutine).map(|seconds| seconds / 60);
    cx.emit(&Head {
        goroutine: goroutine.clone(),
        status: status(go, goroutine),
        minutes: minutes.filter(|it| *it > 0),
        bubble: go.bubble_id(core.as_ref(), goroutine),
    })?;
    let stack = core.stacks().of_task(task, MAX_FRAMES);
    for frame in core.stacks().named_frames(&stack) {
        cx.emit(&TraceLine::of(core, go, goroutine, &frame))?;
    }
    if !stack.is_complete() {
        cx.note(&format!("goroutine {}: {}", goroutine.id, stack.end))?;
    }
    match TraceLine::of_creator(core, goroutine) {
        Some(line) => cx.emit(&line),
        None => Ok(()),
    }
}

/// What a goroutine does or waits for, as Go prints it.
fn status(go: &Go, goroutine: &Goroutine) -> String {
    let status = goroutine.reason.unwrap_or(goroutine.state.as_str());
    let leaked = if goroutine.state == State::Leaked { " (leaked)" } else { "" };
    let durable = if go.is_durable(goroutine) { " (durable)" } else { "" };
    format!("{status}{leaked}{durable}")
}

struct Head {
    goroutine: Arc<Goroutine>,
    status: String,
    /// How long it has waited at least.
    minutes: Option<u64>,
    /// The number of its bubble of `testing/synctest`.
    bubble: Option<u64>,
}

impl Record for Head {
    fn kind(&self) -> &'static str {
        "goroutine_trace"
    }

    fn view(&self) -> View {
        View::Line(
            "goroutine {id} [{status}{minutes?, {minutes} minutes}{shown_locked?, {shown_locked}}{bubble?, synctest bubble {bubble}}]:",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let goroutine = &self.goroutine;
        let locked = goroutine.locked.then_some("locked to thread");
        out.num("id", goroutine.id)
            .text("status", &*self.status)
            .num("minutes", self.minutes)
            .flag("locked", goroutine.locked)
            .num("bubble", self.bubble)
            .display("shown_locked", Cell::or_null(locked, Cell::text));
    }
}

/// A line of a trace, and the one below it with the place.
struct TraceLine {
    goroutine: u64,
    function: Option<Arc<str>>,
    /// Words, as Go has them; dots where the call is inlined.
    arguments: Option<String>,
    file: Option<Arc<str>>,
    line: Option<u32>,
    /// Bytes from where the function begins.
    offset: Option<u64>,
    /// The goroutine that made this one, of the last line.
    creator: bool,
    parent: Option<u64>,
}

impl TraceLine {
    fn of(core: &Core, go: &Go, goroutine: &Goroutine, frame: &NamedFrame) -> Self {
        let location = &frame.location;
        // Frames of another language that stand there have no arguments of Go's.
        let is_own = location.kind.is_machine_code() && !location.inline;
        let physical = frame.frame.filter(|_| is_own);
        let words = || {
            let frame = physical?;
            go.arguments(core, frame.pc, frame.cfa?)
        };
        let arguments = if location.inline { Some("...".to_owned()) } else { words() };
        Self {
            goroutine: goroutine.id,
            function: location.function.clone(),
            arguments,
            file: location.file.clone(),
            line: location.line,
            offset: location.offset.filter(|_| !location.inline),
            creator: false,
            parent: None,
        }
    }

    fn of_creator(core: &Core, goroutine: &Goroutine) -> Option<Self> {
        let all = core.symbols().locations(goroutine.creator?);
        let location = all.last()?;
        Some(Self {
            goroutine: goroutine.id,
            function: location.function.clone(),
            arguments: None,
            file: location.file.clone(),
            line: location.line,
            offset: location.offset,
            creator: true,
            parent: goroutine.parent,
        })
    }

    fn place(&self) -> Option<String> {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        let offset = self.offset.filter(|offset| *offset > 0);
        let offset = offset.map(|offset| format!(" +{offset:#x}")).unwrap_or_default();
        Some(format!("{}{line}{offset}", self.file.as_deref()?))
    }
}

impl Record for TraceLine {
    fn kind(&self) -> &'static str {
        "goroutine_trace_frame"
    }

    fn view(&self) -> View {
        View::Line(match self.creator {
            true => {
                "created by {function}{function^?}{parent? in goroutine {parent}}{place?\n\t{place}}\n"
            }
            false => "{function}{function^?}({arguments}{arguments^}){place?\n\t{place}}",
        })
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("goroutine", self.goroutine)
            .opt_text("function", self.function.as_deref())
            .opt_text("arguments", self.arguments.as_deref())
            .opt_text("file", self.file.as_deref())
            .num("line", self.line.map(u64::from))
            .num("offset", self.offset)
            .flag("creator", self.creator)
            .num("parent", self.parent)
            .display("place", Cell::or_null(self.place(), Cell::text));
    }
}
