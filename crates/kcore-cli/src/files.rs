//! Where the files of a live process are, for commands that take a process alone.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueHint};
use kcore::OpenOptions;

use crate::finders::FinderArgs;

/// Where the files of a live process are.
#[derive(Args, Clone, Debug)]
pub(crate) struct FileArgs {
    /// The executable, if the process's own record of it is gone
    #[arg(short, long, value_name = "EXE", value_hint = ValueHint::FilePath)]
    exe: Option<PathBuf>,

    /// Take the files of the process from under this directory, and none of this machine
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    sysroot: Option<PathBuf>,

    /// With --sysroot or --layer: also look at files of this machine, for what is not there
    #[arg(long)]
    host_files: bool,

    /// One more directory in the build-id layout; may be repeated
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    debug_dir: Vec<PathBuf>,

    #[command(flatten)]
    finders: FinderArgs,
}

impl FileArgs {
    /// As the library takes it.
    ///
    /// # Errors
    /// When a named file or folder is not there, or nobody can be asked for files.
    pub(crate) fn options(&self) -> Result<OpenOptions> {
        self.finders.apply(OpenOptions {
            exe: self.exe.clone(),
            sysroot: self.sysroot.clone(),
            host_files: self.host_files,
            debug_dirs: self.debug_dir.clone(),
            ..OpenOptions::default()
        })
    }
}
