//! Runs one statement: sets dot, then runs its pipeline, stage after stage.

use kcore_dcmd::{DcmdError, Dot, Result, Sink};
use kcore_render::PipeSink;

use crate::invoke::{Feed, Start};
use crate::parse::{Command, Statement, Verb};
use crate::session::{Session, Source};
use crate::status::{Status, Stop};
use crate::{eval, shell_command};

impl Session {
    /// Runs `statement`, and ends its output.
    pub(crate) fn run(
        &mut self,
        statement: &Statement,
        source: Source<'_>,
        sink: &mut dyn Sink,
    ) -> Status {
        let status = match self.start(statement) {
            Ok(start) => self.act(statement, start, source, sink),
            Err(error) => self.fail(&statement.text, &error, sink),
        };
        self.finish(status, sink).after_enough()
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
        if source == Source::Terminal && !pipeline.is_empty() {
            self.previous = Some(pipeline.clone());
        }
        match &statement.shell {
            Some(shell) if pipeline.is_empty() => self.shell_alone(shell, sink),
            Some(shell) => self.pipeline_into_shell(pipeline, start, shell, sink),
            None if pipeline.is_empty() => self.bare(start, source, sink),
            None => self.pipeline(pipeline, start, sink),
        }
    }

    /// A bare expression: dot is set; for a user the last pipeline runs again there.
    fn bare(&mut self, start: Start, source: Source<'_>, sink: &mut dyn Sink) -> Status {
        if !start.has_addr {
            self.advance();
        }
        match self.previous.clone() {
            Some(previous) if source == Source::Terminal => {
                self.pipeline(&previous, Start { has_addr: true, ..start }, sink)
            }
            _ => Status::DONE,
        }
    }

    /// Moves dot by the increment.
    pub(crate) fn advance(&mut self) {
        if self.increment != 0 {
            self.dot = Dot::Number(self.dot.number().wrapping_add(self.increment));
        }
    }

    /// Runs the stages one after the other, each to its end.
    pub(crate) fn pipeline(
        &mut self,
        stages: &[Command],
        start: Start,
        sink: &mut dyn Sink,
    ) -> Status {
        let Some((last, inner)) = stages.split_last() else { return Status::DONE };
        let mut feed = Feed::Start(start);
        let mut status = Status::DONE;
        for stage in inner {
            let (ended, dots) = self.inner_stage(stage, feed, sink);
            status = status.then(ended);
            if status.stops() || dots.is_empty() {
                return status;
            }
            feed = Feed::Pipe(dots);
        }
        status.then(self.stage(last, feed, false, sink))
    }

    /// Runs a stage whose output feeds the next; without values there is no next.
    fn inner_stage(
        &mut self,
        stage: &Command,
        feed: Feed,
        sink: &mut dyn Sink,
    ) -> (Status, Vec<Dot>) {
        let mut pipe = PipeSink::new(stage.verb.spelling(), sink);
        let status = self.stage(stage, feed, true, &mut pipe);
        if pipe.is_unfit() {
            return (Status::FAILED, Vec::new());
        }
        (status, pipe.into_dots())
    }

    fn shell_alone(&self, command: &str, sink: &mut dyn Sink) -> Status {
        // What was printed before must stand before what the command prints.
        match sink.finish().and_then(|()| shell_command::run(command)) {
            Ok(()) => Status::DONE,
            Err(error) => self.fail("!", &error, sink),
        }
    }

    fn pipeline_into_shell(
        &mut self,
        stages: &[Command],
        start: Start,
        command: &str,
        sink: &mut dyn Sink,
    ) -> Status {
        let format = self.options.format;
        let ended = sink.finish().and_then(|()| {
            shell_command::feed(command, format, sink, |fed| self.pipeline(stages, start, fed))
        });
        match ended {
            // A command that reads no further, such as head, is no reason to stop.
            Ok(status) if status.stop() == Some(Stop::Closed) => Status::DONE,
            Ok(status) => status,
            Err(error) => self.fail("!", &error, sink),
        }
    }

    /// Shows what is buffered; ctrl-C may have come, and files may have gone, when nobody looked.
    fn finish(&mut self, status: Status, sink: &mut dyn Sink) -> Status {
        use kcore_dcmd::Shell;
        let status = if !status.stops() && self.interrupted() {
            status.then(self.fail("", &DcmdError::Interrupted, sink))
        } else {
            status
        };
        let status = self.report_lost_files(sink).then(status);
        match sink.finish() {
            Ok(()) => status,
            Err(error) => status.then(self.fail("", &error, sink)),
        }
    }

    /// Says which files were lost since it was last asked: what they told may be wrong.
    fn report_lost_files(&mut self, sink: &mut dyn Sink) -> Status {
        let mut new = self.core.lost_files();
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

    /// Reports why `command` ended, and says what that means for what follows.
    pub(crate) fn fail(&self, command: &str, error: &DcmdError, sink: &mut dyn Sink) -> Status {
        let status = match error {
            DcmdError::Closed => return Status::stopped(Stop::Closed),
            DcmdError::Enough => return Status::stopped(Stop::Enough),
            DcmdError::Abandoned => return Status::stopped(Stop::Abandoned),
            DcmdError::Quit => return Status::stopped(Stop::Quit),
            DcmdError::Interrupted => Status::stopped(Stop::Interrupted),
            _ => Status::FAILED,
        };
        match sink.error(command, error) {
            Err(DcmdError::Closed) => status.then(Status::stopped(Stop::Closed)),
            _ => status,
        }
    }
}

impl Verb {
    /// As it was typed.
    pub(crate) fn spelling(&self) -> &str {
        match self {
            Self::Dcmd(spelling) => spelling,
            Self::Assign { .. } => ">",
        }
    }
}
