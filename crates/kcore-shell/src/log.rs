//! The log of a session: a copy of what is typed and shown, in a file.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use kcore::Core;
use kcore_dcmd::{DcmdError, LogRequest, LogState, Result, Sink, io_reason, user_file};
use kcore_render::{Format, TeeSink};

use crate::session::Session;

/// The file that was selected, and whether it is written to.
#[derive(Debug, Default)]
pub(crate) struct Log {
    file: Option<(PathBuf, File)>,
    enabled: bool,
}

impl Log {
    /// What the user asked for.
    ///
    /// # Errors
    /// When there is nothing to stop or to go on with, or the file cannot be written.
    pub(crate) fn ask(&mut self, core: &Core, request: LogRequest<'_>) -> Result<LogState> {
        match request {
            LogRequest::Show => {}
            LogRequest::Append(path) => {
                self.file = Some((path.to_owned(), append(core, path)?));
                self.enabled = true;
            }
            LogRequest::Resume if self.file.is_none() => {
                return Err(DcmdError::failed("no log file has been selected"));
            }
            LogRequest::Resume => self.enabled = true,
            LogRequest::Stop if !self.enabled => {
                return Err(DcmdError::failed("logging is already disabled"));
            }
            LogRequest::Stop => self.enabled = false,
        }
        Ok(LogState {
            path: self.file.as_ref().map(|(path, _)| path.clone()),
            enabled: self.enabled,
        })
    }

    /// Writes what was typed. A file that is full is reported with what is shown.
    fn write(&self, line: &str) {
        if let Some((_, file)) = self.file.as_ref().filter(|_| self.enabled) {
            let mut file: &File = file;
            let _ = writeln!(file, "{line}");
        }
    }

    /// Takes what is shown; `None` when nothing is logged.
    fn sink(&self, format: Format) -> Option<Box<dyn Sink>> {
        let (_, file) = self.file.as_ref().filter(|_| self.enabled)?;
        let (results, errors) = (file.try_clone().ok()?, file.try_clone().ok()?);
        Some(format.plain_sink(results, errors))
    }
}

fn append(core: &Core, path: &Path) -> Result<File> {
    user_file::append(core, path).map_err(|error| {
        DcmdError::failed(format!("failed to open {}: {}", path.display(), io_reason(&error)))
    })
}

impl Session {
    /// Logs a line as it was typed.
    pub(crate) fn log_input(&self, text: &str) {
        let prompt = &self.settings.prompt;
        text.lines().for_each(|line| self.log.write(&format!("{prompt}{line}")));
    }

    /// Runs something with a copy of what it shows in the log. Text within text is logged as part of
    /// what runs it.
    pub(crate) fn logged<T>(
        &mut self,
        sink: &mut dyn Sink,
        run: impl FnOnce(&mut Self, &mut dyn Sink) -> T,
    ) -> T {
        let copy = if self.depth == 0 { self.log.sink(self.options.format) } else { None };
        match copy {
            Some(copy) => run(self, &mut TeeSink::new(sink, copy, "::log")),
            None => run(self, sink),
        }
    }
}
