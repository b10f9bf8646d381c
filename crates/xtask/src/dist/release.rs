//! What all packages of a release have in common.

use std::{fs, path::PathBuf, process::Command};

use anyhow::{Context, Result};

use crate::cargo;

/// A release in the making.
pub struct Release {
    /// Its version, as Cargo has it.
    pub version: String,
    /// The time that all files get, in seconds since 1970: that of the last commit.
    pub epoch: String,
    /// The folder that packages are put into.
    pub out: PathBuf,
    /// A folder for what is made on the way.
    pub work: PathBuf,
}

impl Release {
    /// The release of the last commit. A tree without git tells the time by `SOURCE_DATE_EPOCH`.
    pub fn of_the_last_commit(out: PathBuf) -> Result<Self> {
        let epoch = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(epoch) => epoch,
            Err(_) => cargo::output(&mut cargo::command("git", &["log", "-1", "--format=%ct"]))?,
        };
        fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
        let work = gen_cores::workspace_dir().join("target/dist-work");
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Self { version, epoch: epoch.trim().to_owned(), out, work })
    }

    /// The version as packages of distributions have it: `-` stands before their own number there, and what `~` begins
    /// sorts before the release.
    pub fn package_version(&self) -> String {
        self.version.replace('-', "~")
    }

    /// An empty folder, for one package.
    pub fn empty_folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.work.join(name);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error)?,
            _ => fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?,
        }
        Ok(folder)
    }

    /// A command that takes its idea of the time from the last commit.
    pub fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = cargo::command(program, args);
        command.env("SOURCE_DATE_EPOCH", &self.epoch);
        command
    }
}
