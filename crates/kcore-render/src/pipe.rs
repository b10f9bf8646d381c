//! The end of a pipe: collects the values that the next stage starts from.

use kcore_dcmd::{DcmdError, Dot, Record, Result, Sink};

/// Collects the dot of each record; failures and notes pass by to the sink behind it.
///
/// A record without one cannot feed the next stage: that is said once, and the pipe is closed.
pub struct PipeSink<'a> {
    aside: &'a mut dyn Sink,
    command: &'a str,
    dots: Vec<Dot>,
    unfit: bool,
}

impl<'a> PipeSink<'a> {
    /// The output of `command`, whose failures and notes go to `aside`.
    pub fn new(command: &'a str, aside: &'a mut dyn Sink) -> Self {
        Self { aside, command, dots: Vec::new(), unfit: false }
    }

    /// Whether a record came that has no value: the pipeline ends.
    pub fn is_unfit(&self) -> bool {
        self.unfit
    }

    /// The values, in order.
    pub fn into_dots(self) -> Vec<Dot> {
        self.dots
    }
}

impl Sink for PipeSink<'_> {
    fn put(&mut self, record: &dyn Record) -> Result<()> {
        if let Some(dot) = record.dot() {
            self.dots.push(dot);
            return Ok(());
        }
        if !self.unfit {
            self.unfit = true;
            let kind = record.kind();
            self.aside.error(
                self.command,
                &DcmdError::failed(format!(
                    "output of type '{kind}' cannot feed a pipe: no address"
                )),
            )?;
        }
        Err(DcmdError::Closed)
    }

    /// The elements of a list feed the pipe, not what stands around them.
    fn begin(&mut self, _record: &dyn Record, _list: &'static str) -> Result<()> {
        Ok(())
    }

    fn end(&mut self, _record: &dyn Record) -> Result<()> {
        Ok(())
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

    fn progress(&mut self, done: u64, total: u64) {
        self.aside.progress(done, total);
    }

    fn set_radix(&mut self, radix: u32) {
        self.aside.set_radix(radix);
    }
}

#[cfg(test)]
mod tests {
    use kcore::Addr;

    use super::*;
    use crate::JsonSink;
    use crate::testing::{Frame, Row, Stack, StackEnd};

    #[test]
    fn the_elements_of_a_list_are_collected() {
        let mut aside = JsonSink::new(Vec::new(), Vec::new(), false);
        let mut pipe = PipeSink::new("::x", &mut aside);
        pipe.put(&Frame(1)).unwrap();
        pipe.begin(&Stack, "frames").unwrap();
        pipe.put(&Frame(2)).unwrap();
        pipe.end(&StackEnd).unwrap();
        assert!(!pipe.is_unfit());
        assert_eq!(pipe.into_dots(), [1, 2].map(|at| Dot::Addr(Addr::new(at))));
    }

    #[test]
    fn a_record_without_a_value_closes_the_pipe_and_is_reported_once() {
        let mut errors = Vec::new();
        {
            let mut aside = JsonSink::new(&mut errors, Vec::new(), true);
            let mut pipe = PipeSink::new("::x", &mut aside);
            assert_eq!(pipe.put(&Row(1)), Err(DcmdError::Closed));
            assert_eq!(pipe.put(&Row(2)), Err(DcmdError::Closed));
            assert!(pipe.is_unfit());
        }
        let errors = String::from_utf8(errors).unwrap();
        assert!(errors.contains("output of type 'row' cannot feed a pipe: no address"));
        assert_eq!(errors.lines().count(), 1);
    }
}
