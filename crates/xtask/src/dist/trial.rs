//! Whether a package works: it is installed below an empty root, and its kcore opens a core there.
//!
//! No C library, no shell and no `/proc` is in that root. What runs there runs on every distribution.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use super::{
    contents::{self, PLACES},
    package::Package,
    release::Release,
    root::as_root,
    tools,
};
use crate::cargo;

/// The folder of the core, from the root of the tree, and its name in the empty root.
const CORE: &str = "testdata/workers/x86_64";
const CORE_THERE: &str = "cores";
/// What kcore has to say of that core.
const FACTS: &[&str] = &[
    "process terminated by SIGSEGV",
    "not mapped (SEGV_MAPERR), reading, in parse_header+0x1d",
    "pthread_cond_wait+0x1e8",
];

/// Installs a package and runs its kcore, plain and with `--untrusted`.
pub fn run(package: &Package, release: &Release) -> Result<()> {
    let name = package.name();
    let root = release.empty_folder("root")?;
    (package.kind.install)(package, &root)?;
    check_files(package, &root)?;
    copy_core(&root)?;
    let Some(emulator) = emulator(package, &root)? else {
        println!("{name}: installed, and not run: there is no {}", package.target.emulator);
        return Ok(());
    };
    for options in [&[][..], &["--untrusted"]] {
        let mut kcore = in_root(&root, &emulator, package)?;
        kcore.args(options).args(["-c", "::status; ::stacks"]);
        check_facts(&cargo::output(kcore.arg(format!("/{CORE_THERE}/core.zst")))?)?;
    }
    println!("{name}: installed, and opens a core in an empty root");
    Ok(())
}

fn check_files(package: &Package, root: &Path) -> Result<()> {
    for place in PLACES {
        let path = root.join((package.kind.place)(place));
        let bytes = fs::metadata(&path).with_context(|| path.display().to_string())?.len();
        if bytes == 0 {
            bail!("{} is empty", path.display());
        }
    }
    Ok(())
}

/// The core is compressed, so there has to be a folder that it is unpacked into.
fn copy_core(root: &Path) -> Result<()> {
    fs::create_dir_all(root.join("tmp"))?;
    let folder = root.join(CORE_THERE);
    fs::create_dir_all(&folder)?;
    for name in ["core.zst", "workers"] {
        let from = gen_cores::workspace_dir().join(CORE).join(name);
        fs::copy(&from, folder.join(name)).with_context(|| from.display().to_string())?;
    }
    Ok(())
}

/// The words before a program of the package's machine; `None` where it cannot run.
fn emulator(package: &Package, root: &Path) -> Result<Option<Vec<PathBuf>>> {
    if package.target.runs_here() {
        return Ok(Some(Vec::new()));
    }
    let Some(emulator) = tools::find(package.target.emulator) else { return Ok(None) };
    fs::copy(&emulator, root.join("emulator"))?;
    Ok(Some(vec![PathBuf::from("/emulator")]))
}

fn in_root(root: &Path, emulator: &[PathBuf], package: &Package) -> Result<Command> {
    let program = (package.kind.place)(contents::program());
    let mut command = as_root("chroot")?;
    command.arg(root).args(emulator).arg(Path::new("/").join(program));
    Ok(command)
}

fn check_facts(said: &str) -> Result<()> {
    match FACTS.iter().find(|fact| !said.contains(**fact)) {
        Some(missing) => bail!("kcore did not say \"{missing}\", but:\n{said}"),
        None => Ok(()),
    }
}
