//! Printers that users declare: the files of their folders, and those that they load.

use std::cell::OnceCell;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kcore::{DeclaredPrinters, PrinterFile, check_own};
use kcore_dcmd::{DcmdError, Result, Shell, io_reason, user_file};

use crate::limits;
use crate::session::Session;

impl Session {
    /// The printers that come with kcore and those of the user's folders. A file that cannot be read is a trouble, and hides no other.
    pub(crate) fn found_printers(&self) -> DeclaredPrinters {
        let mut printers = DeclaredPrinters::shipped();
        let mut folders = self.settings.printer_path.clone();
        folders.retain(|folder| match check_folder(folder) {
            Ok(()) => true,
            Err(why) => {
                printers.note(format!("no printers of {} are loaded: {why}", folder.display()));
                false
            }
        });
        for path in folders.iter().flat_map(|folder| printer_files(folder)) {
            match self.read_printers(&path, true) {
                Ok(file) => printers.load(Arc::new(file)),
                Err(error) => printers.note(error.to_string()),
            }
        }
        printers
    }

    /// Changes a copy of the printers, which then takes their place: values that are being shown keep the old ones.
    pub(crate) fn change_printers<T>(
        &mut self,
        change: impl FnOnce(&mut DeclaredPrinters) -> T,
    ) -> T {
        let mut printers = DeclaredPrinters::clone(Shell::printers(self));
        let answer = change(&mut printers);
        self.printers = OnceCell::from(Arc::new(printers));
        answer
    }

    /// A file of printers. One that kcore finds itself must be nobody else's.
    pub(crate) fn read_printers(&self, path: &Path, must_be_own: bool) -> Result<PrinterFile> {
        let failed = |why: &dyn std::fmt::Display| {
            DcmdError::failed(format!("failed to load {}: {why}", path.display()))
        };
        let unreadable = |error: io::Error| failed(&io_reason(&error));
        let file = user_file::open(&self.core, path).map_err(unreadable)?;
        if must_be_own {
            check_own(&file).map_err(|error| failed(&error))?;
        }
        let mut bytes = Vec::new();
        let most = limits::PRINTERS;
        file.take(most + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > most {
            return Err(failed(&format!("it is longer than {most} bytes")));
        }
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let before = bytes.iter().take(error.valid_up_to());
            let line = before.filter(|byte| **byte == b'\n').count().saturating_add(1);
            failed(&format!("line {line}: a byte that is no text in UTF-8"))
        })?;
        let file = PrinterFile::parse(&path.to_string_lossy(), text);
        let file = file.map_err(|why| failed(&why))?;
        self.check_declared(&file).map_err(|why| failed(&why))?;
        Ok(file)
    }
}

/// Whether nobody else can put files into a folder. One that cannot be opened holds none.
fn check_folder(folder: &Path) -> std::result::Result<(), String> {
    match fs::File::open(folder) {
        Ok(folder) => check_own(&folder).map_err(|why| why.to_string()),
        Err(_) => Ok(()),
    }
}

/// The files of a folder that hold printers, by name.
fn printer_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_one = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "kcore" || extension == "natvis")
    };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(is_one).collect();
    files.sort();
    files
}
