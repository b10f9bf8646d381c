//! Finding the symbol file of Breakpad that belongs to a module.
//!
//! Folders of such files have the layout of Breakpad's own tools, `NAME/DEBUGID/NAME.sym`
//! (`docs/processor_design.md`, `SimpleSymbolSupplier`); a single file may as well lie there by its name. A file counts only if
//! its first line has the debug id of the module.

use std::{
    fs::File,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use kcore_elf::{BuildId, FileBytes, Image};
use kcore_mem::{Cut, Resource, Svma, Target};

use crate::{
    Finder, FoundFile, SearchResult, SearchedPlace, Tried, Why, breakpad, finder::without_deleted,
};

/// The folder of symbol files that `minidump_stackwalk` is usually given, beside the core.
const SYMBOLS: &str = "symbols";

/// The symbol file that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct WantedSymbols<'a> {
    /// The path of the module, as the core records it.
    pub path: &'a Path,
    /// Its build-id, or the first 16 bytes of it.
    pub build_id: &'a BuildId,
    /// The first address of its file: the symbol file tells all others from there on.
    pub base: Svma,
    /// The machine of the process.
    pub target: Target,
}

impl Finder {
    /// The symbol file of Breakpad for a module, as a debug file.
    pub fn find_breakpad(&self, wanted: &WantedSymbols<'_>) -> SearchResult {
        let mut found = SearchResult::default();
        let place = SearchedPlace::Breakpad;
        if !self.places().contains(&place) {
            return found;
        }
        for path in self.symbol_paths(wanted) {
            match self.open_symbols(&path, wanted) {
                Ok(image) => {
                    let image = Arc::new(image);
                    found.file = Some(FoundFile { path, image, verified: true, place });
                    break;
                }
                Err(Why::NotFound) => {}
                Err(why) => found.tried.push(Tried { path, place, why }),
            }
        }
        found
    }

    fn symbol_paths(&self, wanted: &WantedSymbols<'_>) -> Vec<PathBuf> {
        let Some(name) = without_deleted(wanted.path).file_name() else { return Vec::new() };
        let file = [name.as_bytes(), b".sym"].concat();
        let file = Path::new(std::ffi::OsStr::from_bytes(&file));
        let id = breakpad::debug_id(wanted.build_id).to_string();
        let beside = self.paths.core_dir.iter();
        let beside = beside.flat_map(|dir| [dir.clone(), dir.join(SYMBOLS)]);
        let dirs = beside.chain(self.debug_dirs());
        dirs.flat_map(|dir| [dir.join(name).join(&id).join(file), dir.join(file)]).collect()
    }

    fn open_symbols(&self, path: &Path, wanted: &WantedSymbols<'_>) -> Result<Image, Why> {
        let file: File = self.paths.open(path)?;
        let unreadable = |error: std::io::Error| Why::Unreadable(error.to_string());
        let bytes = FileBytes::map(&file).map_err(unreadable)?;
        check(&bytes, wanted)?;
        // What is made of it stays in memory, as what is inflated does.
        let name = path.display().to_string();
        let size = bytes.len() as u64;
        if !self.budget().spend(Resource::Inflated, size) {
            self.budget().cut(Cut::Section { name, size, packed: size });
            return Err(Why::NotSymbols("the budget has no room to read it".to_owned()));
        }
        let made = breakpad::to_debug_file(&bytes, wanted.base, wanted.target, self.budget());
        let image = Image::parse(FileBytes::from(made.map_err(Why::NotSymbols)?));
        let image = image.map_err(|error| Why::NotSymbols(error.to_string()))?;
        Ok(image.within(self.budget(), name))
    }
}

fn check(bytes: &[u8], wanted: &WantedSymbols<'_>) -> Result<(), Why> {
    let refused = |why: &str| Err(Why::NotSymbols(why.to_owned()));
    if !breakpad::is_symbol_file(bytes) {
        return refused("not a symbol file of Breakpad");
    }
    match breakpad::id_of_file(bytes) {
        None => refused("a symbol file without a debug id"),
        Some((_, false)) => refused("a symbol file for another system than Linux"),
        Some((id, true)) if id == breakpad::debug_id(wanted.build_id) => Ok(()),
        Some((id, true)) => Err(Why::DebugIdMismatch { found: id.to_string() }),
    }
}
