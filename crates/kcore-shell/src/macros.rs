//! Text that runs within other text: `::eval`, and macro files by `$<` and `$<<`.

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use kcore::check_own;
use kcore_dcmd::{DcmdError, MacroCall, Result, Shell, Sink, io_reason, user_file};

use crate::limits;
use crate::script::without_interpreter;
use crate::session::{Session, Source};
use crate::status::{Status, Stop};

/// The macro files that run.
#[derive(Debug, Default)]
pub(crate) struct Macros {
    /// How many run within each other.
    depth: usize,
    /// The file that takes the place of the one that ends.
    next: Option<PathBuf>,
}

impl Session {
    /// Runs what runs text, one level deeper. A failure, which was reported, aborts the caller.
    pub(crate) fn nested(
        &mut self,
        pipe_out: bool,
        run: impl FnOnce(&mut Self) -> Status,
    ) -> Result<()> {
        if self.depth >= limits::NESTED {
            let most = limits::NESTED;
            return Err(DcmdError::failed(format!("commands are nested more than {most} deep")));
        }
        let outer = std::mem::replace(&mut self.pipe_out, pipe_out);
        self.depth += 1;
        let status = run(self);
        self.depth -= 1;
        self.pipe_out = outer;
        match status.stop() {
            Some(Stop::Closed) => Err(DcmdError::Closed),
            Some(Stop::Enough) => Err(DcmdError::Enough),
            Some(Stop::Abandoned) => Err(DcmdError::Abandoned),
            Some(Stop::Quit) => Err(DcmdError::Quit),
            Some(Stop::EndOfMacro) => Err(DcmdError::EndOfMacro),
            Some(Stop::Interrupted | Stop::OutOfTime | Stop::EndOfPipeline) => {
                Err(DcmdError::Aborted)
            }
            None if status.failed() => Err(DcmdError::Aborted),
            None => Ok(()),
        }
    }

    /// `$<name`, `$<<name`. Variable `9` keeps the count.
    pub(crate) fn call_macro(
        &mut self,
        name: &str,
        call: MacroCall,
        count: Option<u64>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let path = self.macro_file(name)?;
        self.variables.set("9", count.unwrap_or(1))?;
        if call == MacroCall::Replace && self.macros.depth > 0 {
            self.macros.next = Some(path);
            return Err(DcmdError::EndOfMacro);
        }
        self.nested(false, |session| session.run_files(path, sink))
    }

    /// `$<` without a name: the macro that runs ends, unless the count is 0.
    pub(crate) fn leave_macro(&self, count: Option<u64>) -> Result<()> {
        if self.macros.depth == 0 || count == Some(0) {
            return Ok(());
        }
        Err(DcmdError::EndOfMacro)
    }

    /// Runs a file, and the files that take its place.
    fn run_files(&mut self, path: PathBuf, sink: &mut dyn Sink) -> Status {
        let mut status = Status::DONE;
        let mut next = Some(path);
        self.macros.depth += 1;
        while let Some(path) = next.take().filter(|_| !self.interrupted()) {
            let ended = match self.read_macro(&path) {
                Ok(text) => self.run_file(&path, &text, sink),
                Err(error) => self.fail("$<", &error, sink),
            };
            if ended.stop() == Some(Stop::EndOfMacro) {
                next = self.macros.next.take();
            }
            status = status.then(ended.out_of_macro());
        }
        self.macros.depth -= 1;
        status
    }

    fn run_file(&mut self, path: &Path, text: &str, sink: &mut dyn Sink) -> Status {
        let name = path.to_string_lossy();
        self.run_text(Source::File { name: &name, line: 1 }, without_interpreter(text), sink)
    }

    /// The file that a macro's name means: a path, if it has a slash, or a file of the macro path.
    fn macro_file(&self, name: &str) -> Result<PathBuf> {
        // A bare name is never one of the current folder, where the core may lie: whoever made the core
        // may have put a macro beside it.
        let paths = match name.contains('/') {
            true => vec![PathBuf::from(name)],
            false => self.settings.macro_path.iter().map(|folder| folder.join(name)).collect(),
        };
        paths
            .into_iter()
            .find(|path| path.exists() && !path.is_dir())
            .ok_or_else(|| DcmdError::failed(format!("failed to open {name} (see ::help '$<')")))
    }

    fn read_macro(&self, path: &Path) -> Result<String> {
        let failed = |reason: &dyn fmt::Display| {
            let path = path.display();
            DcmdError::failed(format!("failed to read macro file {path}: {reason}"))
        };
        let unreadable = |error: io::Error| failed(&io_reason(&error));
        let file = user_file::open(&self.core, path).map_err(unreadable)?;
        if self.is_in_macro_path(path) {
            check_own(&file).map_err(|error| failed(&error))?;
        }
        let mut bytes = Vec::new();
        let most = limits::MACRO;
        file.take(most + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > most {
            return Err(failed(&format!("it is longer than {most} bytes")));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether it lies where kcore looks for macros by name: then nobody else may have written it.
    fn is_in_macro_path(&self, path: &Path) -> bool {
        self.settings.macro_path.iter().any(|folder| path.parent() == Some(folder))
    }
}
