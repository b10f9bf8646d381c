//! Places for files that the program which embeds kcore adds.

use std::{
    fmt::Debug,
    path::{Path, PathBuf},
};

use kcore_elf::BuildId;

use crate::Why;

/// What a file is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileUse {
    /// It is the module itself: an executable or a library.
    Module,
    /// It has the debug information of the module.
    Debug,
}

/// A file that no other place has.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WantedFile<'a> {
    /// The path of the module as the core records it, or where its file was found; `None` where only its build-id is
    /// known.
    pub path: Option<&'a Path>,
    /// The build-id of the module, if it is known.
    pub build_id: Option<&'a BuildId>,
    /// What it is wanted for.
    pub for_use: FileUse,
}

/// A place of files: a store of symbols, the output of a build, a cache of what was fetched.
///
/// It only names paths. They are opened and checked as those of any other place: a file of another build is refused.
/// Where nobody trusts the core, files outside of the folders that were named are refused too.
pub trait FilePlace: Debug + Send + Sync {
    /// Its name, in messages and where [`Tried`](crate::Tried) tells what was looked at.
    fn name(&self) -> &'static str;

    /// The paths at which the file may lie, the likeliest first. It is asked once for each file that is not found
    /// elsewhere, and may take its time.
    fn candidates(&self, wanted: &WantedFile<'_>) -> Vec<PathBuf>;

    /// Why it has no file that it was asked for, for each place of its own that it looked at: an address of a server, a
    /// name in a store.
    fn refusals(&self, wanted: &WantedFile<'_>) -> Vec<(PathBuf, Why)> {
        let _ = wanted;
        Vec::new()
    }
}
