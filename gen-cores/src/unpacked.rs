//! Programs out of packages that were unpacked and not installed: with a dynamic linker and libraries of their own.

use std::path::Path;

use crate::command::Line;
use crate::error::AtPath;
use crate::{Error, Result};

/// What the dynamic linker is called in a case's folder: as long as, at most, the name that an
/// interpreter's file asks for, in whose place it is written.
const LINKER: &str = "lib/ld.so";
const SYSTEM_LINKER: &[u8] = b"/lib64/ld-linux-x86-64.so.2\0";

/// Lays a program out of `root` into a case's folder: it asks for a dynamic linker there, with links of all libraries.
pub(crate) fn give(root: &Path, from: &Path, program: &Path) -> Result<String> {
    let done = write(from, program)?;
    let lib = program.with_file_name("lib");
    std::fs::create_dir_all(&lib).at(&lib)?;
    for folder in ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "usr/lib"] {
        link_all(&root.join(folder), &lib)?;
    }
    link(&lib.join("ld-linux-x86-64.so.2"), &lib.join("ld.so"))?;
    Ok(done)
}

/// Writes a program that asks for the dynamic linker of the folder in which it is run.
pub(crate) fn write(from: &Path, program: &Path) -> Result<String> {
    let mut bytes = std::fs::read(from).at(from)?;
    let at = bytes.windows(SYSTEM_LINKER.len()).position(|window| window == SYSTEM_LINKER);
    let wrong = || Error::Toolchain { path: from.to_owned(), reason: "asks for no linker".into() };
    let at = at.ok_or_else(wrong)?;
    bytes[at..at + SYSTEM_LINKER.len()].fill(0);
    bytes[at..at + LINKER.len()].copy_from_slice(LINKER.as_bytes());
    std::fs::write(program, bytes).at(program)?;
    Line::new("chmod").arg("755").path(program).run(Path::new("/"))?;
    Ok(format!("cp {} {} # with {LINKER}", from.display(), program.display()))
}

fn link_all(from: &Path, to: &Path) -> Result<()> {
    let Ok(entries) = std::fs::read_dir(from) else { return Ok(()) };
    for entry in entries {
        let path = entry.at(from)?.path();
        let to = to.join(path.file_name().unwrap_or_default());
        if path.exists() && !to.exists() {
            link(&path, &to)?;
        }
    }
    Ok(())
}

/// Makes a link of a whole path.
pub(crate) fn link(from: &Path, to: &Path) -> Result<()> {
    let whole = from.canonicalize().at(from)?;
    std::os::unix::fs::symlink(whole, to).at(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linker_in_the_folder_fits_in_the_place_of_the_systems() {
        assert!(LINKER.len() < SYSTEM_LINKER.len());
    }
}
