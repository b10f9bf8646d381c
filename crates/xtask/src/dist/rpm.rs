//! A package of Fedora, RHEL, SUSE and their like.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use super::{
    contents::{Contents, PLACES, PackagedFile},
    package::{DESCRIPTION, Kind, Package, SUMMARY},
    release::Release,
    root::as_root,
    target::Target,
    tools::Tool,
};
use crate::cargo;

/// What rpmbuild makes.
pub const KIND: Kind = Kind {
    tool: Tool { command: "rpmbuild", install: "apt-get install rpm" },
    file_name,
    place,
    make,
    install,
};

/// The files are there already, so nothing is built, stripped or searched for what it needs. RHEL 7 unpacks xz, and
/// not zstd. The rest keeps the time and the machine out of the package.
const SETTINGS: &[&str] = &[
    "debug_package %{nil}",
    "__os_install_post %{nil}",
    "_build_id_links none",
    "_binary_payload w9.xzdio",
    "_buildhost localhost",
    "use_source_date_epoch_as_buildtime 1",
    "clamp_mtime_to_source_date_epoch 1",
];

fn file_name(target: &Target, release: &Release) -> String {
    format!("kcore-{}-1.{}.rpm", release.package_version(), target.processor)
}

fn place(place: &PackagedFile) -> PathBuf {
    PathBuf::from(place.installed)
}

fn make(package: &Package, contents: &Contents, release: &Release) -> Result<()> {
    let folder = release.empty_folder("rpm")?;
    let files = folder.join("files");
    contents.lay(&files, place)?;
    let spec = folder.join("kcore.spec");
    fs::write(&spec, text(&files, release)).context("kcore.spec")?;
    let machine = format!("{}-linux", package.target.processor);
    let mut build = release.command("rpmbuild", &["-bb", "--quiet", "--target", &machine]);
    for setting in SETTINGS {
        build.args(["--define", setting]);
    }
    build.arg("--define").arg(format!("_topdir {}", folder.display()));
    build.arg("--define").arg(format!("_rpmdir {}", release.out.display()));
    build.arg("--define").arg(format!("_rpmfilename {}", package.name()));
    cargo::run(build.arg(&spec))
}

/// The recipe that rpmbuild follows.
fn text(files: &Path, release: &Release) -> String {
    let version = release.package_version();
    let files = files.display();
    let listed: Vec<String> =
        PLACES.iter().map(|place| format!("/{}\n", place.installed)).collect();
    format!(
        "Name: kcore\nVersion: {version}\nRelease: 1\nSummary: {SUMMARY}\n\
         License: MIT OR Apache-2.0\nAutoReqProv: no\n\
         %description\n{DESCRIPTION}\n\
         %install\ncp -a {files}/. %{{buildroot}}/\n\
         %files\n%dir /usr/share/doc/kcore\n{}",
        listed.concat(),
    )
}

fn install(package: &Package, root: &Path) -> Result<()> {
    let mut rpm = as_root("rpm")?;
    rpm.args(["--install", "--nodeps", "--ignorearch", "--root"]).arg(root);
    cargo::run(rpm.arg(&package.file))
}
