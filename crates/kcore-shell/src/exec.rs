//! Runs one statement: sets dot, runs its pipeline, ends its output; and says what a failure means.

use kcore::{Fault, MAX_FRAMES, MissingDebug};
use kcore_dcmd::{DcmdError, Dot, Result, Shell, Sink};

use crate::eval;
use crate::invoke::{Feed, Start};
use crate::limits;
use crate::parse::{Stage, Statement};
use crate::session::{Session, Source};
use crate::status::{Status, Stop};

impl Session {
    /// Runs `statement`, and ends its output.
    pub(crate) fn run(
        &mut self,
        statement: &Statement,
        source: Source<'_>,
        sink: &mut dyn Sink,
    ) -> Status {
        if let Some(status) = self.run_unknown(statement, source, sink) {
            return status;
        }
        self.statement(sink, |session, sink| match session.start(statement) {
            Ok(start) => {
                let noted = session.note_other_name(statement, sink);
                let noted = noted.then(session.note_variable(statement, sink));
                let status = noted.then(session.act(statement, start, source, sink));
                if source == Source::Terminal {
                    session.hint_at_foreign(statement, sink);
                }
                status
            }
            Err(error) => {
                let error = session.with_variable(statement, error);
                session.fail(&statement.text, &error, sink)
            }
        })
    }

    /// Says that `name::dcmd` has another meaning as well. What it means here is MDB's.
    fn note_other_name(&self, statement: &Statement, sink: &mut dyn Sink) -> Status {
        let Some(other) = statement.other.as_deref().filter(|name| self.is_program_symbol(name))
        else {
            return Status::DONE;
        };
        let dcmd = other.rfind("::").and_then(|at| other.get(at..)).unwrap_or_default();
        let note = format!("{dcmd} means the dcmd: \"{other}\" in quotes is also a symbol");
        match sink.note(&note) {
            Ok(()) => Status::DONE,
            Err(error) => self.fail("", &error, sink),
        }
    }

    /// Says that a name which stands alone, and set dot, is one of a variable of the frame as well.
    fn note_variable(&self, statement: &Statement, sink: &mut dyn Sink) -> Status {
        let Some(name) = self.variable_alone(statement) else { return Status::DONE };
        let note =
            format!("{name} is also a variable of the current frame: ::print {name} shows it");
        match sink.note(&note) {
            Ok(()) => Status::DONE,
            Err(error) => self.fail("", &error, sink),
        }
    }

    /// The error, with what shows the variable of the frame whose name stands alone.
    fn with_variable(&self, statement: &Statement, error: DcmdError) -> DcmdError {
        match self.variable_alone(statement) {
            Some(name) => DcmdError::failed(format!("{error} (::print {name} shows the variable)")),
            None => error,
        }
    }

    /// The name that is all of a statement, if the current frame has a variable of it.
    fn variable_alone<'s>(&self, statement: &'s Statement) -> Option<&'s str> {
        let is_bare = statement.pipeline.is_empty() && statement.count.is_none();
        let name = statement.text.trim();
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        (is_bare && is_name && self.frame_has(name)).then_some(name)
    }

    /// Whether the current frame has a variable of a name.
    fn frame_has(&self, name: &str) -> bool {
        let Some(tid) = self.thread else { return false };
        let end = self.frame.saturating_add(1);
        let stack = self.core.stacks().of_thread(tid, end.saturating_add(1).min(MAX_FRAMES));
        let known = self.core.stacks().known_frames(&stack, end);
        let here = self.core.stacks().named_frames(&stack).filter(|it| it.physical == self.frame);
        let mut frames = here.filter(|it| !it.is_tail_call());
        frames.any(|frame| known.variable(&frame, name).is_some())
    }

    /// What a statement begins and ends with: what is bound in it is bound in it alone.
    pub(crate) fn statement(
        &mut self,
        sink: &mut dyn Sink,
        run: impl FnOnce(&mut Self, &mut dyn Sink) -> Status,
    ) -> Status {
        if self.depth == 0 {
            self.core.budget().begin();
        }
        let outer = self.bindings.clone();
        let status = run(self, sink).out_of_pipeline();
        self.bindings = outer;
        let status = self.finish(status, sink);
        // Of text within text the user sees the whole, and so has seen enough of the whole.
        if self.depth == 0 { status.after_enough() } else { status }
    }

    /// Evaluates address and count, and sets dot.
    fn start(&mut self, statement: &Statement) -> Result<Start> {
        let address = statement.address.as_ref().map(|expr| eval::evaluate(expr, self));
        let address = address.transpose()?;
        // A count may refer to the dot that the address sets.
        let before = self.dot;
        self.dot = address.map_or(before, Dot::Number);
        let count = statement.count.as_ref().map(|expr| eval::evaluate(expr, self)).transpose();
        if count.is_err() {
            self.dot = before;
        }
        Ok(Start { has_addr: address.is_some(), count: count? })
    }

    fn act(
        &mut self,
        statement: &Statement,
        start: Start,
        source: Source<'_>,
        sink: &mut dyn Sink,
    ) -> Status {
        let pipeline = &statement.pipeline;
        if pipeline.is_empty() {
            return self.bare(start, source, sink);
        }
        // A shell command alone is nothing that another dot could change.
        if source.repeats() && matches!(pipeline.first(), Some(Stage::Command(_))) {
            self.previous = Some(pipeline.clone());
        }
        self.pipeline(pipeline, Feed::Start(start), sink)
    }

    /// A bare expression or count: dot is set, and the last pipeline runs again there.
    fn bare(&mut self, start: Start, source: Source<'_>, sink: &mut dyn Sink) -> Status {
        if !start.has_addr {
            self.advance();
        }
        match self.previous.clone() {
            Some(previous) if source.repeats() => {
                self.pipeline(&previous, Feed::Start(start), sink)
            }
            _ => Status::DONE,
        }
    }

    /// An empty line of a user: where the settings say so, the last pipeline goes on.
    pub(crate) fn repeat_last(&mut self, sink: &mut dyn Sink) -> Status {
        let Some(previous) = self.previous.clone().filter(|_| self.settings.repeat_last) else {
            return Status::DONE;
        };
        self.advance();
        self.statement(sink, |session, sink| {
            session.pipeline(&previous, Feed::Start(Start::default()), sink)
        })
    }

    /// Moves dot by the increment.
    pub(crate) fn advance(&mut self) {
        if self.increment != 0 {
            self.dot = Dot::Number(self.dot.number().wrapping_add(self.increment));
        }
    }

    /// Shows what is buffered; ctrl-C may have come, and files may have gone, when nobody looked.
    fn finish(&mut self, status: Status, sink: &mut dyn Sink) -> Status {
        let status = if !status.stops() && self.interrupted() {
            status.then(self.fail("", &DcmdError::Interrupted, sink))
        } else {
            status
        };
        let status = self.report_lost_files(sink).then(status);
        self.note_missing_debug(status.failed(), sink);
        self.report_cuts(sink);
        match sink.finish() {
            Ok(()) => status,
            Err(error) => status.then(self.fail("", &error, sink)),
        }
    }

    /// Notes what was left out because the budget of the command was exhausted.
    fn report_cuts(&self, sink: &mut dyn Sink) {
        for cut in self.core.budget().take_cuts() {
            // A closed output is noticed when the command's output ends.
            let _ = sink.note(&cut.to_string());
        }
    }

    /// Says which files were lost since it was last asked: what they told may be wrong.
    fn report_lost_files(&mut self, sink: &mut dyn Sink) -> Status {
        let mut new = self.core.files().lost();
        new.retain(|path| !self.lost.contains(path));
        let mut status = Status::DONE;
        for path in &new {
            let path = path.display();
            let error = DcmdError::failed(format!(
                "{path} shrank or could not be read while it was open: what was shown may be wrong"
            ));
            status = status.then(self.fail("", &error, sink));
        }
        self.lost.extend(new);
        status
    }

    /// Names files with debug information that were needed and not found: each once, and again when something failed
    /// that needed one.
    fn note_missing_debug(&mut self, failed: bool, sink: &mut dyn Sink) {
        let times = self.core.files().times_debug_missed();
        if std::mem::replace(&mut self.debug_missed.0, times) == times {
            return;
        }
        let known = &mut self.debug_missed.1;
        let mut missing = self.core.files().missing_debug();
        missing.retain(|it| failed || !known.contains(it));
        let more = missing.len().saturating_sub(limits::MISSING_FILES);
        for it in missing.iter().take(limits::MISSING_FILES) {
            let (MissingDebug { module, file, .. }, why) =
                (it, self.core.files().why_debug_is_missing(it));
            // A note that nobody reads is not an error.
            let _ = sink.note(&format!("debug information of {module} is in {file}: {why}"));
        }
        if more > 0 {
            let _ = sink.note(&format!("{more} more files with debug information are missing"));
        }
        known.extend(missing);
    }

    /// Reports why `command` ended, and says what that means for what follows.
    pub(crate) fn fail(&self, command: &str, error: &DcmdError, sink: &mut dyn Sink) -> Status {
        let status = match error {
            DcmdError::Closed => return Status::stopped(Stop::Closed),
            DcmdError::Enough => return Status::stopped(Stop::Enough),
            DcmdError::Abandoned => return Status::stopped(Stop::Abandoned),
            DcmdError::Quit => return Status::stopped(Stop::Quit),
            DcmdError::EndOfMacro => return Status::stopped(Stop::EndOfMacro),
            DcmdError::Aborted if self.interrupted() => {
                return Status::stopped(Stop::Interrupted);
            }
            // The text around it shares the time, so it ends too.
            DcmdError::Aborted if self.core.budget().is_late() => {
                return Status::stopped(Stop::OutOfTime).or_failed(true);
            }
            DcmdError::Aborted => return Status::ABORTED,
            DcmdError::Interrupted => Status::stopped(Stop::Interrupted),
            DcmdError::OutOfTime(_) => Status::stopped(Stop::OutOfTime).or_failed(true),
            DcmdError::Usage(_) => Status::ABORTED,
            _ => Status::FAILED,
        };
        match sink.error(command, error) {
            Err(DcmdError::Closed) => status.then(Status::stopped(Stop::Closed)),
            _ => {
                self.advise(error, sink);
                status
            }
        }
    }

    /// Says what helps where memory was not copied.
    fn advise(&self, error: &DcmdError, sink: &mut dyn Sink) {
        let DcmdError::Failed { address: Some(at), .. } = *error else { return };
        let is_not_copied = || matches!(self.core.space().origin(at), Err(Fault::NotCopied(_)));
        if let Some(advice) = self.uncopied.filter(|_| is_not_copied()) {
            // A hint that nobody reads is not an error.
            let _ = sink.hint(advice);
        }
    }
}
