//! What `::dcmds`, `::walkers` and `::formats` share: sorted names with a line each, and a regular
//! expression that selects some.

use kcore_dcmd::{Arg, Args, DcmdError, Opt, Result};
use regex::Regex;

/// The option of a listing.
pub const OPTIONS: &[Opt] =
    &[Opt { flag: 'n', value: None, help: "match the expression only against names" }];

/// Longest expression that kcore accepts, in bytes.
const MAX_EXPRESSION: usize = 4096;

/// Which entries of a listing are wanted.
pub struct Filter {
    expression: Option<Regex>,
    names_only: bool,
}

impl Filter {
    /// Reads the operand and `-n`.
    ///
    /// # Errors
    /// If the operand is not a regular expression.
    pub fn new(args: &Args) -> Result<Self> {
        let expression = args.first().map(Arg::to_text).map(|text| compile(&text)).transpose()?;
        Ok(Self { expression, names_only: args.has('n') })
    }

    /// Whether an entry of this name and summary is wanted.
    pub fn wants(&self, name: &str, summary: &str) -> bool {
        let Some(expression) = &self.expression else { return true };
        expression.is_match(name) || (!self.names_only && expression.is_match(summary))
    }
}

fn compile(text: &str) -> Result<Regex> {
    if text.len() > MAX_EXPRESSION {
        return Err(DcmdError::failed(format!(
            "regular expression of {} bytesis too long: at most {MAX_EXPRESSION}",
            text.len()
        )));
    }
    // Errors of the regex crate draw a picture; its last line says what is wrong.
    Regex::new(text).map_err(|error| {
        let text_of_error = error.to_string();
        let reason = text_of_error.lines().last().unwrap_or_default();
        let reason = reason.strip_prefix("error: ").unwrap_or(reason);
        DcmdError::failed(format!("failed to compile regular expression '{text}': {reason}"))
    })
}
