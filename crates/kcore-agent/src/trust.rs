//! Opening the files that the agent writes to, so that no other user decides which file that is.
//!
//! The program may have more rights than who can write to a folder such as `/tmp`. So no link is followed, a new file
//! is made where there was none, and one that is there belongs to the program's user, or to root, under no other name.
//! All folders on the way belong to one of these, too, and let others at most add files of their own (the sticky bit).

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io,
    os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use crate::sys;

/// Bits of a mode.
const STICKY: u32 = 0o1000;
const OTHERS_WRITE: u32 = 0o022;
/// Links that are followed on the way to a file, at most: they may lead in a circle.
const MOST_LINKS: usize = 40;

/// Opens a file to write at its end. A new one only its owner may read. It waits for nobody: of a pipe without a reader
/// that is an error.
///
/// # Errors
/// When it is a link, or another user's, or could be made one by another user.
pub fn open_at_end(path: &Path) -> io::Result<File> {
    check_way(path)?;
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let known = || OpenOptions::new().append(true).custom_flags(flags).open(path);
    let opened = match known() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match new(path) {
            // Somebody else made it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => known(),
            made => return made,
        },
        opened => opened,
    };
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => refused("it is a symbolic link, which is not followed"),
        _ => error,
    })?;
    check_known(&file.metadata()?)?;
    Ok(file)
}

/// Makes a new file to write to, that its owner alone may read.
///
/// # Errors
/// When there is one, or another user could change the way to it.
pub fn create(path: &Path) -> io::Result<File> {
    check_way(path)?;
    new(path)
}

/// `O_EXCL`, which follows no link.
fn new(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NOCTTY;
    let mut options = OpenOptions::new();
    options.append(true).create_new(true).mode(0o600).custom_flags(flags).open(path)
}

fn refused(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why.into())
}

/// Checks a file that is there.
fn check_known(file: &Metadata) -> io::Result<()> {
    let kind = file.file_type();
    if !(kind.is_file() || kind.is_fifo() || kind.is_char_device()) {
        return Err(refused("it is neither a file nor a pipe nor a terminal"));
    }
    if !Users::now().trust(file) {
        return Err(refused(format!("it belongs to user {}", file.uid())));
    }
    if kind.is_file() && file.nlink() > 1 {
        return Err(refused("it has another name, which somebody else may have given it"));
    }
    Ok(())
}

/// Users that may have made files and folders.
struct Users {
    own: u32,
    /// The owner of `/`: root, whose number may be another one in a user namespace.
    root: Option<u32>,
}

impl Users {
    fn now() -> Self {
        let root = fs::metadata("/").ok().map(|root| root.uid());
        Self { own: sys::effective_user(), root }
    }

    fn trust(&self, file: &Metadata) -> bool {
        let user = file.uid();
        user == 0 || user == self.own || Some(user) == self.root
    }
}

/// Checks the folders on the way to a file, and the links among them.
fn check_way(path: &Path) -> io::Result<()> {
    let users = Users::now();
    let mut left = path.parent().map(components).unwrap_or_default();
    let mut way = PathBuf::from("/");
    let mut links: usize = 0;
    check_folder(&users, &way)?;
    while let Some(next) = left.pop() {
        let at = way.join(&next);
        let there = fs::symlink_metadata(&at)?;
        if !there.is_symlink() {
            // `..` is a folder like any other.
            way = if next.as_os_str() == ".." {
                way.parent().map_or(way.clone(), Path::to_owned)
            } else {
                at
            };
            check_folder(&users, &way)?;
            continue;
        }
        links = links.saturating_add(1);
        if !users.trust(&there) || links > MOST_LINKS {
            return Err(refused(format!("{} is a link of user {}", at.display(), there.uid())));
        }
        let target = fs::read_link(&at)?;
        if target.is_absolute() {
            way = PathBuf::from("/");
        }
        left.extend(components(&target));
    }
    Ok(())
}

/// The names in a path, the last one first.
fn components(path: &Path) -> Vec<PathBuf> {
    let names = path.components().filter(|part| {
        !matches!(part, std::path::Component::RootDir | std::path::Component::CurDir)
    });
    let mut names: Vec<PathBuf> = names.map(|part| PathBuf::from(part.as_os_str())).collect();
    names.reverse();
    names
}

fn check_folder(users: &Users, path: &Path) -> io::Result<()> {
    let folder = fs::symlink_metadata(path)?;
    if !users.trust(&folder) {
        let user = folder.uid();
        return Err(refused(format!("the folder {} belongs to user {user}", path.display())));
    }
    let (mode, is_root) = (folder.mode(), folder.gid() == 0);
    // Members of root's group are not kept out.
    let others = if is_root { OTHERS_WRITE & 0o007 } else { OTHERS_WRITE };
    if mode & others != 0 && mode & STICKY == 0 {
        return Err(refused(format!(
            "others may change what is in the folder {} (mode {:o}, without the sticky bit)",
            path.display(),
            mode & 0o7777
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn said(path: &Path) -> String {
        open_at_end(path).map_or_else(|error| error.to_string(), |_| "opened".to_owned())
    }

    #[test]
    fn a_link_is_not_followed_and_a_file_with_two_names_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, other] = ["file", "link", "other"].map(|name| folder.path().join(name));
        fs::write(&file, "mine").unwrap();
        symlink(&file, &link).unwrap();
        assert!(said(&link).contains("symbolic link"), "{}", said(&link));
        assert_eq!(said(&file), "opened");
        fs::hard_link(&file, &other).unwrap();
        assert!(said(&other).contains("another name"), "{}", said(&other));
        // One that leads nowhere is not a way to make a file there.
        let nowhere = folder.path().join("nowhere");
        symlink(folder.path().join("made"), &nowhere).unwrap();
        assert!(said(&nowhere).contains("symbolic link") && create(&nowhere).is_err());
        assert!(!folder.path().join("made").exists());
    }

    #[test]
    fn a_new_file_is_its_owners() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        assert_eq!(said(&path), "opened");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert!(create(&path).is_err(), "it is there");
    }

    #[test]
    fn a_folder_that_others_may_change_is_refused_unless_it_is_sticky() {
        let folder = tempfile::tempdir().unwrap();
        let open = folder.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(said(&open.join("new")).contains("without the sticky bit"));
        assert!(create(&open.join("new")).is_err());
        fs::set_permissions(&open, fs::Permissions::from_mode(0o1777)).unwrap();
        assert_eq!(said(&open.join("new")), "opened");
    }

    #[test]
    fn links_of_folders_are_followed_where_they_are_trusted_and_end_where_they_circle() {
        let folder = tempfile::tempdir().unwrap();
        let [real, link, circle] = ["real", "link", "circle"].map(|name| folder.path().join(name));
        fs::create_dir(&real).unwrap();
        symlink("real", &link).unwrap();
        symlink("circle", &circle).unwrap();
        assert_eq!(said(&link.join("new")), "opened");
        assert!(real.join("new").exists());
        assert!(open_at_end(&circle.join("new")).is_err());
    }
}
