//! A session: everything that a user can change while a core stays as it is.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use kcore::{Core, DeclaredPrinters, MissingDebug, SessionTypes, Tid};
use kcore_dcmd::{
    Bindings, Dcmd, DcmdError, Dot, Foreign, PrivateSymbols, Settings, Sink, TypedExpressions,
    Walker,
};
use kcore_render::Format;

use crate::dcmd_table::DcmdTable;
use crate::error::SyntaxError;
use crate::limits;
use crate::log::Log;
use crate::macros::Macros;
use crate::parse::{Parser, Stage};
use crate::reading::Reading;
use crate::status::Status;
use crate::vars::Variables;

/// What a session is made of besides its core.
#[derive(Clone)]
pub struct SessionOptions {
    /// Every dcmd.
    pub dcmds: &'static [&'static dyn Dcmd],
    /// Every walker.
    pub walkers: &'static [&'static dyn Walker],
    /// What runs the dcmds that files declare; without it there are none.
    pub declared: Option<&'static dyn Dcmd>,
    /// What knows the lines of other debuggers; without it they are errors.
    pub foreign: Option<&'static dyn Foreign>,
    /// What knows expressions of C and C++; without it those in braces are errors.
    pub typed: Option<&'static dyn TypedExpressions>,
    /// What `dcmd ! command` feeds to the shell command.
    pub format: Format,
    /// Columns of the terminal as they are now; `None` where results go elsewhere.
    pub terminal_width: fn() -> Option<usize>,
}

/// Where text of the language comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source<'a> {
    /// A user at a terminal.
    Terminal,
    /// A text without lines to name: `-c`.
    Text,
    /// A script, whose syntax errors name their line.
    File {
        /// Its name.
        name: &'a str,
        /// The number of the text's first line.
        line: usize,
    },
}

impl Source<'_> {
    /// Whether an expression alone runs the last pipeline again: it only sets dot where the text is an
    /// argument, of `-c` or `::eval`.
    pub(crate) const fn repeats(self) -> bool {
        !matches!(self, Self::Text)
    }
}

/// Dot, variables, radix, current thread and frame, and what runs text on them.
pub struct Session {
    pub(crate) core: Arc<Core>,
    pub(crate) options: SessionOptions,
    pub(crate) table: DcmdTable,
    pub(crate) variables: Variables,
    pub(crate) dot: Dot,
    pub(crate) increment: u64,
    /// Dot as the last dcmd had it.
    pub(crate) last_dot: Dot,
    /// The last pipeline that a user typed.
    pub(crate) previous: Option<Vec<Stage>>,
    /// What was bound on the way to the value of a pipe that is handled.
    pub(crate) bindings: Bindings,
    /// Whether what a whole pipeline finds feeds another one around it.
    pub(crate) pipe_out: bool,
    /// Texts that run within each other.
    pub(crate) depth: usize,
    /// Whether the dcmd that runs reported a failure and went on.
    pub(crate) part_failed: bool,
    /// What was told that need not be told twice.
    pub(crate) noted: HashSet<String>,
    pub(crate) macros: Macros,
    pub(crate) log: Log,
    pub(crate) settings: Settings,
    pub(crate) private_symbols: Arc<PrivateSymbols>,
    pub(crate) types: SessionTypes,
    /// Those of the user's folders are read when they are asked for first.
    pub(crate) printers: OnceCell<Arc<DeclaredPrinters>>,
    pub(crate) radix: u32,
    pub(crate) thread: Option<Tid>,
    pub(crate) frame: usize,
    pub(crate) named_frame: Option<usize>,
    /// Files of the core that were lost while it was open, as far as that was reported.
    pub(crate) lost: Vec<PathBuf>,
    /// How often files with debug information were missed, and those that were named.
    pub(crate) debug_missed: (u64, HashSet<MissingDebug>),
    /// Lines of other debuggers that the user was told of.
    pub(crate) told: HashSet<&'static str>,
    /// Lines that the user typed, now and before.
    pub(crate) typed: Vec<String>,
    /// What helps where memory of a live process was not copied.
    pub(crate) uncopied: Option<&'static str>,
}

impl Session {
    /// A session on `core`, whose current thread is the one that crashed.
    pub fn new(core: Arc<Core>, options: SessionOptions) -> Self {
        let thread = core.tids().first().copied();
        Self {
            core,
            table: DcmdTable::new(options.dcmds),
            options,
            variables: Variables::default(),
            dot: Dot::default(),
            increment: 0,
            last_dot: Dot::default(),
            previous: None,
            bindings: Bindings::default(),
            pipe_out: false,
            depth: 0,
            part_failed: false,
            noted: HashSet::new(),
            macros: Macros::default(),
            log: Log::default(),
            settings: Settings::default(),
            private_symbols: Arc::default(),
            types: SessionTypes::default(),
            printers: OnceCell::new(),
            radix: 16,
            thread,
            frame: 0,
            named_frame: None,
            lost: Vec::new(),
            debug_missed: (0, HashSet::new()),
            told: HashSet::new(),
            typed: Vec::new(),
            uncopied: None,
        }
    }

    /// What a user is told when memory of a live process is asked for that was not copied.
    pub const fn advise_where_not_copied(&mut self, advice: &'static str) {
        self.uncopied = Some(advice);
    }

    /// The core.
    pub const fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// What text is read with.
    pub(crate) const fn reading(&self) -> Reading<'_> {
        Reading::new(self.radix, self)
    }

    /// Runs text, whose results and failures go to `sink`.
    pub fn eval(&mut self, text: &str, sink: &mut dyn Sink) -> Status {
        self.eval_from(Source::Text, text, sink)
    }

    /// Runs text that comes from `source`. A failed statement does not stop those after it; a
    /// syntax error drops the rest of its line; ctrl-C, a closed output and `::quit` drop all.
    pub fn eval_from(&mut self, source: Source<'_>, text: &str, sink: &mut dyn Sink) -> Status {
        self.core.budget().interrupt().store(false, Ordering::SeqCst);
        if source == Source::Terminal && text.trim().is_empty() {
            return self.logged(sink, Self::repeat_last);
        }
        self.log_input(text);
        self.run_text(source, text, sink)
    }

    /// The same for text that runs within other text.
    pub(crate) fn run_text(
        &mut self,
        source: Source<'_>,
        text: &str,
        sink: &mut dyn Sink,
    ) -> Status {
        let mut parser = Parser::new(text);
        let mut status = Status::DONE;
        while let Some(next) =
            self.logged(sink, |session, sink| session.next_statement(&mut parser, source, sink))
        {
            status = status.then(next);
            if status.stops() {
                break;
            }
        }
        status
    }

    /// Reads and runs one statement; `None` at the end of the text.
    fn next_statement(
        &mut self,
        parser: &mut Parser<'_>,
        source: Source<'_>,
        sink: &mut dyn Sink,
    ) -> Option<Status> {
        match parser.statement(self.reading()) {
            Ok(statement) => statement.map(|statement| {
                let status = self.run(&statement, source, sink);
                self.note_later(sink);
                self.note_troubles(sink);
                status
            }),
            Err(error) => {
                if let Some(status) = self.run_foreign(parser.failed_text(), source, sink) {
                    parser.skip_failed();
                    return Some(status);
                }
                let status = self.fail_syntax(parser, &error, source, sink);
                match source {
                    Source::File { .. } => parser.skip_statement(),
                    Source::Terminal | Source::Text => parser.skip_line(),
                }
                Some(status)
            }
        }
    }

    /// Says when something was read of the live process behind a snapshot, and not of the snapshot.
    fn note_later(&self, sink: &mut dyn Sink) {
        if self.core.snapshot().has_read_later() {
            let _ = sink.note(
                "some of this was read from the live process just now, after the stacks were copied",
            );
        }
    }

    /// Says why printers that the user declared could not show what they are for.
    fn note_troubles(&self, sink: &mut dyn Sink) {
        let troubles = self.printers.get().map(|printers| printers.take_troubles());
        for trouble in troubles.into_iter().flatten() {
            let _ = sink.note(&trouble);
        }
    }

    /// Reports what cannot be read, and shows the place to whoever reads it.
    fn fail_syntax(
        &self,
        parser: &Parser<'_>,
        error: &SyntaxError,
        source: Source<'_>,
        sink: &mut dyn Sink,
    ) -> Status {
        let message = match source {
            Source::File { name, line } => {
                error.in_file(name, line.saturating_add(parser.lines_before(error)))
            }
            Source::Terminal | Source::Text => error.to_string(),
        };
        let status = self.fail("", &DcmdError::failed(message), sink);
        let (line, columns) = parser.place_of(error);
        // A place that nobody reads is not an error.
        if line.chars().count() <= limits::SHOWN_LINE {
            // A tab is as wide as the terminal likes.
            let line = line.replace('\t', " ");
            let _ = sink.hint(&format!("  {line}\n  {:columns$}^", ""));
        }
        status
    }
}
