//! A sink for commands that run for what they read.

use std::io::{self, Sink as Nowhere, Stderr};

use kcore_dcmd::{DcmdError, Record, Result, Sink};
use kcore_render::{JsonSink, Numbers, TextOptions, TextSink};

/// Whether a person sees that a command failed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Failures {
    Silent,
    Told,
}

/// Answers go nowhere, in the form that has most facts; failures go to a person who typed the commands.
pub(super) struct ReadSink {
    answers: JsonSink<Nowhere, Nowhere>,
    failures: Option<TextSink<Nowhere, Stderr>>,
}

impl ReadSink {
    pub(super) fn new(failures: Failures) -> Self {
        let numbers = Numbers { radix: 16, word_size: 8 };
        let options = TextOptions { styled: false, live: false, numbers };
        let told = || TextSink::new(io::sink(), io::stderr(), options);
        Self {
            answers: JsonSink::new(io::sink(), io::sink(), false),
            failures: (failures == Failures::Told).then(told),
        }
    }
}

impl Sink for ReadSink {
    fn put(&mut self, record: &dyn Record) -> Result<()> {
        self.answers.put(record)
    }

    fn begin(&mut self, record: &dyn Record, list: &'static str) -> Result<()> {
        self.answers.begin(record, list)
    }

    fn end(&mut self, record: &dyn Record) -> Result<()> {
        self.answers.end(record)
    }

    fn error(&mut self, command: &str, error: &DcmdError) -> Result<()> {
        self.failures.as_mut().map_or(Ok(()), |failures| failures.error(command, error))
    }

    fn note(&mut self, text: &str) -> Result<()> {
        self.failures.as_mut().map_or(Ok(()), |failures| failures.note(text))
    }

    fn hint(&mut self, text: &str) -> Result<()> {
        self.failures.as_mut().map_or(Ok(()), |failures| failures.hint(text))
    }

    fn abandon(&mut self) -> Result<()> {
        self.answers.abandon()
    }

    fn finish(&mut self) -> Result<()> {
        self.answers.finish()
    }
}
