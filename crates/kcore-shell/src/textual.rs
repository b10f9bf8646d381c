//! Values from text, by MDB's rule for pipes: each line is a bare expression.

use kcore_dcmd::{Bindings, DcmdError, Dot, Piped, Result, Shell};
use kcore_render::{MAX_PIPE_ITEMS, PipeItem};

use crate::error::SyntaxError;
use crate::lexer::Scanner;
use crate::session::Session;
use crate::{eval, expr};

impl Session {
    /// The values that came out of a stage: of text, those of its lines.
    ///
    /// # Errors
    /// A line that is no expression or has no value, more values than a pipe may have, ctrl-C.
    pub(crate) fn values(&self, items: Vec<PipeItem>) -> Result<Vec<Piped>> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            match item {
                PipeItem::Value(value) => values.push(value),
                PipeItem::Expressions { text, bindings } => {
                    self.add_values(&text, &bindings, &mut values)?;
                }
            }
        }
        Ok(values)
    }

    /// The values of text, all with the same bindings; a semicolon ends an expression too.
    ///
    /// # Errors
    /// As [`Session::values`].
    pub(crate) fn values_of_text(&self, text: &str, bindings: &Bindings) -> Result<Vec<Piped>> {
        let mut values = Vec::new();
        self.add_values(text, bindings, &mut values)?;
        Ok(values)
    }

    fn add_values(&self, text: &str, bindings: &Bindings, values: &mut Vec<Piped>) -> Result<()> {
        let mut scanner = Scanner::new(text);
        loop {
            scanner.skip_to_statement();
            if scanner.peek().is_none() {
                return Ok(());
            }
            if self.interrupted() {
                return Err(DcmdError::Interrupted);
            }
            if values.len() >= MAX_PIPE_ITEMS {
                let message = format!("more than {MAX_PIPE_ITEMS} values in a pipe");
                return Err(DcmdError::failed(message));
            }
            let dot = Dot::Number(self.next_value(&mut scanner)?);
            values.push(Piped { dot, bindings: bindings.clone() });
        }
    }

    /// The value of the expression that comes next, which must stand alone.
    fn next_value(&self, scanner: &mut Scanner<'_>) -> Result<u64> {
        let parsed = expr::parse(scanner, self.reading().within()).and_then(|expr| {
            scanner.skip_blanks();
            if scanner.at_end() { Ok(expr) } else { Err(scanner.unexpected()) }
        });
        let expr = parsed.map_err(|error: SyntaxError| DcmdError::failed(error.to_string()))?;
        eval::evaluate(&expr, self)
    }
}
