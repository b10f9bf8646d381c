//! What a dcmd runs in: the core, its input, its output, and the shell around it.

use std::path::Path;
use std::sync::Arc;

use kcore::{
    CodeScope, Core, DeclaredPrinters, PrinterExpression, PrinterFile, SessionTypes, Tid, Type,
};

use crate::{
    Dcmd, DcmdError, Dot, LogRequest, LogState, NameScope, Piped, PrivateSymbols, Record, Result,
    Settings, Sink, Walker,
};

/// How a dcmd was called.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The spelling by which it was called: `::stack`, `$C`.
    pub called_as: String,
    /// Dot.
    pub dot: Dot,
    /// Whether an address was written, or came from a pipe; dot is then that address.
    pub has_addr: bool,
    /// The count before the dcmd.
    pub count: Option<u64>,
    /// Whether it runs under a count or behind a pipe.
    pub looped: bool,
    /// Whether this is the first run of such a loop (true outside of one).
    pub first: bool,
    /// Whether its output goes into a pipe.
    pub pipe_out: bool,
    /// All elements of the pipe, for a dcmd that takes them at once.
    pub list: Option<Vec<Piped>>,
}

/// A variable, as `::vars` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value; `None` of a register that was not saved.
    pub value: Option<u64>,
    /// Whether `::typeset -t` marked it.
    pub tagged: bool,
    /// Whether the session keeps its value: that of others follows from the core.
    pub kept: bool,
}

/// How a macro file runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MacroCall {
    /// `$<`: what is left of the macro that calls it is dropped.
    Replace,
    /// `$<<`: the macro that calls it goes on behind it.
    Return,
}

/// What only a shell knows.
pub trait Shell {
    /// The thread that registers and stacks refer to; `None` without threads.
    fn current_thread(&self) -> Option<Tid>;

    /// Chooses the thread that registers and stacks refer to, and its innermost frame.
    fn set_current_thread(&mut self, tid: Tid);

    /// The frame of the current thread that `<register` refers to: an index among physical
    /// frames, innermost 0.
    fn current_frame(&self) -> usize;

    /// The frame of the current thread whose variables are meant, if one was chosen: an index among
    /// named frames, of which an inlined call has one of its own.
    fn current_named_frame(&self) -> Option<usize>;

    /// Chooses the frame that `<register` refers to, by its index among physical frames, and the one
    /// whose variables are meant, by its index among named ones.
    fn set_current_frame(&mut self, index: usize, named: usize);

    /// Sets dot, and the increment by which `+` and a repeat count move it.
    fn set_dot(&mut self, dot: Dot, increment: u64);

    /// Evaluates an expression of the language.
    ///
    /// # Errors
    /// A syntax error, an unknown symbol, or memory that cannot be read.
    fn evaluate(&self, expression: &str) -> Result<u64>;

    /// Runs text of the language with dot at `dot`. Results go to `sink`, as values if `pipe_out`;
    /// dot is then what the text left.
    ///
    /// # Errors
    /// [`DcmdError::Aborted`] after a failure, which was reported; or that it was stopped.
    fn eval(&mut self, text: &str, dot: Dot, pipe_out: bool, sink: &mut dyn Sink) -> Result<()>;

    /// Runs a macro file. Without a name the macro that runs ends, if `count` is not 0.
    ///
    /// # Errors
    /// As [`Shell::eval`], and when there is no such file.
    fn run_macro(
        &mut self,
        name: Option<&str>,
        call: MacroCall,
        count: Option<u64>,
        sink: &mut dyn Sink,
    ) -> Result<()>;

    /// The value of a variable or register.
    ///
    /// # Errors
    /// When there is none of that name, or it was not saved.
    fn variable(&self, name: &str) -> Result<u64>;

    /// Sets a variable, which may be new.
    ///
    /// # Errors
    /// A name that cannot be written, or that no variable can have.
    fn set_variable(&mut self, name: &str, value: u64) -> Result<()>;

    /// Makes a variable with value 0 if there is none of that name, and marks it if `tagged` says so.
    ///
    /// # Errors
    /// As [`Shell::set_variable`].
    fn typeset(&mut self, name: &str, tagged: Option<bool>) -> Result<()>;

    /// Removes a variable.
    ///
    /// # Errors
    /// When there is none of that name, or it cannot be removed.
    fn unset(&mut self, name: &str) -> Result<()>;

    /// Every variable and register of the current frame, by name.
    fn variables(&self) -> Vec<Variable>;

    /// What the user set.
    fn settings(&self) -> &Settings;

    /// What the user set, to change it.
    fn settings_mut(&mut self) -> &mut Settings;

    /// Names that the user gave to addresses.
    fn private_symbols(&self) -> &Arc<PrivateSymbols>;

    /// Names that the user gave to addresses, to change them.
    fn private_symbols_mut(&mut self) -> &mut PrivateSymbols;

    /// Types that the user declared.
    fn types(&self) -> &SessionTypes;

    /// Types that the user declared, to change them.
    fn types_mut(&mut self) -> &mut SessionTypes;

    /// The printers that the user declared.
    fn printers(&self) -> &Arc<DeclaredPrinters>;

    /// Loads a file of printers, in place of what was loaded of it before.
    ///
    /// # Errors
    /// When it cannot be read, or is no such file.
    fn load_printers(&mut self, path: &Path) -> Result<Arc<PrinterFile>>;

    /// Drops the printers of a file; false if none of this name is loaded.
    fn unload_printers(&mut self, name: &str) -> bool;

    /// Runs the pipeline of a dcmd of a file with dot at `dot`, and `arguments` for `$1` and so on. Results go to
    /// `sink` as those of [`Shell::eval`].
    ///
    /// # Errors
    /// As [`Shell::eval`], and when an argument would change what runs.
    fn run_declared(
        &mut self,
        pipeline: &PrinterExpression,
        arguments: &[String],
        dot: Dot,
        pipe_out: bool,
        sink: &mut dyn Sink,
    ) -> Result<()>;

    /// Lines that the user typed, the oldest first.
    fn typed_lines(&self) -> &[String];

    /// Starts, stops or shows the log.
    ///
    /// # Errors
    /// When that is not possible here, or the file cannot be written.
    fn log(&mut self, request: LogRequest<'_>) -> Result<LogState>;

    /// Columns of a line: the setting, else those of the terminal, else 80.
    fn page_width(&self) -> usize;

    /// The radix of numbers typed and printed, 2 to 16.
    fn radix(&self) -> u32;

    /// Sets the radix.
    ///
    /// # Errors
    /// When it is not between 2 and 16.
    fn set_radix(&mut self, radix: u64) -> Result<()>;

    /// Every dcmd.
    fn dcmds(&self) -> &[&'static dyn Dcmd];

    /// Every walker.
    fn walkers(&self) -> &[&'static dyn Walker];

    /// Whether the user pressed ctrl-C since the command began.
    fn interrupted(&self) -> bool;

    /// Remembers that a part of what the dcmd was asked failed, though it goes on.
    fn remember_failure(&mut self);

    /// Whether this is told for the first time in this session: what need not be said twice.
    fn is_news(&mut self, text: &str) -> bool;
}

/// What a dcmd runs in.
pub struct Cx<'a> {
    core: &'a Arc<Core>,
    input: &'a Input,
    shell: &'a mut dyn Shell,
    sink: &'a mut dyn Sink,
}

impl<'a> Cx<'a> {
    /// Puts a run together.
    pub fn new(
        core: &'a Arc<Core>,
        input: &'a Input,
        shell: &'a mut dyn Shell,
        sink: &'a mut dyn Sink,
    ) -> Self {
        Self { core, input, shell, sink }
    }

    /// The core.
    pub fn core(&self) -> &'a Arc<Core> {
        self.core
    }

    /// How the dcmd was called.
    pub fn input(&self) -> &'a Input {
        self.input
    }

    /// The address that was written or came from a pipe.
    pub fn addr(&self) -> Option<Dot> {
        self.input.has_addr.then_some(self.input.dot)
    }

    /// All values of the pipe, for a dcmd that works on them together.
    ///
    /// # Errors
    /// [`DcmdError::Usage`] where it does not stand behind a pipe.
    pub fn piped(&self) -> Result<&'a [Piped]> {
        let name = &self.input.called_as;
        let list = self.input.list.as_deref();
        list.ok_or_else(|| DcmdError::usage(format!("{name} stands behind a pipe only")))
    }

    /// Dot, written or not.
    pub fn dot(&self) -> Dot {
        self.input.dot
    }

    /// Whether people alone see what is emitted: what stands in no line need not be found out.
    pub fn is_for_people(&self) -> bool {
        self.sink.is_for_people()
    }

    /// What only the shell knows.
    pub fn shell(&self) -> &dyn Shell {
        self.shell
    }

    /// What only the shell knows, to change it.
    pub fn shell_mut(&mut self) -> &mut dyn Shell {
        self.shell
    }

    /// Where names are looked for.
    pub fn names(&self) -> NameScope<'_> {
        let Self { core, input, shell, .. } = self;
        NameScope { core, shell: &**shell, owner: self.addr(), dot: input.dot }
    }

    /// The type that `text` names: see [`NameScope::type_named`].
    ///
    /// # Errors
    /// When there is none.
    pub fn type_named(&self, text: &str) -> Result<Type> {
        self.names().type_named(text)
    }

    /// The code in which names are used: see [`NameScope::code`].
    pub fn code_scope(&self) -> Option<CodeScope> {
        self.names().code()
    }

    /// The current thread.
    ///
    /// # Errors
    /// When there is none: an executable without a core.
    pub fn current_thread(&self) -> Result<Tid> {
        self.names().current_thread()
    }

    /// Emits a record.
    ///
    /// # Errors
    /// When the reader has gone, the user pressed ctrl-C, or the time of the command is over.
    pub fn emit(&mut self, record: &dyn Record) -> Result<()> {
        self.check_interrupt()?;
        self.sink.put(record)
    }

    /// Begins a record whose list streams; see [`Sink::begin`].
    ///
    /// # Errors
    /// As [`Cx::emit`].
    pub fn begin(&mut self, record: &dyn Record, list: &'static str) -> Result<()> {
        self.check_interrupt()?;
        self.sink.begin(record, list)
    }

    /// Ends it.
    ///
    /// # Errors
    /// As [`Cx::emit`].
    pub fn end(&mut self, record: &dyn Record) -> Result<()> {
        self.sink.end(record)
    }

    /// Tells the user something that is no result.
    ///
    /// # Errors
    /// As [`Cx::emit`].
    pub fn note(&mut self, text: &str) -> Result<()> {
        self.sink.note(text)
    }

    /// Tells something once in a session.
    ///
    /// # Errors
    /// As [`Cx::emit`].
    pub fn note_once(&mut self, text: &str) -> Result<()> {
        if self.shell.is_news(text) { self.note(text) } else { Ok(()) }
    }

    /// Reports a failure and goes on; the command counts as failed.
    ///
    /// # Errors
    /// As [`Cx::emit`].
    pub fn report(&mut self, error: &DcmdError) -> Result<()> {
        self.shell.remember_failure();
        self.sink.error(&self.input.called_as, error)
    }

    /// Tells a person who waits how much of the command is done.
    pub fn progress(&mut self, done: u64, total: u64) {
        self.sink.progress(done, total);
    }

    /// Runs text of the language with dot at `dot`; what it finds is what this dcmd finds.
    ///
    /// # Errors
    /// As [`Shell::eval`].
    pub fn eval(&mut self, text: &str, dot: Dot) -> Result<()> {
        self.shell.eval(text, dot, self.input.pipe_out, self.sink)
    }

    /// Runs the pipeline of a dcmd of a file: see [`Shell::run_declared`].
    ///
    /// # Errors
    /// As [`Shell::run_declared`].
    pub fn run_declared(
        &mut self,
        pipeline: &PrinterExpression,
        arguments: &[String],
    ) -> Result<()> {
        let Input { dot, pipe_out, .. } = *self.input;
        self.shell.run_declared(pipeline, arguments, dot, pipe_out, self.sink)
    }

    /// Runs a macro file.
    ///
    /// # Errors
    /// As [`Shell::run_macro`].
    pub fn run_macro(&mut self, name: Option<&str>, call: MacroCall) -> Result<()> {
        self.shell.run_macro(name, call, self.input.count, self.sink)
    }

    /// For loops that emit seldom: stops them after ctrl-C, and when the time of the command is over.
    ///
    /// # Errors
    /// [`DcmdError::Interrupted`], [`DcmdError::OutOfTime`].
    pub fn check_interrupt(&self) -> Result<()> {
        self.core.budget().halt().map_or(Ok(()), |halt| Err(halt.into()))
    }
}
