//! What is shown, and a copy of it: a log.

use kcore_dcmd::{Bindings, DcmdError, Record, Result, Sink};

/// Shows everything in one sink and repeats it in another. What was not shown is not repeated.
///
/// A copy that cannot be written is given up, which is reported once; what is shown goes on.
pub struct TeeSink<'a> {
    shown: &'a mut dyn Sink,
    copy: Option<Box<dyn Sink + 'a>>,
    command: &'a str,
}

impl<'a> TeeSink<'a> {
    /// Repeats in `copy` what `shown` shows; `command` is what a failure of the copy is reported by.
    pub fn new(shown: &'a mut dyn Sink, copy: Box<dyn Sink + 'a>, command: &'a str) -> Self {
        Self { shown, copy: Some(copy), command }
    }

    /// Repeats what was shown.
    fn repeat(&mut self, what: impl FnOnce(&mut dyn Sink) -> Result<()>) -> Result<()> {
        let failed = match &mut self.copy {
            Some(copy) => what(copy.as_mut()).err(),
            None => None,
        };
        let Some(error) = failed else { return Ok(()) };
        self.copy = None;
        let error = DcmdError::failed(format!("failed to write log: {error}"));
        self.shown.error(self.command, &error)
    }
}

impl Sink for TeeSink<'_> {
    fn is_for_people(&self) -> bool {
        self.shown.is_for_people() && self.copy.as_ref().is_none_or(|copy| copy.is_for_people())
    }

    fn put(&mut self, record: &dyn Record) -> Result<()> {
        self.shown.put(record)?;
        self.repeat(|copy| copy.put(record))
    }

    fn begin(&mut self, record: &dyn Record, list: &'static str) -> Result<()> {
        self.shown.begin(record, list)?;
        self.repeat(|copy| copy.begin(record, list))
    }

    fn end(&mut self, record: &dyn Record) -> Result<()> {
        self.shown.end(record)?;
        self.repeat(|copy| copy.end(record))
    }

    fn error(&mut self, command: &str, error: &DcmdError) -> Result<()> {
        self.shown.error(command, error)?;
        self.repeat(|copy| copy.error(command, error))
    }

    fn note(&mut self, text: &str) -> Result<()> {
        self.shown.note(text)?;
        self.repeat(|copy| copy.note(text))
    }

    fn hint(&mut self, text: &str) -> Result<()> {
        self.shown.hint(text)?;
        self.repeat(|copy| copy.hint(text))
    }

    fn abandon(&mut self) -> Result<()> {
        self.shown.abandon()?;
        self.repeat(|copy| copy.abandon())
    }

    fn set_radix(&mut self, radix: u32) {
        self.shown.set_radix(radix);
        if let Some(copy) = &mut self.copy {
            copy.set_radix(radix);
        }
    }

    fn set_bindings(&mut self, bindings: &Bindings) {
        self.shown.set_bindings(bindings);
    }

    fn set_wrap(&mut self, columns: Option<usize>) {
        self.shown.set_wrap(columns);
        if let Some(copy) = &mut self.copy {
            copy.set_wrap(columns);
        }
    }

    fn progress(&mut self, done: u64, total: u64) {
        self.shown.progress(done, total);
    }

    fn begin_line(&mut self, paged: bool) {
        self.shown.begin_line(paged);
    }

    fn finish(&mut self) -> Result<()> {
        // The copy is whole even where nobody reads what is shown.
        let shown = self.shown.finish();
        self.repeat(|copy| copy.finish()).and(shown)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};

    use super::*;
    use crate::testing::Row;
    use crate::{Format, Numbers, TextOptions};

    const TEXT: Format = Format::Text(TextOptions {
        styled: false,
        live: false,
        numbers: Numbers { radix: 16, word_size: 8 },
    });

    /// A disk without room.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn tee(copy: impl Write, errors: impl Write, run: impl FnOnce(&mut dyn Sink)) -> String {
        let mut shown = Vec::new();
        {
            let mut aside = Vec::new();
            let mut sink = TEXT.plain_sink(&mut shown, &mut aside);
            run(&mut TeeSink::new(sink.as_mut(), TEXT.plain_sink(copy, errors), "::log"));
            drop(sink);
            shown.extend(aside);
        }
        String::from_utf8(shown).unwrap()
    }

    #[test]
    fn results_failures_and_hints_are_repeated() {
        let (mut copy, mut errors) = (Vec::new(), Vec::new());
        let shown = tee(&mut copy, &mut errors, |sink| {
            sink.put(&Row(1)).unwrap();
            sink.error("::x", &DcmdError::failed("no")).unwrap();
            sink.hint("Usage: ::x").unwrap();
            sink.finish().unwrap();
        });
        let copied = [copy, errors].concat();
        assert_eq!(String::from_utf8(copied).unwrap(), shown);
        assert_eq!(shown, "VALUE NAME\n    1 row\nkcore: no\nUsage: ::x\n");
    }

    #[test]
    fn a_copy_that_cannot_be_written_is_given_up() {
        let shown = tee(Full, io::sink(), |sink| {
            sink.put(&Row(1)).unwrap();
            sink.finish().unwrap();
            sink.put(&Row(2)).unwrap();
            sink.finish().unwrap();
        });
        assert_eq!(shown.matches("row").count(), 2);
        assert_eq!(shown.matches("kcore: failed to write log: cannot write output: ").count(), 1);
    }
}
