//! The end of a pipe: collects the values that the next stage starts from.

use kcore_dcmd::{Bindings, DcmdError, Piped, Record, Result, Sink};

/// Values in one pipe, at most.
pub const MAX_ITEMS: usize = 1 << 23;
/// Bytes of text that wait in one pipe to be evaluated, at most.
const MAX_TEXT: usize = 1 << 26;

/// What a stage put into a pipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PipeItem {
    /// A value.
    Value(Piped),
    /// Lines of text, each of which is an expression to be evaluated.
    Expressions {
        /// The text.
        text: String,
        /// What was bound when it came.
        bindings: Bindings,
    },
}

/// Collects what records hand on; failures and notes pass by to the sink behind it.
///
/// A record that hands on nothing cannot feed the next stage: that is said once, and the pipe is
/// closed. One that only says that nothing was found is noted, and the pipe goes on.
pub struct PipeSink<'a> {
    aside: &'a mut dyn Sink,
    command: &'a str,
    items: Vec<PipeItem>,
    /// Bytes of text among them.
    text: usize,
    bindings: Bindings,
    unfit: bool,
}

impl<'a> PipeSink<'a> {
    /// The output of `command`, whose failures and notes go to `aside`.
    pub fn new(command: &'a str, aside: &'a mut dyn Sink) -> Self {
        let bindings = Bindings::default();
        Self { aside, command, items: Vec::new(), text: 0, bindings, unfit: false }
    }

    /// Whether something came that cannot be handed on: the pipeline ends.
    pub fn is_unfit(&self) -> bool {
        self.unfit
    }

    /// What came, in order.
    pub fn into_items(self) -> Vec<PipeItem> {
        self.items
    }

    fn item_of(&self, record: &dyn Record) -> Option<PipeItem> {
        if let Some(piped) = record.piped() {
            let bindings = self.bindings.under(&piped.bindings);
            return Some(PipeItem::Value(Piped { bindings, ..piped }));
        }
        let text = record.expressions()?.to_owned();
        Some(PipeItem::Expressions { text, bindings: self.bindings.clone() })
    }

    /// Says why the pipe is closed, once, and closes it.
    fn refuse(&mut self, why: String) -> Result<()> {
        if !self.unfit {
            self.unfit = true;
            self.aside.error(self.command, &DcmdError::failed(why))?;
        }
        Err(DcmdError::Closed)
    }
}

impl Sink for PipeSink<'_> {
    fn put(&mut self, record: &dyn Record) -> Result<()> {
        let Some(item) = self.item_of(record) else {
            if let Some(absence) = record.absence() {
                return self.aside.note(&absence);
            }
            let kind = record.kind();
            return self.refuse(format!("output of type '{kind}' cannot feed a pipe: no address"));
        };
        if self.items.len() >= MAX_ITEMS {
            return self.refuse(format!("more than {MAX_ITEMS} values in a pipe"));
        }
        if let PipeItem::Expressions { text, .. } = &item {
            self.text = self.text.saturating_add(text.len());
        }
        if self.text > MAX_TEXT {
            return self.refuse(format!("more than {MAX_TEXT} bytes of text in a pipe"));
        }
        self.items.push(item);
        Ok(())
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

    fn set_bindings(&mut self, bindings: &Bindings) {
        self.bindings = bindings.clone();
    }
}

#[cfg(test)]
mod tests {
    use kcore::Addr;
    use kcore_dcmd::Dot;

    use super::*;
    use crate::JsonSink;
    use crate::testing::{Absent, Frame, Row, Stack, StackEnd};

    #[test]
    fn the_elements_of_a_list_are_collected() {
        let mut aside = JsonSink::new(Vec::new(), Vec::new(), false);
        let mut pipe = PipeSink::new("::x", &mut aside);
        pipe.put(&Frame(1)).unwrap();
        pipe.begin(&Stack, "frames").unwrap();
        pipe.put(&Frame(2)).unwrap();
        pipe.end(&StackEnd).unwrap();
        assert!(!pipe.is_unfit());
        let value = |at| PipeItem::Value(Dot::Addr(Addr::new(at)).into());
        assert_eq!(pipe.into_items(), [1, 2].map(value));
    }

    #[test]
    fn values_keep_what_was_bound_when_they_came() {
        let mut aside = JsonSink::new(Vec::new(), Vec::new(), false);
        let mut pipe = PipeSink::new("::x", &mut aside);
        let bindings = Bindings::default().with(&"v".into(), 7);
        pipe.set_bindings(&bindings);
        pipe.put(&Frame(1)).unwrap();
        let dot = Dot::Addr(Addr::new(1));
        assert_eq!(pipe.into_items(), [PipeItem::Value(Piped { dot, bindings })]);
    }

    #[test]
    fn a_record_of_something_absent_feeds_nothing_and_is_noted() {
        let mut notes = Vec::new();
        {
            let mut aside = JsonSink::new(&mut notes, Vec::new(), false);
            let mut pipe = PipeSink::new("::x", &mut aside);
            pipe.put(&Absent).unwrap();
            pipe.put(&Frame(2)).unwrap();
            assert!(!pipe.is_unfit());
            assert_eq!(pipe.into_items(), [PipeItem::Value(Dot::Addr(Addr::new(2)).into())]);
        }
        assert!(String::from_utf8(notes).unwrap().contains("there is nothing"));
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
