//! Resolving a path of the target below the root of its file system.
//!
//! A container image has absolute symbolic links, which mean its own root and not ours.

use std::{
    collections::VecDeque,
    ffi::OsString,
    fs::File,
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, open, openat2},
    io::Errno,
};

use crate::{Why, regular};

/// How often the system is asked again when files were renamed while it followed a path.
const MAX_RENAMES: usize = 16;
/// Links followed in one path, as many as Linux follows.
const MAX_LINKS: usize = 40;

/// The place of `path` below `root`. `..` does not leave the root, and neither does a link. Parts
/// that do not exist are taken as they are.
pub fn resolve(root: &Path, path: &Path) -> PathBuf {
    let mut todo = parts(path);
    let mut done: Vec<OsString> = Vec::new();
    let mut links: usize = 0;
    while let Some(part) = todo.pop_front() {
        if part == ".." {
            done.pop();
            continue;
        }
        done.push(part);
        let Ok(link) = std::fs::read_link(join(root, &done)) else { continue };
        links = links.saturating_add(1);
        if links > MAX_LINKS {
            break;
        }
        if link.is_absolute() {
            done.clear();
        } else {
            done.pop();
        }
        let mut rest = std::mem::replace(&mut todo, parts(&link));
        todo.append(&mut rest);
    }
    join(root, &done)
}

/// Opens the regular file that `path` means for those whose root is `root`.
///
/// # Errors
/// Why there is none.
pub fn open_in_root(root: &Path, path: &Path) -> Result<File, Why> {
    match open_below(root, path, ResolveFlags::IN_ROOT) {
        Err(Errno::NOSYS | Errno::PERM) => open_resolved(&resolve(root, path)),
        other => other.map_err(why).and_then(regular::regular),
    }
}

/// Opens the regular file at `path` in `folder`, unless that or a link leads out of it.
///
/// # Errors
/// Why there is none.
pub fn open_beneath(folder: &Path, path: &Path) -> Result<File, Why> {
    match open_below(folder, path, ResolveFlags::BENEATH) {
        Err(Errno::NOSYS | Errno::PERM) => {
            let whole = |path: &Path| path.canonicalize().map_err(regular::why);
            let (folder, path) = (whole(&here(folder))?, whole(&folder.join(path))?);
            if path.starts_with(folder) { open_resolved(&path) } else { Err(Why::OutsideNamed) }
        }
        other => other.map_err(why).and_then(regular::regular),
    }
}

/// As the system itself follows a path below a folder, whatever others rename meanwhile. What is no regular file
/// is looked at and not opened: to open a device may do something.
fn open_below(folder: &Path, path: &Path, how: ResolveFlags) -> Result<File, Errno> {
    let how = how.union(ResolveFlags::NO_MAGICLINKS);
    let folder =
        open(here(folder), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let opened = |flags| {
        let mut opened = Err(Errno::AGAIN);
        for _ in 0..MAX_RENAMES {
            opened = openat2(&folder, path, flags, Mode::empty(), how);
            if !matches!(opened, Err(Errno::AGAIN)) {
                break;
            }
        }
        opened.map(File::from)
    };
    let seen = opened(OFlags::PATH | OFlags::CLOEXEC)?;
    match seen.metadata() {
        Ok(metadata) if metadata.is_file() => opened(OFlags::RDONLY | regular::CAREFULLY),
        _ => Ok(seen),
    }
}

/// A path whose links were followed already; one that is a link by now is refused.
fn open_resolved(path: &Path) -> Result<File, Why> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | regular::CAREFULLY;
    let file = rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(why)?;
    regular::regular(File::from(file))
}

/// A folder without a name is the one that kcore runs in.
fn here(folder: &Path) -> PathBuf {
    if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() }
}

fn why(error: Errno) -> Why {
    match error {
        Errno::XDEV => Why::OutsideNamed,
        other => regular::why(other.into()),
    }
}

fn join(root: &Path, parts: &[OsString]) -> PathBuf {
    parts.iter().fold(root.to_owned(), |path, part| path.join(part))
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let part = |component| match component {
        Component::Normal(part) => Some(part.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_and_dots_stay_below_the_root() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        std::fs::create_dir_all(root.join("usr/lib64")).unwrap();
        symlink("/usr/lib64", root.join("lib64")).unwrap();
        symlink("libx.so.1.2", root.join("usr/lib64/libx.so.1")).unwrap();
        assert_eq!(
            resolve(root, Path::new("/lib64/libx.so.1")),
            root.join("usr/lib64/libx.so.1.2")
        );
        assert_eq!(resolve(root, Path::new("/../../etc/passwd")), root.join("etc/passwd"));
    }

    #[test]
    fn a_loop_of_links_ends() {
        let root = tempfile::tempdir().unwrap();
        symlink("/b", root.path().join("a")).unwrap();
        symlink("/a", root.path().join("b")).unwrap();
        assert!(resolve(root.path(), Path::new("/a/x")).starts_with(root.path()));
    }
}
