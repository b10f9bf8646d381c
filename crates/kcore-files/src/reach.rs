//! Which files of this machine may be read for a core.
//!
//! A core names files, and so do its modules and their debug information: whoever made it chose the names. A user who
//! looks at a container's core wants the container's files and never this machine's; one who trusts a core with
//! nothing wants none but those that lie where the user said.

use std::{
    fs::File,
    path::{Component, Path, PathBuf},
};

use crate::{SearchPaths, Why, regular, sysroot};

/// Which files of this machine may be read for a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// All that its paths lead to.
    #[default]
    Host,
    /// Those under the sysroot and in the folders that the user named or chose for the core.
    Named,
    /// The same, and no link in these folders leads out of them.
    Beneath,
}

impl SearchPaths {
    /// Opens a file that is searched for. Under the sysroot links mean the sysroot, however far they lead.
    ///
    /// # Errors
    /// Why it cannot be read, or must not be.
    pub(crate) fn open(&self, path: &Path) -> Result<File, Why> {
        if let Some((root, below)) = self.below_root(path) {
            return sysroot::open_in_root(root, below);
        }
        if self.reach == Reach::Host || self.is_named(path) {
            return regular::open(path);
        }
        match (self.below_folder(path), self.reach) {
            (Some((folder, below)), Reach::Beneath) => sysroot::open_beneath(folder, below),
            (Some((_, below)), _) if !leads_up(below) => regular::open(path),
            _ => Err(self.refusal()),
        }
    }

    /// Where folders that the user named for others have a path of the target.
    pub(crate) fn mapped<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
        self.path_map.iter().filter_map(move |(there, here)| {
            let below = path.strip_prefix(there).ok()?;
            Some(if below.as_os_str().is_empty() { here.clone() } else { here.join(below) })
        })
    }

    /// Whether files in a folder may be read.
    pub(crate) fn may_read(&self, folder: &Path) -> bool {
        self.reach == Reach::Host
            || self.below_root(folder).is_some()
            || self.below_folder(folder).is_some()
    }

    const fn refusal(&self) -> Why {
        match self.reach {
            Reach::Beneath => Why::OutsideNamed,
            Reach::Host | Reach::Named => Why::OutsideSysroot,
        }
    }

    fn below_root<'a>(&'a self, path: &'a Path) -> Option<(&'a Path, &'a Path)> {
        let root = self.sysroot.as_deref()?;
        Some((root, below(root, path)?))
    }

    fn below_folder<'a>(&'a self, path: &'a Path) -> Option<(&'a Path, &'a Path)> {
        // What belongs to the executable lies beside it; where nothing is trusted it is the executable alone.
        let beside_exe = self.exe.as_deref().and_then(Path::parent);
        let beside_exe = beside_exe.filter(|_| self.reach == Reach::Named);
        let mapped = self.path_map.iter().map(|(_, here)| here);
        let folders =
            self.core_dir.iter().chain(&self.debug_dirs).chain(mapped).chain(&self.layers);
        let folders = folders.map(AsRef::as_ref);
        let mut folders = folders.chain(beside_exe);
        folders.find_map(|folder| Some((folder, below(folder, path)?)))
    }

    /// Whether a path is that of a file that the user named, or that a process itself has open.
    fn is_named(&self, path: &Path) -> bool {
        self.exe.as_deref() == Some(path) || self.nameless.values().any(|link| link == path)
    }
}

/// What of `path` lies below `folder`. A folder without a name, that in which kcore runs, has relative paths alone.
fn below<'a>(folder: &Path, path: &'a Path) -> Option<&'a Path> {
    let is_here = folder.as_os_str().is_empty();
    path.strip_prefix(folder).ok().filter(|_| !is_here || path.is_relative())
}

fn leads_up(path: &Path) -> bool {
    path.components().any(|part| part == Component::ParentDir)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    /// A machine with a secret, a sysroot and the folder of a core.
    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new() -> Self {
            let machine = Self(tempfile::tempdir().unwrap());
            for folder in ["root/lib", "cores"] {
                fs::create_dir_all(machine.path(folder)).unwrap();
            }
            for file in ["secret", "cores/beside", "root/lib/own", "root/secret"] {
                fs::write(machine.path(file), file).unwrap();
            }
            for (link, target) in [
                ("root/lib/absolute", PathBuf::from("/lib/own")),
                ("root/lib/up", PathBuf::from("../../../secret")),
                ("root/lib/out", machine.path("secret")),
                ("root/lib/loop", PathBuf::from("/lib/loop")),
                ("cores/near", PathBuf::from("beside")),
                ("cores/out", machine.path("secret")),
                ("cores/up", PathBuf::from("../secret")),
            ] {
                symlink(target, machine.path(link)).unwrap();
            }
            machine
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn read(&self, reach: Reach, name: &str) -> Result<String, Why> {
            let paths = SearchPaths {
                sysroot: Some(self.path("root")),
                core_dir: Some(self.path("cores")),
                reach,
                ..SearchPaths::default()
            };
            let file = paths.open(&self.path(name))?;
            Ok(std::io::read_to_string(file).unwrap())
        }
    }

    #[test]
    fn links_under_the_sysroot_mean_the_sysroot_whoever_may_be_read_else() {
        let machine = Machine::new();
        for reach in [Reach::Host, Reach::Named, Reach::Beneath] {
            let read = |name: &str| machine.read(reach, name);
            assert_eq!(read("root/lib/absolute").unwrap(), "root/lib/own", "{reach:?}");
            assert_eq!(read("root/lib/up").unwrap(), "root/secret", "{reach:?}");
            assert_eq!(read("root/lib/../../secret").unwrap(), "root/secret", "{reach:?}");
            assert_eq!(read("root/lib/out"), Err(Why::NotFound), "{reach:?}");
            assert!(matches!(read("root/lib/loop"), Err(Why::Unreadable(_))), "{reach:?}");
        }
    }

    #[test]
    fn other_files_of_the_machine_are_read_as_far_as_that_was_allowed() {
        let machine = Machine::new();
        assert_eq!(machine.read(Reach::Host, "secret").unwrap(), "secret");
        assert_eq!(machine.read(Reach::Named, "secret"), Err(Why::OutsideSysroot));
        assert_eq!(machine.read(Reach::Beneath, "secret"), Err(Why::OutsideNamed));
        for reach in [Reach::Named, Reach::Beneath] {
            assert_eq!(machine.read(reach, "cores/near").unwrap(), "cores/beside");
            let up = machine.read(reach, "cores/../secret");
            assert!(matches!(up, Err(Why::OutsideSysroot | Why::OutsideNamed)), "{up:?}");
        }
    }

    #[test]
    fn a_link_of_the_user_leads_out_of_the_folder_of_the_core_unless_nothing_may() {
        let machine = Machine::new();
        for link in ["cores/out", "cores/up"] {
            assert_eq!(machine.read(Reach::Named, link).unwrap(), "secret");
            assert_eq!(machine.read(Reach::Beneath, link), Err(Why::OutsideNamed));
        }
    }

    #[test]
    fn the_executable_that_the_user_named_is_read() {
        let machine = Machine::new();
        let exe = Some(machine.path("secret"));
        let paths = SearchPaths { exe, reach: Reach::Beneath, ..SearchPaths::default() };
        assert!(paths.open(&machine.path("secret")).is_ok());
        assert_eq!(paths.open(&machine.path("root/secret")).unwrap_err(), Why::OutsideNamed);
    }

    #[test]
    fn a_core_in_the_folder_at_hand_lets_no_absolute_path_be_read() {
        let core_dir = Some(PathBuf::new());
        let paths = SearchPaths { core_dir, reach: Reach::Beneath, ..SearchPaths::default() };
        assert!(
            paths.open(Path::new("Cargo.toml")).is_ok(),
            "tests run in the folder of the crate"
        );
        assert_eq!(paths.open(Path::new("/etc/passwd")).unwrap_err(), Why::OutsideNamed);
        assert_eq!(paths.open(Path::new("../../Cargo.toml")).unwrap_err(), Why::OutsideNamed);
    }

    #[test]
    fn the_walk_without_the_system_call_agrees_with_it() {
        let machine = Machine::new();
        let root = machine.path("root");
        for name in ["lib/absolute", "lib/up", "lib/../../secret", "lib/own"] {
            let walked = sysroot::resolve(&root, Path::new(name));
            let read = fs::read_to_string(walked).unwrap();
            assert_eq!(Ok(read), machine.read(Reach::Beneath, &format!("root/{name}")), "{name}");
        }
    }
}
