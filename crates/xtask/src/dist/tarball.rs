//! An archive that is unpacked anywhere.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{
    contents::{Contents, PackagedFile},
    package::{Kind, Package},
    release::Release,
    target::Target,
    tools::Tool,
};
use crate::cargo;

/// What tar makes.
pub const KIND: Kind = Kind {
    tool: Tool { command: "tar", install: "apt-get install tar" },
    file_name,
    place,
    make,
    install,
};

/// Its one folder, and what stands before `.tar.gz`.
fn stem(target: &Target, release: &Release) -> String {
    format!("kcore-{}-{}", release.version, target.triple)
}

fn file_name(target: &Target, release: &Release) -> String {
    format!("{}.tar.gz", stem(target, release))
}

fn place(place: &PackagedFile) -> PathBuf {
    PathBuf::from(place.unpacked)
}

fn make(package: &Package, contents: &Contents, release: &Release) -> Result<()> {
    let stem = stem(package.target, release);
    let folder = release.empty_folder("tar.gz")?;
    contents.lay(&folder.join(&stem), place)?;
    let same = ["--sort=name", "--format=ustar", "--owner=0", "--group=0", "--numeric-owner"];
    let mut tar = cargo::command("tar", &["--create", "--use-compress-program=gzip -9n"]);
    tar.args(same).arg(format!("--mtime=@{}", release.epoch)).arg("--file").arg(&package.file);
    cargo::run(tar.arg("--directory").arg(&folder).arg(&stem))
}

fn install(package: &Package, root: &Path) -> Result<()> {
    let mut tar = cargo::command("tar", &["--extract", "--strip-components=1", "--file"]);
    cargo::run(tar.arg(&package.file).arg("--directory").arg(root))
}
