//! Finding the files that hold what compilers split off from a module's debug information: `.dwo` for
//! each unit, `.dwp` for all units of a module (DWARF 5, 7.3.2 and 7.3.5).

use std::path::{Path, PathBuf};

use crate::{Finder, SearchResult, SearchedPlace};

impl Finder {
    /// The file of a unit by its name and the directory of compilation, as the module at `module` has
    /// them. Whether it is of the same build only its contents tell.
    pub fn find_split(&self, module: &Path, name: &Path, directory: Option<&Path>) -> SearchResult {
        let full = directory.map_or_else(|| name.to_owned(), |directory| directory.join(name));
        let beside = module.parent().into_iter().flat_map(|dir| {
            let file = name.file_name().map(|file| dir.join(file));
            let relative = name.is_relative().then(|| dir.join(name));
            relative.into_iter().chain(file)
        });
        let in_core_dir = name.file_name().and_then(|file| self.in_core_dir(file));
        let recorded = full.is_absolute().then(|| full.clone());
        let mapped: Vec<PathBuf> = self.paths.mapped(&full).collect();
        let in_layers = self.in_layers(&full, false);
        let in_root = self.in_sysroot(&full);
        let all = mapped.into_iter().chain(in_root).chain(in_layers).chain(in_core_dir);
        self.search_unproven(all.chain(beside).chain(recorded))
    }

    /// The package of the module at `module`: its name with `.dwp` behind it.
    pub fn find_package(&self, module: &Path) -> SearchResult {
        let Some(mut name) = module.file_name().map(ToOwned::to_owned) else {
            return SearchResult::default();
        };
        name.push(".dwp");
        let in_core_dir = self.in_core_dir(&name);
        self.search_unproven(in_core_dir.into_iter().chain(self.beside(module, &name)))
    }

    fn search_unproven(&self, paths: impl Iterator<Item = PathBuf>) -> SearchResult {
        self.search(paths.map(|path| (SearchedPlace::DebugLink, path)), |_, _| Ok(false))
    }
}
