//! A session: everything that a user can change while a core stays as it is.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kcore::{Core, Tid};
use kcore_dcmd::{Dcmd, DcmdError, Dot, Result, Shell, Sink, Walker};
use kcore_render::Format;

use crate::dcmd_table::DcmdTable;
use crate::parse::{self, Command, Parser};
use crate::status::Status;
use crate::vars::Variables;
use crate::{eval, limits};

/// What a session is made of besides its core.
#[derive(Clone)]
pub struct SessionOptions {
    /// Every dcmd.
    pub dcmds: &'static [&'static dyn Dcmd],
    /// Every walker.
    pub walkers: &'static [&'static dyn Walker],
    /// What `dcmd ! command` feeds to the shell command.
    pub format: Format,
    /// Set from outside when the user presses ctrl-C.
    pub interrupt: Arc<AtomicBool>,
}

/// Where text of the language comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source<'a> {
    /// A user at a terminal: a bare expression repeats the last pipeline at the new dot.
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
    pub(crate) previous: Option<Vec<Command>>,
    pub(crate) radix: u32,
    pub(crate) thread: Option<Tid>,
    pub(crate) frame: usize,
    /// Files of the core that were lost while it was open, as far as that was reported.
    pub(crate) lost: Vec<PathBuf>,
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
            radix: 16,
            thread,
            frame: 0,
            lost: Vec::new(),
        }
    }

    /// The core.
    pub const fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// Runs text, whose results and failures go to `sink`.
    pub fn eval(&mut self, text: &str, sink: &mut dyn Sink) -> Status {
        self.eval_from(Source::Text, text, sink)
    }

    /// Runs text that comes from `source`. A failed statement does not stop those after it; a
    /// syntax error drops the rest of its line; ctrl-C, a closed output and `::quit` drop all.
    pub fn eval_from(&mut self, source: Source<'_>, text: &str, sink: &mut dyn Sink) -> Status {
        self.options.interrupt.store(false, Ordering::SeqCst);
        if let Some(line) = text.lines().find(|line| line.len() > limits::LINE) {
            let (is, most) = (line.len(), limits::LINE);
            let error = format!("line of {is} bytes: at most {most} are read");
            return self.fail("", &DcmdError::failed(error), sink);
        }
        let mut parser = Parser::new(text);
        let mut status = Status::DONE;
        while let Some(next) = self.next_statement(&mut parser, source, sink) {
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
        match parser.statement(self.radix) {
            Ok(statement) => statement.map(|statement| self.run(&statement, source, sink)),
            Err(error) => {
                let message = match source {
                    Source::File { name, line } => {
                        error.in_file(name, line.saturating_add(parser.lines_read()))
                    }
                    Source::Terminal | Source::Text => error.to_string(),
                };
                parser.skip_line();
                Some(self.fail("", &DcmdError::failed(message), sink))
            }
        }
    }
}

impl Shell for Session {
    fn current_thread(&self) -> Option<Tid> {
        self.thread
    }

    fn set_current_thread(&mut self, tid: Tid) {
        self.thread = Some(tid);
        self.frame = 0;
    }

    fn current_frame(&self) -> usize {
        self.frame
    }

    fn set_current_frame(&mut self, index: usize) {
        self.frame = index;
    }

    fn set_dot(&mut self, dot: Dot, increment: u64) {
        self.dot = dot;
        self.increment = increment;
    }

    fn evaluate(&self, expression: &str) -> Result<u64> {
        let expr = parse::expression(expression, self.radix)
            .map_err(|error| DcmdError::failed(error.to_string()))?;
        eval::evaluate(&expr, self)
    }

    fn radix(&self) -> u32 {
        self.radix
    }

    fn set_radix(&mut self, radix: u64) -> Result<()> {
        self.radix =
            u32::try_from(radix).ok().filter(|radix| (2..=16).contains(radix)).ok_or_else(
                || DcmdError::failed(format!("expected radix from 2 to 16, not {radix}")),
            )?;
        Ok(())
    }

    fn dcmds(&self) -> &[&'static dyn Dcmd] {
        self.options.dcmds
    }

    fn walkers(&self) -> &[&'static dyn Walker] {
        self.options.walkers
    }

    fn interrupted(&self) -> bool {
        self.options.interrupt.load(Ordering::SeqCst)
    }
}
