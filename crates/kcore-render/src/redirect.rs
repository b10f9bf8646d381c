//! Results to one sink, failures and notes to another: the output of `dcmd ! command`.

use kcore_dcmd::{Bindings, DcmdError, Record, Result, Sink};

/// Results go to one sink, all that is said about them to another.
pub struct RedirectSink<'a> {
    results: Box<dyn Sink + 'a>,
    aside: &'a mut dyn Sink,
}

impl<'a> RedirectSink<'a> {
    /// Records go to `results`, failures, notes and hints to `aside`.
    pub fn new(results: Box<dyn Sink + 'a>, aside: &'a mut dyn Sink) -> Self {
        Self { results, aside }
    }
}

impl Sink for RedirectSink<'_> {
    fn is_for_people(&self) -> bool {
        self.results.is_for_people()
    }

    fn put(&mut self, record: &dyn Record) -> Result<()> {
        self.results.put(record)
    }

    fn begin(&mut self, record: &dyn Record, list: &'static str) -> Result<()> {
        self.results.begin(record, list)
    }

    fn end(&mut self, record: &dyn Record) -> Result<()> {
        self.results.end(record)
    }

    fn error(&mut self, command: &str, error: &DcmdError) -> Result<()> {
        self.aside.error(command, error)
    }

    fn note(&mut self, text: &str) -> Result<()> {
        self.aside.note(text)
    }

    fn hint(&mut self, text: &str) -> Result<()> {
        self.aside.hint(text)
    }

    fn abandon(&mut self) -> Result<()> {
        self.results.abandon()
    }

    fn progress(&mut self, done: u64, total: u64) {
        self.aside.progress(done, total);
    }

    fn set_radix(&mut self, radix: u32) {
        self.results.set_radix(radix);
        self.aside.set_radix(radix);
    }

    fn set_bindings(&mut self, bindings: &Bindings) {
        self.results.set_bindings(bindings);
    }

    fn finish(&mut self) -> Result<()> {
        self.results.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JsonSink;
    use crate::testing::Row;

    #[test]
    fn results_and_failures_part() {
        let (mut results, mut aside) = (Vec::new(), Vec::new());
        {
            let mut outer = JsonSink::new(&mut aside, Vec::new(), true);
            let inner = Box::new(JsonSink::new(&mut results, Vec::new(), false));
            let mut sink = RedirectSink::new(inner, &mut outer);
            sink.put(&Row(1)).unwrap();
            sink.error("::x", &DcmdError::failed("no")).unwrap();
            sink.finish().unwrap();
        }
        assert!(String::from_utf8(results).unwrap().contains("\"row\""));
        assert!(String::from_utf8(aside).unwrap().contains("\"error\""));
    }
}
