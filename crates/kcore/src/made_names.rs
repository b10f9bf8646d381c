//! Names of code that a JIT wrote into files: those that lie beside the core under the number of its process, and those
//! that a user names.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use kcore_files::open_regular;
use kcore_mem::{Addr, Svma};
use kcore_runtimes::registered::code_map;
use kcore_symbols::{Function, ModuleSymbols};

/// Bytes of one file that are read, at most.
const MAX_FILE: u64 = 256 << 20;

/// Files that name code. They are read when code without a name is first met.
#[derive(Clone, Default)]
pub struct MadeNames {
    files: Vec<PathBuf>,
    /// How many of them, the first ones, a user named.
    named: usize,
    /// What each file names, in their order.
    read: Arc<OnceLock<Vec<Option<ModuleSymbols>>>>,
}

impl MadeNames {
    /// The files that a user named, in this order, then those of process `pid` beside its core: `perf-PID.map` and
    /// `jit-PID.dump`. Of those a link is none: it may lead out of the folder.
    pub fn new(named: &[PathBuf], core_dir: Option<&Path>, pid: Option<u32>) -> Self {
        let beside = |dir: &Path, pid: u32| {
            let names = [format!("perf-{pid}.map"), format!("jit-{pid}.dump")];
            names.map(|name| dir.join(name))
        };
        let beside = core_dir.zip(pid).map(|(dir, pid)| beside(dir, pid));
        let is_file = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
        let beside = beside.into_iter().flatten().filter(is_file);
        let files = named.iter().cloned().chain(beside).collect();
        Self { files, named: named.len(), read: Arc::default() }
    }

    /// The function at `at` that the first file has.
    pub fn function_at(&self, at: Addr) -> Option<Function> {
        if self.files.is_empty() {
            return None;
        }
        let mut read = self.read().iter().flatten();
        read.find_map(|symbols| symbols.function_at(Svma::new(at.get())))
    }

    /// The files that a user named, and that name nothing. They are read.
    pub fn nameless(&self) -> Vec<&Path> {
        if self.named == 0 {
            return Vec::new();
        }
        let files = self.files.iter().take(self.named).zip(self.read());
        files.filter(|(_, names)| names.is_none()).map(|(path, _)| path.as_path()).collect()
    }

    fn read(&self) -> &[Option<ModuleSymbols>] {
        self.read.get_or_init(|| self.files.iter().map(|path| functions(path)).collect())
    }
}

/// What a file names; `None` where it cannot be read, or names nothing.
fn functions(path: &Path) -> Option<ModuleSymbols> {
    let mut bytes = Vec::new();
    open_regular(path).ok()?.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    code_map::functions(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_at(names: &MadeNames, at: u64) -> Option<String> {
        names.function_at(Addr::new(at)).map(|function| function.name.to_string())
    }

    #[test]
    fn files_beside_a_core_are_those_of_its_process() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("perf-7.map"), "1000 10 seven\n").unwrap();
        fs::write(folder.path().join("perf-8.map"), "1000 10 eight\n").unwrap();
        let names = MadeNames::new(&[], Some(folder.path()), Some(7));
        assert_eq!(name_at(&names, 0x1008).as_deref(), Some("seven"));
        assert_eq!(name_at(&MadeNames::new(&[], Some(folder.path()), Some(9)), 0x1008), None);
        assert_eq!(name_at(&MadeNames::new(&[], Some(folder.path()), None), 0x1008), None);
    }

    #[test]
    fn a_file_that_was_named_goes_before_and_may_lie_anywhere() {
        let folder = tempfile::tempdir().unwrap();
        let named = folder.path().join("any");
        fs::write(&named, "1000 10 named\n").unwrap();
        fs::write(folder.path().join("perf-7.map"), "1000 20 beside\n").unwrap();
        let names = MadeNames::new(&[named], Some(folder.path()), Some(7));
        assert_eq!(name_at(&names, 0x1008).as_deref(), Some("named"));
        assert_eq!(name_at(&names, 0x1018).as_deref(), Some("beside"));
    }

    #[test]
    fn a_file_without_names_is_told_of_if_it_was_named() {
        let folder = tempfile::tempdir().unwrap();
        let [text, map] = ["text", "map"].map(|name| folder.path().join(name));
        fs::write(&text, "no names in here\n").unwrap();
        fs::write(&map, "1000 10 named\n").unwrap();
        fs::write(folder.path().join("perf-7.map"), "garbage\n").unwrap();
        let names = MadeNames::new(&[text.clone(), map], Some(folder.path()), Some(7));
        assert_eq!(names.nameless(), [text]);
        assert_eq!(name_at(&names, 0x1008).as_deref(), Some("named"));
    }

    #[test]
    fn a_link_beside_a_core_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = folder.path().join("elsewhere");
        fs::write(&elsewhere, "1000 10 elsewhere\n").unwrap();
        std::os::unix::fs::symlink(&elsewhere, folder.path().join("perf-7.map")).unwrap();
        assert_eq!(name_at(&MadeNames::new(&[], Some(folder.path()), Some(7)), 0x1008), None);
    }
}
