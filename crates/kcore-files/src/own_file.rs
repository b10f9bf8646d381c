//! Files of the user's that are run without being named: whoever may write to one of them says what kcore does.

use std::{
    fs::{File, Metadata},
    io,
    os::unix::fs::MetadataExt,
    path::Path,
};

use crate::open_regular;

/// The right to write that everybody has.
const WORLD_WRITABLE: u32 = 0o002;

/// Why a file of the user's is not believed to be one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OwnFileError {
    /// It cannot be read, or is no regular file.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// Everybody may write to it.
    #[error("everybody may write to it (chmod o-w)")]
    Writable,
    /// It is another user's, who is not root.
    #[error("it belongs to user {owner}, neither to you nor to root")]
    Foreign {
        /// The number of that user.
        owner: u32,
    },
}

/// Opens a file that is the user's own, or root's, and that not everybody may write to.
///
/// # Errors
/// When it is not, or cannot be read.
pub fn open_own(path: &Path) -> Result<File, OwnFileError> {
    let file = open_regular(path)?;
    check_own(&file)?;
    Ok(file)
}

/// Whether an open file is the user's own, or root's, and not everybody may write to it.
///
/// # Errors
/// Why it is not.
pub fn check_own(file: &File) -> Result<(), OwnFileError> {
    check(&file.metadata()?, rustix::process::geteuid().as_raw())
}

fn check(metadata: &Metadata, user: u32) -> Result<(), OwnFileError> {
    let owner = metadata.uid();
    if owner != user && owner != 0 {
        return Err(OwnFileError::Foreign { owner });
    }
    if metadata.mode() & WORLD_WRITABLE != 0 {
        return Err(OwnFileError::Writable);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, Permissions},
        os::unix::fs::PermissionsExt,
    };

    use super::*;

    #[test]
    fn a_file_that_others_may_write_to_is_not_the_users() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rc");
        fs::write(&path, "").unwrap();
        for (mode, is_own) in [(0o600, true), (0o664, true), (0o666, false), (0o602, false)] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(open_own(&path).is_ok(), is_own, "{mode:o}");
        }
    }

    #[test]
    fn a_file_of_another_user_is_not_the_users_and_one_of_root_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rc");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let metadata = fs::metadata(&path).unwrap();
        assert!(check(&metadata, metadata.uid()).is_ok());
        let other = check(&metadata, metadata.uid().wrapping_add(1));
        assert_eq!(other.is_ok(), metadata.uid() == 0, "{other:?}");
    }

    #[test]
    fn a_pipe_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rc");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, 0o600.into()).unwrap();
        assert_eq!(open_own(&path).unwrap_err().to_string(), "not a regular file");
    }
}
