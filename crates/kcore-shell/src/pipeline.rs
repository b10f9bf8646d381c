//! Runs the stages of a pipeline, each to its end, and hands what it finds to the next.

use kcore_dcmd::{DcmdError, Dot, Fields, Piped, Record, Result, Sink, View};
use kcore_render::{PipeItem, PipeSink};

use crate::error::SyntaxError;
use crate::invoke::Feed;
use crate::lexer::Scanner;
use crate::parse::{Command, Stage, Verb};
use crate::session::Session;
use crate::status::{Status, Stop};
use crate::{eval, expr, shell_command};

/// Why nothing feeds the next stage: the status of the pipeline, which ends.
struct Ended(Status);

/// A value on its way from one pipe into another, which nobody sees.
struct HandedOn<'a>(&'a Piped);

impl Record for HandedOn<'_> {
    fn kind(&self) -> &'static str {
        "element"
    }

    fn view(&self) -> View {
        View::Hidden
    }

    fn fields<'a>(&'a self, _out: &mut Fields<'a>) {}

    fn piped(&self) -> Option<Piped> {
        Some(self.0.clone())
    }
}

impl Session {
    /// Runs stages, of which the first starts from `feed`.
    pub(crate) fn pipeline(&mut self, stages: &[Stage], feed: Feed, sink: &mut dyn Sink) -> Status {
        let shell = stages.iter().enumerate().find_map(|(at, stage)| match stage {
            Stage::Shell(text) => Some((at, text.as_str())),
            Stage::Command(_) => None,
        });
        let Some((at, shell)) = shell else {
            return self.commands(stages, feed, self.pipe_out, sink);
        };
        let (before, after) = (stages.get(..at), stages.get(at + 1..).unwrap_or_default());
        let before = before.unwrap_or_default();
        if after.is_empty() && !self.pipe_out {
            return self.show_in_shell(before, feed, shell, sink);
        }
        match self.through_shell(before, feed, shell, sink) {
            Ok((status, values)) if values.is_empty() => status,
            Ok((status, values)) if after.is_empty() => status.then(self.hand_on(&values, sink)),
            Ok((status, values)) => status.then(self.pipeline(after, Feed::Pipe(values), sink)),
            Err(Ended(status)) => status,
        }
    }

    /// Puts values into the pipe around this pipeline.
    fn hand_on(&self, values: &[Piped], sink: &mut dyn Sink) -> Status {
        let put = values.iter().try_for_each(|value| sink.put(&HandedOn(value)));
        put.map_or_else(|error| self.fail("!", &error, sink), |()| Status::DONE)
    }

    /// Runs stages none of which is a shell command. What the last finds goes to `sink`, as values
    /// if `pipe_out`.
    fn commands(
        &mut self,
        stages: &[Stage],
        mut feed: Feed,
        pipe_out: bool,
        sink: &mut dyn Sink,
    ) -> Status {
        let mut commands = stages.iter().filter_map(Stage::command).peekable();
        let mut status = Status::DONE;
        while let Some(command) = commands.next() {
            if commands.peek().is_none() {
                return status.then(self.stage(command, feed, pipe_out, sink));
            }
            match self.inner_stage(command, feed, sink) {
                Ok((ended, values)) if ended.stops() || values.is_empty() => {
                    return status.then(ended);
                }
                Ok((ended, values)) => {
                    status = status.then(ended);
                    feed = Feed::Pipe(values);
                }
                Err(Ended(ended)) => return status.then(ended),
            }
        }
        status
    }

    /// Runs a stage whose output feeds the next.
    fn inner_stage(
        &mut self,
        command: &Command,
        feed: Feed,
        sink: &mut dyn Sink,
    ) -> Result<(Status, Vec<Piped>), Ended> {
        let spelling = command.verb.spelling();
        let mut pipe = PipeSink::new(spelling, sink);
        let status = self.stage(command, feed, true, &mut pipe);
        if pipe.is_unfit() {
            return Err(Ended(Status::FAILED));
        }
        let items = pipe.into_items();
        let values = self
            .values(items)
            .map_err(|error| Ended(status.then(self.fail(spelling, &error, sink))))?;
        Ok((status, values))
    }

    /// The values that came out of a stage: of text, those of its lines.
    fn values(&self, items: Vec<PipeItem>) -> Result<Vec<Piped>> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            match item {
                PipeItem::Value(value) => values.push(value),
                PipeItem::Expressions { text, bindings } => {
                    let numbers = self.expressions(&text)?;
                    values.extend(numbers.into_iter().map(|number| Piped {
                        bindings: bindings.clone(),
                        ..Piped::from(Dot::Number(number))
                    }));
                }
            }
        }
        Ok(values)
    }

    /// The values of text, each line of which is a bare expression; a semicolon ends one too.
    fn expressions(&self, text: &str) -> Result<Vec<u64>> {
        let mut scanner = Scanner::new(text);
        let mut values = Vec::new();
        loop {
            scanner.skip_to_statement();
            if scanner.peek().is_none() {
                return Ok(values);
            }
            let parsed = expr::parse(&mut scanner, self.radix).and_then(|expr| {
                scanner.skip_blanks();
                if scanner.at_end() { Ok(expr) } else { Err(scanner.unexpected()) }
            });
            let expr = parsed.map_err(|error: SyntaxError| DcmdError::failed(error.to_string()))?;
            values.push(eval::evaluate(&expr, self)?);
        }
    }

    /// Runs a shell command, which takes what the stages before it show, and shows what it prints.
    fn show_in_shell(
        &mut self,
        stages: &[Stage],
        feed: Feed,
        command: &str,
        sink: &mut dyn Sink,
    ) -> Status {
        let format = self.options.format;
        // What was printed before must stand before what the command prints.
        let ended = sink.finish().and_then(|()| match stages {
            [] => shell_command::run(command, &self.options.interrupt).map(|()| Status::DONE),
            _ => shell_command::feed(command, format, sink, |fed| {
                self.commands(stages, feed, false, fed)
            }),
        });
        self.after_shell(ended, sink)
    }

    /// Runs a shell command, which takes what the stages before it show; the lines that it prints
    /// are expressions, whose values feed what follows.
    fn through_shell(
        &mut self,
        stages: &[Stage],
        feed: Feed,
        command: &str,
        sink: &mut dyn Sink,
    ) -> Result<(Status, Vec<Piped>), Ended> {
        let format = self.options.format;
        let run = shell_command::capture(command, format, sink, |fed| {
            self.commands(stages, feed, false, fed)
        });
        let (ended, text) = match run {
            Ok((status, text)) => (Ok(status), text),
            Err(error) => (Err(error), String::new()),
        };
        let status = self.after_shell(ended, sink);
        match self.expressions(&text) {
            Ok(_) if status.stops() => Err(Ended(status)),
            Ok(values) => {
                let values = values.into_iter().map(Dot::Number);
                Ok((status, values.map(Piped::from).collect()))
            }
            Err(error) => Err(Ended(status.then(self.fail("!", &error, sink)))),
        }
    }

    fn after_shell(&self, ended: Result<Status>, sink: &mut dyn Sink) -> Status {
        match ended {
            // A command that reads no further, such as head, is no reason to stop.
            Ok(status) if status.stop() == Some(Stop::Closed) => Status::DONE,
            Ok(status) => status,
            Err(error) => self.fail("!", &error, sink),
        }
    }
}

impl Stage {
    const fn command(&self) -> Option<&Command> {
        match self {
            Self::Command(command) => Some(command),
            Self::Shell(_) => None,
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
