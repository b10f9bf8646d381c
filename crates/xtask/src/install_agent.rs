//! `install-agent`: the agent's libraries, its header, and what pkg-config says of them, in their places.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use crate::cargo::cargo;

/// What the static library needs besides: `rustc --print native-static-libs`.
const PRIVATE: &str = "-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc";
/// The same where the program is linked with -static.
const WHOLE: &str = "-lutil -lrt -lpthread -lm -ldl -lgcc_eh -lc";

/// Where things go, and from where.
struct Plan {
    /// Where they will be used: an absolute path.
    prefix: PathBuf,
    /// Where libraries will be used; below the prefix when it was not said.
    libdir: PathBuf,
    /// What is put before both, for a package that is made elsewhere.
    destdir: PathBuf,
    /// The folder of libraries that were built before; they are built when it was not said.
    from: Option<PathBuf>,
}

/// Builds the agent, if need be, and installs it.
pub fn run(args: &[String]) -> Result<()> {
    let plan = Plan::of(args)?;
    let built = plan.from.clone().map_or_else(build, Ok)?;
    let sources = gen_cores::workspace_dir().join("crates/kcore-agent");
    plan.install_libraries(&built)?;
    let header = "kcore_agent.h";
    plan.copy(
        &sources.join("include").join(header),
        &plan.prefix.join("include").join(header),
        0o644,
    )?;
    for name in ["kcore-agent.pc", "kcore-agent-static.pc", "kcore-agent-whole.pc"] {
        let text = fs::read_to_string(sources.join(format!("{name}.in")))?;
        plan.write(&plan.libdir.join("pkgconfig").join(name), &plan.filled(&text))?;
    }
    Ok(())
}

/// Builds the libraries; the answer is the folder that they are in.
fn build() -> Result<PathBuf> {
    cargo(&["build", "--release", "-p", "kcore-agent"])?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| gen_cores::workspace_dir().join("target"));
    Ok(target.join("release"))
}

impl Plan {
    fn of(args: &[String]) -> Result<Self> {
        let (mut prefix, mut libdir) = (PathBuf::from("/usr/local"), None);
        let (mut destdir, mut from) = (PathBuf::new(), None);
        let mut args = args.iter();
        while let Some(name) = args.next() {
            let mut value =
                || args.next().map(PathBuf::from).with_context(|| format!("{name} what?"));
            match name.as_str() {
                "--prefix" => prefix = value()?,
                "--libdir" => libdir = Some(value()?),
                "--destdir" => destdir = value()?,
                "--from" => from = Some(value()?),
                _ => {
                    bail!("no such option: {name}; there are --prefix, --libdir, --destdir, --from")
                }
            }
        }
        let libdir = libdir.unwrap_or_else(|| prefix.join("lib"));
        for path in [&prefix, &libdir] {
            if !path.is_absolute() {
                bail!("{} is not an absolute path", path.display());
            }
        }
        Ok(Self { prefix, libdir, destdir, from })
    }

    /// The shared library under its whole version, with the names that programs are started and linked by;
    /// and the static one.
    fn install_libraries(&self, built: &Path) -> Result<()> {
        let version = env!("CARGO_PKG_VERSION");
        let major = version.split('.').next().unwrap_or_default();
        let shared = "libkcore_agent.so";
        let whole = format!("{shared}.{version}");
        self.copy(&built.join(shared), &self.libdir.join(&whole), 0o755)?;
        for name in [format!("{shared}.{major}"), shared.to_owned()] {
            self.link(&whole, &self.libdir.join(name))?;
        }
        let archive = "libkcore_agent.a";
        self.copy(&built.join(archive), &self.libdir.join(archive), 0o644)
    }

    fn filled(&self, text: &str) -> String {
        text.replace("@PREFIX@", &self.prefix.to_string_lossy())
            .replace("@LIBDIR@", &self.libdir.to_string_lossy())
            .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
            .replace("@PRIVATE@", PRIVATE)
            .replace("@WHOLE@", WHOLE)
    }

    /// Where a path is written to; its folder is made.
    fn place(&self, path: &Path) -> Result<PathBuf> {
        let below_root = path.strip_prefix("/").unwrap_or(path);
        let place = match self.destdir.as_os_str().is_empty() {
            true => path.to_owned(),
            false => self.destdir.join(below_root),
        };
        let folder = place.parent().context("no folder")?;
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        println!("{}", place.display());
        Ok(place)
    }

    /// A process that has the old file mapped keeps it: it is replaced and not written to.
    fn copy(&self, from: &Path, to: &Path, mode: u32) -> Result<()> {
        let place = self.place(to)?;
        let new = place.with_extension("new");
        fs::copy(from, &new).with_context(|| format!("cannot copy {}", from.display()))?;
        fs::set_permissions(&new, fs::Permissions::from_mode(mode))?;
        fs::rename(&new, &place).with_context(|| format!("cannot write {}", place.display()))
    }

    fn write(&self, to: &Path, text: &str) -> Result<()> {
        let place = self.place(to)?;
        fs::write(&place, text).with_context(|| format!("cannot write {}", place.display()))
    }

    fn link(&self, target: &str, to: &Path) -> Result<()> {
        let place = self.place(to)?;
        match fs::remove_file(&place) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error)?,
            _ => {}
        }
        symlink(target, &place).with_context(|| format!("cannot write {}", place.display()))
    }
}
