//! Sinks: where records go.

use crate::{Bindings, DcmdError, Record, Result};

/// Takes the records of dcmds, and shows, writes or collects them.
///
/// # Errors
/// Each method answers [`DcmdError::Closed`] when nobody reads any more, [`DcmdError::Interrupted`]
/// after ctrl-C, [`DcmdError::Enough`] and [`DcmdError::Abandoned`] when the user has seen enough: a
/// dcmd obeys with `?`.
pub trait Sink {
    /// Whether it shows lines to people alone: what stands in no line need not be found out.
    fn is_for_people(&self) -> bool {
        false
    }

    /// Takes one record.
    ///
    /// # Errors
    /// See the trait.
    fn put(&mut self, record: &dyn Record) -> Result<()>;

    /// Begins a record that has a list of others under the key `list`: a stack, whose frames are
    /// put one by one, so that a long one streams.
    ///
    /// # Errors
    /// See the trait.
    fn begin(&mut self, record: &dyn Record, list: &'static str) -> Result<()>;

    /// Ends the record that the last `begin` began; the fields of `record` come after the list.
    ///
    /// # Errors
    /// See the trait.
    fn end(&mut self, record: &dyn Record) -> Result<()>;

    /// Takes a failure: standard error for people, an `error` record for machines.
    ///
    /// # Errors
    /// See the trait.
    fn error(&mut self, command: &str, error: &DcmdError) -> Result<()>;

    /// Takes a remark that makes an answer doubtful but is no failure: standard error for people.
    ///
    /// # Errors
    /// See the trait.
    fn note(&mut self, text: &str) -> Result<()>;

    /// Takes a line that helps a person to correct what failed, such as a usage line; it follows the
    /// error and is shown as it is. Machines do without.
    ///
    /// # Errors
    /// See the trait.
    fn hint(&mut self, _text: &str) -> Result<()> {
        Ok(())
    }

    /// Takes how much of a slow command is done, for a person who waits. Machines do without.
    fn progress(&mut self, _done: u64, _total: u64) {}

    /// Closes what a dcmd began and, because it failed, did not end.
    ///
    /// # Errors
    /// See the trait.
    fn abandon(&mut self) -> Result<()> {
        Ok(())
    }

    /// The radix in which people see numbers from now on, 2 to 16.
    fn set_radix(&mut self, _radix: u32) {}

    /// The columns at which people see lines broken between words, from now on; `None` breaks none.
    fn set_wrap(&mut self, _columns: Option<usize>) {}

    /// A line begins that a user typed: what it shows is to come one screen at a time if `paged`.
    fn begin_line(&mut self, _paged: bool) {}

    /// The variables that are bound while the dcmd that comes next runs; what it puts into a pipe
    /// keeps them.
    fn set_bindings(&mut self, _bindings: &Bindings) {}

    /// Ends the output of one command: whatever was buffered is shown, and the next table has
    /// its header again.
    ///
    /// # Errors
    /// See the trait.
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}
