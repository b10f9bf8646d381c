//! The files of which the process is started that takes a profile.

#![allow(unsafe_code)]

use std::{ffi::CString, fs, os::unix::ffi::OsStringExt};

/// What the system puts behind the name of a file that was removed or replaced (proc_pid_maps(5)).
const DELETED: &[u8] = b" (deleted)";

/// The file that has this code.
///
/// # Errors
/// Where it is no library that can be started.
pub fn of_library() -> Result<CString, String> {
    let path = mapped_at(of_library as *const () as usize)?;
    let program = fs::read_link("/proc/self/exe").map(|path| path.into_os_string().into_vec());
    if program.is_ok_and(|program| program == path.as_bytes()) {
        return Err("the agent is a part of the program, and only its shared library can sample from outside".into());
    }
    Ok(path)
}

/// The loader that the program has: the library is started by it, as it need not be a file that may be executed.
///
/// # Errors
/// Where there is none.
pub fn of_loader() -> Result<CString, String> {
    // SAFETY: it takes no pointer.
    match unsafe { libc::getauxval(libc::AT_BASE) } {
        0 => Err("the program was started without a loader".to_owned()),
        base => mapped_at(base as usize),
    }
}

/// The file that is mapped at an address.
fn mapped_at(address: usize) -> Result<CString, String> {
    let maps = fs::read("/proc/self/maps").map_err(|error| error.to_string())?;
    let line = maps.split(|byte| *byte == b'\n').find(|line| has(line, address));
    // Five fields, and the name behind spaces.
    let name = line.and_then(|line| line.get(line.iter().position(|byte| *byte == b'/')?..));
    let name = name.ok_or("the agent's own file is not known")?;
    if name.ends_with(DELETED) {
        let name = String::from_utf8_lossy(name.strip_suffix(DELETED).unwrap_or(name)).into_owned();
        return Err(format!("{name:?} was replaced or removed since the program was started"));
    }
    CString::new(name).map_err(|error| error.to_string())
}

/// Whether a line of the mappings has an address.
fn has(line: &[u8], address: usize) -> bool {
    let range = line.split(|byte| *byte == b' ').next().and_then(|it| std::str::from_utf8(it).ok());
    let parsed = |text: &str| usize::from_str_radix(text, 16).ok();
    let ends = range.and_then(|range| range.split_once('-'));
    ends.and_then(|(start, end)| Some(parsed(start)? <= address && address < parsed(end)?))
        .unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_part_of_a_program_is_not_started() {
        let refused = of_library().unwrap_err();
        assert!(refused.contains("a part of the program"), "{refused}");
        assert!(of_loader().unwrap().to_str().unwrap().contains("ld-"));
    }

    #[test]
    fn a_line_has_the_addresses_from_its_start_to_before_its_end() {
        let line = b"1000-2000 r-xp 00000000 00:00 7 /lib/a b.so";
        assert!(has(line, 0x1000) && has(line, 0x1fff));
        assert!(!has(line, 0x2000) && !has(line, 0xfff) && !has(b"", 0) && !has(b"x-y", 1));
    }
}
