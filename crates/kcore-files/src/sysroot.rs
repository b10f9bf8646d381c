//! Resolving a path of the target below the root of its file system.
//!
//! A container image has absolute symbolic links, which mean its own root and not ours.

use std::{
    collections::VecDeque,
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

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
