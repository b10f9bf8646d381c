//! The files of a profile.

use std::{
    fs,
    hash::{BuildHasher, RandomState},
    io::{self, BufWriter},
    path::Path,
};

use kcore::profile::{Format, Profile, WriteError, write as write_profile};

use crate::{error::AgentError, trust};

/// Writes folded stacks and a flame graph of a process into a folder, under a name that nobody can guess; says which.
pub fn write(profile: &Profile, folder: &Path, pid: u32) -> Result<String, AgentError> {
    let random = RandomState::new().hash_one(pid);
    let name = format!("kcore.{pid}.{random:016x}");
    let folded = folder.join(format!("{name}.folded"));
    write_one(profile, Format::Folded, &folded)?;
    if profile.is_empty() {
        return Ok(format!("{name}.folded in {}", folder.display()));
    }
    if let Err(error) = write_one(profile, Format::Svg, &folder.join(format!("{name}.svg"))) {
        let _ = fs::remove_file(&folded);
        return Err(error);
    }
    Ok(format!("{name}.folded and .svg in {}", folder.display()))
}

/// Writes a file whole, or leaves none.
fn write_one(profile: &Profile, format: Format, path: &Path) -> Result<(), AgentError> {
    let refused = |error| AgentError::System { what: "writing a profile", error };
    let mut file = BufWriter::new(trust::create(path).map_err(refused)?);
    let written = write_profile(profile, format, false, &mut file);
    // What could not be written is not tried again.
    drop(file.into_parts());
    written.map_err(|error| {
        let _ = fs::remove_file(path);
        refused(match error {
            WriteError::Io(error) => error,
            other => io::Error::other(other),
        })
    })
}
