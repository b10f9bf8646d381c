//! The kinds of packages.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{
    contents::{Contents, PackagedFile},
    deb,
    release::Release,
    rpm, tarball,
    target::Target,
    tools::Tool,
};

/// A line that tells what kcore is.
pub const SUMMARY: &str = "Postmortem debugger for core dumps of Linux processes";
/// The same at length.
pub const DESCRIPTION: &str = "\
kcore opens the core dump of a Linux process and tells why it died and where
every thread stood. It also takes snapshots of live processes. Commands are
typed in the language of illumos MDB, and a script gets the same facts as JSON.";

/// A way to bring kcore to a machine.
pub struct Kind {
    /// What makes such a package.
    pub tool: Tool,
    /// The name of a package's file.
    pub file_name: fn(&Target, &Release) -> String,
    /// Where a file stands once the package is installed, from the root.
    pub place: fn(&PackagedFile) -> PathBuf,
    /// Writes the package.
    pub make: fn(&Package, &Contents, &Release) -> Result<()>,
    /// Installs the package below an empty root.
    pub install: fn(&Package, root: &Path) -> Result<()>,
}

/// All kinds.
pub const KINDS: &[Kind] = &[tarball::KIND, deb::KIND, rpm::KIND];

/// A package that was made or is to be made.
pub struct Package {
    /// How it is made and installed.
    pub kind: &'static Kind,
    /// The machine that it is for.
    pub target: &'static Target,
    /// Its file.
    pub file: PathBuf,
}

impl Package {
    /// The package of a release, which is not made yet.
    pub fn new(kind: &'static Kind, target: &'static Target, release: &Release) -> Self {
        Self { kind, target, file: release.out.join((kind.file_name)(target, release)) }
    }

    /// The name of its file.
    pub fn name(&self) -> String {
        self.file.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Writes it.
    pub fn make(&self, contents: &Contents, release: &Release) -> Result<()> {
        (self.kind.make)(self, contents, release)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt, thread, time::Duration};

    use super::*;
    use crate::dist::{contents::PLACES, target::TARGETS, tools};

    /// Files in the place of those that a build would make.
    fn contents(folder: &Path) -> Contents {
        for place in PLACES {
            fs::write(folder.join(place.name), place.installed).unwrap();
        }
        let program = folder.join("kcore");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        Contents { texts: folder.to_owned(), program }
    }

    /// The bytes of a package that is made now, in a folder of its own.
    fn made(kind: &'static Kind, target: &'static Target) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let release = Release {
            version: "1.2.3-rc4".to_owned(),
            epoch: "1700000000".to_owned(),
            out: folder.path().to_owned(),
            work: folder.path().join("work"),
        };
        let package = Package::new(kind, target, &release);
        package.make(&contents(folder.path()), &release).unwrap();
        fs::read(package.file).unwrap()
    }

    #[test]
    fn the_same_files_give_the_same_bytes_at_another_time_and_in_another_folder() {
        for kind in KINDS {
            if tools::find(kind.tool.command).is_none() {
                gen_cores::not_tested(format!("there is no {}", kind.tool.command));
                continue;
            }
            for target in TARGETS {
                let first = made(kind, target);
                thread::sleep(Duration::from_secs(1));
                assert!(first == made(kind, target), "{} {}", kind.tool.command, target.triple);
            }
        }
    }
}
