//! The static program.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::{release::Release, target::Target, tools::Tool};
use crate::cargo;

/// It brings a C compiler for every machine, which the decompressors and the disassembler need.
pub const TOOL: Tool = Tool { command: "cargo-zigbuild", install: "pip install cargo-zigbuild" };

/// Builds kcore for a machine; the answer is the path of the program.
pub fn build(target: &Target, release: &Release) -> Result<PathBuf> {
    let args = ["zigbuild", "--release", "--locked", "-p", "kcore-cli", "--target", target.triple];
    let mut build = release.command(env!("CARGO"), &args);
    build.env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    build.env("RUSTFLAGS", renamed("--remap-path-prefix")?);
    build.env("CFLAGS", renamed("-ffile-prefix-map")?);
    cargo::run(&mut build)?;
    Ok(target_dir().join(target.triple).join("release/kcore"))
}

/// Options that keep the folders of this machine out of the program: of panics, and of assertions in C.
fn renamed(option: &str) -> Result<String> {
    let workspace = gen_cores::workspace_dir();
    let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = cargo_home
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))
        .context("neither CARGO_HOME nor HOME is set")?;
    let names = [(workspace, "/kcore"), (home, "/cargo")];
    let options = names.map(|(path, name)| format!("{option}={}={name}", path.display()));
    Ok(options.join(" "))
}

fn target_dir() -> PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    named.unwrap_or_else(|| gen_cores::workspace_dir().join("target"))
}
