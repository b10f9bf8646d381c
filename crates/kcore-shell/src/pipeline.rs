//! Runs the stages of a pipeline, each to its end, and hands what it finds to the next.

use std::sync::Arc;

use kcore_dcmd::{Fields, Piped, Record, Result, Sink, View};
use kcore_render::PipeSink;

use crate::invoke::Feed;
use crate::parse::{Command, Stage, Verb};
use crate::session::Session;
use crate::shell_command;
use crate::status::Status;

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
        let allowed = shell_command::check(&self.core).and_then(|()| sink.finish());
        let ended = allowed.and_then(|()| match stages {
            [] => {
                shell_command::run(command, self.core.budget().interrupt()).map(|()| Status::DONE)
            }
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
        let interrupt = Arc::clone(self.core.budget().interrupt());
        let bindings = self.bindings.clone();
        let run = shell_command::check(&self.core).and_then(|()| {
            shell_command::capture(command, format, &interrupt, sink, |fed| {
                self.commands(stages, feed, false, fed)
            })
        });
        let (ended, text) = match run {
            Ok((status, text)) => (Ok(status), text),
            Err(error) => (Err(error), String::new()),
        };
        let status = self.after_shell(ended, sink);
        if status.stops() {
            return Err(Ended(status));
        }
        match self.values_of_text(&text, &bindings) {
            Ok(values) => Ok((status, values)),
            Err(error) => Err(Ended(status.then(self.fail("!", &error, sink)))),
        }
    }

    fn after_shell(&self, ended: Result<Status>, sink: &mut dyn Sink) -> Status {
        match ended {
            Ok(status) => status.out_of_shell(),
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
