//! The files of a profile.

use std::{
    fs::{File, OpenOptions},
    hash::{BuildHasher, RandomState},
    io::{self, BufWriter},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use kcore::profile::{Format, Profile, WriteError, write as write_profile};

use crate::error::AgentError;

/// Writes folded stacks and a flame graph into a folder, under a name that nobody can guess; says which.
pub fn write(profile: &Profile, folder: &Path) -> Result<String, AgentError> {
    let random = RandomState::new().hash_one(std::process::id());
    let name = format!("kcore.{}.{random:016x}", std::process::id());
    write_one(profile, Format::Folded, folder.join(format!("{name}.folded")))?;
    if profile.is_empty() {
        return Ok(format!("{name}.folded in {}; no thread ran", folder.display()));
    }
    write_one(profile, Format::Svg, folder.join(format!("{name}.svg")))?;
    Ok(format!("{name}.folded and .svg in {}", folder.display()))
}

fn write_one(profile: &Profile, format: Format, path: PathBuf) -> Result<(), AgentError> {
    let refused = |error| AgentError::System { what: "writing a profile", error };
    let mut file = BufWriter::new(create(&path).map_err(refused)?);
    write_profile(profile, format, false, &mut file).map_err(|error| match error {
        WriteError::Io(error) => refused(error),
        other => refused(io::Error::other(other)),
    })
}

/// A new file that its owner alone may read. Nothing that is there is written to.
fn create(path: &PathBuf) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
