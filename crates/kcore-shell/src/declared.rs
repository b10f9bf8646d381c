//! Dcmds of files: whether what they run may run, and with which arguments it does.

use kcore::{DcmdAction, PrinterExpression, PrinterFile, PrinterFileError};
use kcore_dcmd::{Dcmd, DcmdError, Result, Shell, Sink, Spec, spec_of};

use crate::error::SyntaxError;
use crate::parse::{Parser, Stage, Statement, Verb};
use crate::reading::{Names, Reading};
use crate::session::{Session, Source};

/// Signs that would begin another command, or end a word that an argument is a part of.
const REFUSED: &[char] = &['|', ';', '!', '"', '\'', '\n', '\r'];

/// What stands for an argument while a pipeline is checked: a number, and a part of a name.
const PLACEHOLDER: &str = "1";

/// What names mean while a file is read: the dcmds of files, which are then being read, are none yet.
struct BuiltInNames<'s>(&'s Session);

impl Names for BuiltInNames<'_> {
    fn is_symbol(&self, name: &str) -> bool {
        self.0.is_symbol(name)
    }

    fn is_variable(&self, name: &str) -> bool {
        self.0.is_variable(name)
    }

    fn is_dcmd(&self, spelling: &str) -> bool {
        self.0.table.get(spelling).is_some()
    }
}

impl Session {
    /// The dcmd of that spelling: one of kcore, or what runs those of files, with its spec.
    pub(crate) fn dcmd(&self, spelling: &str) -> Option<(&'static dyn Dcmd, Spec)> {
        if let Some(dcmd) = self.table.get(spelling) {
            return Some((dcmd, dcmd.spec()));
        }
        let name = spelling.strip_prefix("::")?;
        let runner = self.options.declared?;
        let (_, declared) = self.printers().dcmd(name)?;
        Some((runner, spec_of(declared)))
    }

    /// Whether nothing in a file has the name of something of kcore, and all its pipelines may run.
    pub(crate) fn check_declared(
        &self,
        file: &PrinterFile,
    ) -> std::result::Result<(), PrinterFileError> {
        for walker in &file.walkers {
            if self.options.walkers.iter().any(|own| own.spec().name == &*walker.name) {
                let why = format!("kcore has a walker {}", walker.name);
                return Err(PrinterFileError { line: walker.line, column: walker.column, why });
            }
        }
        for dcmd in &file.dcmds {
            if self.table.get(&format!("::{}", dcmd.name)).is_some() {
                let why = format!("kcore has a dcmd ::{}", dcmd.name);
                return Err(PrinterFileError { line: dcmd.line, column: dcmd.column, why });
            }
            if let DcmdAction::Pipeline(pipeline) = &dcmd.action {
                self.check_pipeline(pipeline)?;
            }
        }
        Ok(())
    }

    fn check_pipeline(
        &self,
        pipeline: &PrinterExpression,
    ) -> std::result::Result<(), PrinterFileError> {
        let arguments = vec![PLACEHOLDER.to_owned(); 9];
        let text = with_arguments(&pipeline.text, &arguments);
        let PrinterExpression { line, column, .. } = *pipeline;
        self.only_statement(&text).map(drop).map_err(|(at, why)| {
            // Before the first argument, the text is that of the file.
            let before = pipeline.text.find('$').unwrap_or(usize::MAX);
            let column = if at < before { column.saturating_add(at) } else { column };
            PrinterFileError { line, column, why }
        })
    }

    /// The one statement of a text, all of which may run in a dcmd of a file. An error has its column.
    fn only_statement(&self, text: &str) -> std::result::Result<Statement, (usize, String)> {
        let mut parser = Parser::new(text);
        let place = |parser: &Parser<'_>, error: &SyntaxError| {
            (parser.place_of(error).1, error.to_string())
        };
        let names = BuiltInNames(self);
        let reading = Reading::new(self.radix, &names);
        let statement = parser.statement(reading);
        let statement = statement.map_err(|error| place(&parser, &error))?;
        let statement = statement.ok_or_else(|| (0, "there is no command".to_owned()))?;
        match parser.statement(reading) {
            Ok(None) => {}
            _ => return Err((statement.text.len(), "one pipeline is expected".to_owned())),
        }
        if statement.pipeline.is_empty() {
            return Err((0, "there is no command".to_owned()));
        }
        let refused = statement.pipeline.iter().find_map(|stage| self.why_refused(stage));
        refused.map_or(Ok(statement), |(word, why)| Err((text.find(&word).unwrap_or(0), why)))
    }

    /// Why a stage may not run in a dcmd of a file, after the word that is refused.
    fn why_refused(&self, stage: &Stage) -> Option<(String, String)> {
        match stage {
            Stage::Shell(_) => Some(("!".into(), "a file runs no programs".into())),
            Stage::Command(command) => match &command.verb {
                Verb::Assign { .. } => Some((">".into(), "a file sets no variables".into())),
                Verb::Dcmd(spelling) => {
                    let refused = match self.table.get(spelling) {
                        Some(dcmd) if dcmd.spec().is_for_users => "cannot stand in a file",
                        Some(_) => return None,
                        None => "is no dcmd of kcore",
                    };
                    Some((spelling.clone(), format!("{spelling} {refused}")))
                }
            },
        }
    }

    /// See [`Shell::run_declared`].
    pub(crate) fn run_pipeline(
        &mut self,
        pipeline: &PrinterExpression,
        arguments: &[String],
        pipe_out: bool,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        if let Some(refused) = arguments.iter().find(|it| it.contains(REFUSED) || it.contains("//"))
        {
            let why = "an argument holds no |, ;, !, //, quotes or ends of lines";
            return Err(DcmdError::usage(format!("{refused}: {why}")));
        }
        let text = with_arguments(&pipeline.text, arguments);
        let statement = self.only_statement(&text).map_err(|(_, why)| DcmdError::failed(why))?;
        self.nested(pipe_out, |session| session.run(&statement, Source::Text, sink))
    }
}

/// A text with arguments in the places of `$1` to `$9`.
fn with_arguments(text: &str, arguments: &[String]) -> String {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        whole.push_str(before);
        let digit = behind.chars().next().and_then(|digit| digit.to_digit(10));
        let argument = digit.and_then(|digit| arguments.get((digit as usize).checked_sub(1)?));
        match argument {
            Some(argument) => whole.push_str(argument),
            None => whole.push('$'),
        }
        rest = if argument.is_some() { behind.get(1..).unwrap_or_default() } else { behind };
    }
    whole + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_take_their_places() {
        let arguments = ["a".to_owned(), "b$1".to_owned()];
        let with = |text: &str| with_arguments(text, &arguments);
        assert_eq!(with("::x $1 $2"), "::x a b$1", "once");
        assert_eq!(with("$[1] $C $$1 $3 $"), "$[1] $C $a $3 $");
    }
}
