//! Runs one stage of a pipeline: one dcmd, once, repeatedly, or for each value of a pipe.

use std::ops::ControlFlow;
use std::sync::Arc;

use kcore_dcmd::{
    AddrUse, Arg, Args, Bindings, Cx, Dcmd, DcmdError, Input, Piped, Result, Shell, Sink, Spec,
    near,
};

use crate::parse::{Command, Verb};
use crate::session::Session;
use crate::status::{Status, Stop};
use crate::words::Word;
use crate::{eval, limits, vars};

/// What stood before the verb.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Start {
    /// Whether an address, to which dot is set, was written.
    pub(crate) has_addr: bool,
    /// The count behind the comma.
    pub(crate) count: Option<u64>,
}

/// What a stage starts from.
#[derive(Debug)]
pub(crate) enum Feed {
    /// It is the first.
    Start(Start),
    /// The values of the stage before it, at least one.
    Pipe(Vec<Piped>),
}

/// A dcmd with its words, ready to run.
struct Call<'a> {
    dcmd: &'static dyn Dcmd,
    spec: Spec,
    spelling: &'a str,
    args: Args,
    pipe_out: bool,
}

/// Whether the loop goes on; either way what came of the run.
type Flow = ControlFlow<Status, Status>;

impl Session {
    /// Runs one stage.
    pub(crate) fn stage(
        &mut self,
        command: &Command,
        feed: Feed,
        pipe_out: bool,
        sink: &mut dyn Sink,
    ) -> Status {
        let spelling = match &command.verb {
            Verb::Assign { name, size } => return self.assign(name, *size, &feed, sink),
            Verb::Dcmd(spelling) => spelling,
        };
        let Some((dcmd, spec)) = self.dcmd(spelling) else {
            return self.fail(spelling, &self.unknown(spelling), sink);
        };
        match self.arguments(&spec, spelling, &command.words) {
            Ok(args) => {
                let call = Call { dcmd, spec, spelling, args, pipe_out };
                self.call(&call, feed, sink)
            }
            Err(error) => {
                let status = self.fail_call(&spec, spelling, &error, sink);
                self.hint_at_address(&spec, command, sink);
                status
            }
        }
    }

    /// Says where an address stands, after one that was given as a word to a dcmd that takes no words.
    fn hint_at_address(&self, spec: &Spec, command: &Command, sink: &mut dyn Sink) {
        let (Verb::Dcmd(spelling), [Word::Text(word)]) = (&command.verb, command.words.as_slice())
        else {
            return;
        };
        let takes_address = spec.addr != AddrUse::None && spec.operands.max == 0;
        if takes_address && self.evaluate(word).is_ok() {
            // A hint that nobody reads is not an error.
            let _ = sink.hint(&format!("kcore: type the address first: {word}{spelling}"));
        }
    }

    fn call(&mut self, call: &Call<'_>, feed: Feed, sink: &mut dyn Sink) -> Status {
        match feed {
            Feed::Start(start) if call.spec.takes_count => self.once(call, start, sink),
            Feed::Start(start) => self.repeat(call, start, sink),
            Feed::Pipe(dots) if call.spec.takes_list => self.all_at_once(call, dots, sink),
            Feed::Pipe(dots) => self.one_by_one(call, &dots, sink),
        }
    }

    fn once(&mut self, call: &Call<'_>, start: Start, sink: &mut dyn Sink) -> Status {
        if start.count == Some(0) {
            return Status::DONE;
        }
        let input = Input { looped: false, first: true, ..self.input(call, start) };
        ended(self.invoke(call, &input, sink))
    }

    /// Runs under a count; between two runs dot moves by what the first of them left. A failure ends
    /// it where dot does not move: what failed here would fail again.
    fn repeat(&mut self, call: &Call<'_>, start: Start, sink: &mut dyn Sink) -> Status {
        let count = start.count.unwrap_or(1);
        if count > limits::REPEAT {
            let most = limits::REPEAT;
            let error = DcmdError::failed(format!("count {count:x} is too high: at most {most:x}"));
            return self.fail(call.spelling, &error, sink);
        }
        let mut status = Status::DONE;
        for run in 0..count {
            if run > 0 {
                self.advance();
            }
            let input =
                Input { looped: start.count.is_some(), first: run == 0, ..self.input(call, start) };
            match self.invoke(call, &input, sink) {
                Flow::Continue(next) if next.failed() && self.increment == 0 => {
                    return status.then(next);
                }
                Flow::Continue(next) => status = status.then(next),
                Flow::Break(next) => return status.then(next),
            }
        }
        status
    }

    fn all_at_once(&mut self, call: &Call<'_>, values: Vec<Piped>, sink: &mut dyn Sink) -> Status {
        let last = values.last().map(|value| value.dot).unwrap_or_default();
        self.dot = values.first().map(|value| value.dot).unwrap_or_default();
        self.bindings = Bindings::default();
        let start = Start { has_addr: true, count: None };
        let input =
            Input { looped: true, first: true, list: Some(values), ..self.input(call, start) };
        let before = self.dot;
        let status = ended(self.invoke(call, &input, sink));
        if self.dot == before {
            self.dot = last;
        }
        status
    }

    fn one_by_one(&mut self, call: &Call<'_>, values: &[Piped], sink: &mut dyn Sink) -> Status {
        let mut status = Status::DONE;
        for (run, value) in values.iter().enumerate() {
            self.dot = value.dot;
            if let Err(error) = self.bind(&value.bindings) {
                return status.then(self.fail(call.spelling, &error, sink));
            }
            let start = Start { has_addr: true, count: None };
            let input = Input { looped: true, first: run == 0, ..self.input(call, start) };
            match self.invoke(call, &input, sink) {
                Flow::Continue(next) => status = status.then(next),
                Flow::Break(next) => return status.then(next),
            }
        }
        status
    }

    /// Gives the variables that were bound on the way to a value the values that they had there.
    fn bind(&mut self, bindings: &Bindings) -> Result<()> {
        self.bindings = bindings.clone();
        bindings.iter().try_for_each(|(name, value)| self.variables.set(name, value))
    }

    fn input(&self, call: &Call<'_>, start: Start) -> Input {
        Input {
            called_as: call.spelling.to_owned(),
            dot: self.dot,
            has_addr: start.has_addr,
            count: start.count,
            pipe_out: call.pipe_out,
            ..Input::default()
        }
    }

    /// Runs the dcmd once. A wrong call ends the pipeline, a failure does not.
    fn invoke(&mut self, call: &Call<'_>, input: &Input, sink: &mut dyn Sink) -> Flow {
        sink.set_radix(self.radix);
        sink.set_wrap(self.settings.autowrap.then(|| self.page_width()));
        sink.set_bindings(&self.bindings);
        let outer_failed = std::mem::take(&mut self.part_failed);
        let result = check_address(&call.spec, input).and_then(|()| {
            self.last_dot = self.dot;
            let core = Arc::clone(&self.core);
            call.dcmd.run(&mut Cx::new(&core, input, self, sink), &call.args)
        });
        let part_failed = std::mem::replace(&mut self.part_failed, outer_failed);
        let error = match result {
            Ok(()) if self.interrupted() || self.core.budget().is_late() => self.why_halted(),
            Ok(()) if part_failed => return Flow::Continue(Status::FAILED),
            Ok(()) => return Flow::Continue(Status::DONE),
            Err(DcmdError::EndOfMacro) => {
                return Flow::Break(Status::stopped(Stop::EndOfMacro).or_failed(part_failed));
            }
            Err(error) => error,
        };
        // That nobody reads the end of it will be seen when the error is reported.
        let _ = sink.abandon();
        let status = self.fail_call(&call.spec, call.spelling, &error, sink).or_failed(part_failed);
        match error {
            DcmdError::Failed { .. } if !status.stops() => Flow::Continue(status),
            _ => Flow::Break(status),
        }
    }

    /// Why a dcmd that returned normally may have left something out.
    fn why_halted(&self) -> DcmdError {
        self.core.budget().halt().map_or(DcmdError::Interrupted, DcmdError::from)
    }

    /// Reports a failure; a wrong call with what a right one looks like.
    fn fail_call(
        &self,
        spec: &Spec,
        spelling: &str,
        error: &DcmdError,
        sink: &mut dyn Sink,
    ) -> Status {
        let status = self.fail(spelling, error, sink);
        if matches!(error, DcmdError::Usage(_)) {
            // A hint that nobody reads is not an error.
            let _ = sink.hint(&format!("Usage: {}", spec.usage_as(spelling)));
            if !spec.help.is_empty() {
                let hint = format!("kcore: try '::help {}' for more information", spec.name);
                let _ = sink.hint(&hint);
            }
        }
        status
    }

    fn unknown(&self, spelling: &str) -> DcmdError {
        if spelling.contains('`') && !spelling.starts_with("::kcore`") {
            return DcmdError::failed(format!(
                "invalid command '{spelling}': specified module is not loaded"
            ));
        }
        let own: Vec<_> = self.printers().dcmds().map(|(_, it)| format!("::{}", it.name)).collect();
        let meant = near::nearest(spelling, own.iter().map(String::as_str));
        let meant = meant.or_else(|| self.table.nearest(spelling));
        let meant = meant.map(|name| format!(" (did you mean '{name}'?)")).unwrap_or_default();
        DcmdError::failed(format!("invalid command '{spelling}': unknown dcmd name{meant}"))
    }

    /// Evaluates immediate words and checks all by the spec.
    fn arguments(&self, spec: &Spec, spelling: &str, words: &[Word]) -> Result<Args> {
        let mut args = Vec::with_capacity(words.len() + 1);
        if is_format(spelling) {
            // Its words are format characters: a dash among them is one too.
            args.push(Arg::Text("--".to_owned()));
        }
        for word in words {
            args.push(match word {
                Word::Text(text) => Arg::Text(text.clone()),
                Word::Immediate(expr) => Arg::Number(eval::evaluate(expr, self)?),
            });
        }
        Args::parse(spec, &args)
    }

    /// `>name`: the variable becomes dot, or the last value of the pipe.
    fn assign(&mut self, name: &str, size: Option<u8>, feed: &Feed, sink: &mut dyn Sink) -> Status {
        if let Feed::Pipe(values) = feed {
            self.dot = values.last().map(|value| value.dot).unwrap_or_default();
        }
        let value = vars::cut(self.dot.number(), size);
        match self.set_variable(name, value) {
            Ok(()) => Status::DONE,
            Err(error) => self.fail(">", &error, sink),
        }
    }
}

fn ended(flow: Flow) -> Status {
    match flow {
        Flow::Continue(status) | Flow::Break(status) => status,
    }
}

fn is_format(spelling: &str) -> bool {
    matches!(spelling, "/" | "\\" | "?" | "@" | "=")
}

fn check_address(spec: &Spec, input: &Input) -> Result<()> {
    match spec.addr {
        AddrUse::None if input.has_addr && input.list.is_none() => {
            Err(DcmdError::usage(format!("{} takes no address", input.called_as)))
        }
        AddrUse::Required if !input.has_addr => {
            Err(DcmdError::usage(format!("{} needs an address", input.called_as)))
        }
        _ => Ok(()),
    }
}
