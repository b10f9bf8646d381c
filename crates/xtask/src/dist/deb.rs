//! A package of Debian, Ubuntu and their like.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use super::{
    contents::{Contents, PackagedFile},
    package::{DESCRIPTION, Kind, Package, SUMMARY},
    release::Release,
    root::as_root,
    target::Target,
    tools::Tool,
};
use crate::cargo;

const MAINTAINER: &str = "The kcore developers";

/// What dpkg-deb makes.
pub const KIND: Kind = Kind {
    tool: Tool { command: "dpkg-deb", install: "apt-get install dpkg" },
    file_name,
    place,
    make,
    install,
};

fn file_name(target: &Target, release: &Release) -> String {
    format!("kcore_{}_{}.deb", release.package_version(), target.debian)
}

/// Debian's zsh has a folder of its own for the completions of packages.
fn place(place: &PackagedFile) -> PathBuf {
    PathBuf::from(place.installed.replace("site-functions", "vendor-completions"))
}

fn make(package: &Package, contents: &Contents, release: &Release) -> Result<()> {
    let folder = release.empty_folder("deb")?;
    let control = folder.join("DEBIAN/control");
    fs::create_dir_all(folder.join("DEBIAN"))?;
    fs::write(&control, text(package.target, release)).context("DEBIAN/control")?;
    contents.lay(&folder, place)?;
    let mut build = release.command("dpkg-deb", &["--root-owner-group", "-Zxz", "--build"]);
    cargo::run(build.arg(&folder).arg(&package.file))
}

/// What the package says of itself.
fn text(target: &Target, release: &Release) -> String {
    format!(
        "Package: kcore\nVersion: {}\nArchitecture: {}\nMaintainer: {MAINTAINER}\n\
         Section: devel\nPriority: optional\nDescription: {SUMMARY}\n {}\n",
        release.package_version(),
        target.debian,
        DESCRIPTION.replace('\n', "\n "),
    )
}

/// An empty root has none of dpkg's own files yet.
fn install(package: &Package, root: &Path) -> Result<()> {
    let own = root.join("var/lib/dpkg");
    for folder in ["info", "updates", "triggers"] {
        fs::create_dir_all(own.join(folder))?;
    }
    fs::write(own.join("status"), "")?;
    let mut dpkg = as_root("dpkg")?;
    dpkg.arg("--root").arg(root).args(["--force-architecture", "--install"]);
    cargo::run(dpkg.arg(&package.file))
}
