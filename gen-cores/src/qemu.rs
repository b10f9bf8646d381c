//! Cores by qemu's user-mode emulator, which writes one of the program that it runs, not of itself.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::AtPath;
use crate::run::Run;
use crate::variant::Arch;
use crate::{Result, kernel, sparse};

/// Runs the program to its death and leaves the core as `core`.
pub(crate) fn make(run: &Run<'_>, arch: Arch) -> Result<()> {
    let child = run.spawn(&words(run, arch))?;
    kernel::await_death(run, child)?;
    // After its program qemu dies itself of the same signal, and the kernel dumps that.
    while let Some(core) = kernel::find_core(run.dir)? {
        std::fs::remove_file(&core).at(&core)?;
    }
    let core = find_core(run.dir)?.ok_or_else(|| run.error("qemu wrote no core"))?;
    let cross = arch.cross();
    let is_big = cross.is_some_and(|cross| cross.is_big);
    if Some(machine(&core, is_big).at(&core)?) != cross.map(|cross| cross.machine) {
        return Err(run.error(format!("{} is a core of another machine", core.display())));
    }
    let to = run.dir.join("core");
    std::fs::rename(&core, &to).at(&core)?;
    sparse::punch(&to)
}

/// The program under qemu. The filter keeps all of qemu's own memory out of the core that the kernel
/// writes of it, if it does.
fn words(run: &Run<'_>, arch: Arch) -> Vec<String> {
    const SCRIPT: &str = "echo 0 > /proc/self/coredump_filter; exec \"$@\"";
    let mut words: Vec<String> = ["sh", "-c", SCRIPT, "sh"].map(str::to_owned).to_vec();
    words.extend(arch.cross().and_then(|cross| cross.qemu).map(str::to_owned));
    if arch == Arch::Aarch64 {
        words.extend(["-cpu", "max"].map(str::to_owned));
    }
    words.extend(arch.sysroot().into_iter().flat_map(|dir| ["-L".to_owned(), dir.to_owned()]));
    words.extend(run.program());
    words
}

/// The core in a folder: `qemu_<program>_<date>_<pid>.core`.
fn find_core(dir: &Path) -> Result<Option<PathBuf>> {
    for entry in std::fs::read_dir(dir).at(dir)? {
        let entry = entry.at(dir)?;
        if is_qemus(&entry.file_name().to_string_lossy()) {
            return Ok(Some(entry.path()));
        }
    }
    Ok(None)
}

fn is_qemus(name: &str) -> bool {
    name.starts_with("qemu_") && name.ends_with(".core")
}

/// The `e_machine` of an ELF file.
fn machine(path: &Path, is_big: bool) -> std::io::Result<u16> {
    let mut header = [0; 20];
    File::open(path)?.read_exact(&mut header)?;
    let [.., first, second] = header;
    let bytes = [first, second];
    Ok(if is_big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_of_qemu_are_told_by_name() {
        assert!(is_qemus("qemu_leaf_20260102-030405_678.core"));
        assert!(!is_qemus("core") && !is_qemus("core.678") && !is_qemus("qemu_leaf"));
    }

    #[test]
    fn the_machine_stands_in_the_header() {
        let own = std::env::current_exe().unwrap();
        let wanted = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
        assert_eq!(machine(&own, false).unwrap(), wanted);
    }
}
