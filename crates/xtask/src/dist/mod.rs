//! `dist`: the packages of a release, for each machine that kcore is made for.
//!
//! The program is linked statically with musl, so that one file runs on every distribution. Each package is made by
//! the tool of its kind: `tar`, `dpkg-deb`, `rpmbuild`. A program that is packed twice gives the same bytes.

mod binary;
mod contents;
mod deb;
mod notices;
mod options;
mod package;
mod release;
mod root;
mod rpm;
mod tarball;
mod target;
mod tools;
mod trial;

use std::{fs, path::Path};

use anyhow::{Context, Result};

use crate::cargo;
use contents::Contents;
use options::Options;
use package::{KINDS, Package};
use release::Release;
use target::Target;

/// Makes the packages and their checksums; with `--test`, installs each and runs it.
pub fn run(args: &[String]) -> Result<()> {
    let options = Options::of(args)?;
    tools::check()?;
    let release = Release::of_the_last_commit(options.out)?;
    let texts = contents::write_texts(&release)?;
    let mut packages = Vec::new();
    for target in options.targets {
        let contents = Contents { texts: texts.clone(), program: binary::build(target, &release)? };
        packages.extend(make(target, &contents, &release)?);
    }
    write_sums(&release.out, &packages)?;
    match options.is_test {
        true => packages.iter().try_for_each(|package| trial::run(package, &release)),
        false => Ok(()),
    }
}

/// One package of each kind.
fn make(target: &'static Target, contents: &Contents, release: &Release) -> Result<Vec<Package>> {
    let packages = KINDS.iter().map(|kind| Package::new(kind, target, release));
    packages.map(|package| package.make(contents, release).map(|()| package)).collect()
}

/// `SHA256SUMS`, which `sha256sum --check` reads.
fn write_sums(out: &Path, packages: &[Package]) -> Result<()> {
    let mut sums = cargo::command("sha256sum", &[]);
    sums.args(packages.iter().filter_map(|package| package.file.file_name())).current_dir(out);
    let text = cargo::output(&mut sums)?;
    print!("{text}");
    fs::write(out.join("SHA256SUMS"), text).context("SHA256SUMS")
}
