//! Finding the separate debug file of a module, and the file that `dwz` shared between several.
//!
//! `.gnu_debuglink` is a name and a CRC32, `.gnu_debugaltlink` a path and a build-id (gdb manual,
//! «Debugging Information in Separate Files»; DWARF 5, 7.3.6).

use std::{
    ffi::OsStr,
    fs::File,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use kcore_elf::{BuildId, Image};
use kcore_mem::Cursor;

use crate::{
    FileUse, Finder, SYSTEM_DEBUG_DIR, SearchResult, SearchedPlace, WantedFile, Why,
    finder::check_build_id,
};

/// Whether a file holds debug information itself, so that no other file is needed.
pub fn has_debug_info(image: &Image) -> bool {
    let info = image.section(".debug_info");
    info.is_some_and(|info| info.size > 0 && info.file_range().is_some())
}

impl Finder {
    /// The separate debug file of a module whose file is `image`, found at `path`. `build_id` is
    /// that of the module. Nothing is looked for when the file holds its debug information itself.
    pub fn find_debug(
        &self,
        image: &Image,
        path: &Path,
        build_id: Option<&BuildId>,
    ) -> SearchResult {
        if has_debug_info(image) {
            return SearchResult::default();
        }
        let own = image.build_id();
        let build_id = build_id.or(own.as_ref());
        let link = image.debug_link();
        let by_link = || link.iter().flat_map(|(name, _)| self.by_link(path, name)).collect();
        let checksum = link.as_ref().map(|(_, checksum)| *checksum);
        let added = WantedFile { path: Some(path), build_id, for_use: FileUse::Debug };
        let placed = self.debug_candidates(build_id, &by_link);
        let found = self.search(placed.chain(self.added(added)), |debug, file| {
            self.check_debug(debug, file, build_id, checksum)
        });
        self.with_refusals(found, &added)
    }

    /// Where the places have a debug file, in their order: by its build-id, and by what `by_link` names.
    fn debug_candidates<'a>(
        &'a self,
        build_id: Option<&'a BuildId>,
        by_link: &'a dyn Fn() -> Vec<PathBuf>,
    ) -> impl Iterator<Item = (SearchedPlace, PathBuf)> + 'a {
        self.places().iter().flat_map(move |place| {
            let paths = match place {
                SearchedPlace::Layer => self.debug_in_layers(build_id),
                SearchedPlace::BuildIdDir => self.by_build_id(build_id, ".debug"),
                SearchedPlace::DebugLink => by_link(),
                _ => Vec::new(),
            };
            paths.into_iter().map(|path| (*place, path))
        })
    }

    /// Where the layers have a debug file: in the directories that would have it on the machine of the target.
    fn debug_in_layers(&self, build_id: Option<&BuildId>) -> Vec<PathBuf> {
        let Some(file) = build_id.and_then(BuildId::debug_path) else { return Vec::new() };
        let below = Path::new(SYSTEM_DEBUG_DIR).join(".build-id").join(file);
        self.in_layers(&below, true)
    }

    /// The debug file of a module that has no file itself, by its build-id alone.
    pub fn find_debug_by_id(&self, build_id: &BuildId) -> SearchResult {
        let added = WantedFile { path: None, build_id: Some(build_id), for_use: FileUse::Debug };
        let placed = self.debug_candidates(Some(build_id), &Vec::new);
        let found = self.search(placed.chain(self.added(added)), |debug, file| {
            self.check_debug(debug, file, Some(build_id), None)
        });
        self.with_refusals(found, &added)
    }

    /// The file that `.gnu_debugaltlink` of a debug file at `path` names; nothing is looked for
    /// when there is no such link.
    pub fn find_supplementary(&self, debug: &Image, path: &Path) -> SearchResult {
        let Some((name, id)) = alternate_link(debug) else { return SearchResult::default() };
        let beside = path.parent().map(|dir| dir.join(&name));
        let in_root = self.in_sysroot(&name);
        let in_core_dir = name.file_name().and_then(|name| self.in_core_dir(name));
        let in_layers = self.in_layers(&name, true).into_iter();
        let in_archive = name.file_name().map(|name| self.beside(path, name)).unwrap_or_default();
        let in_layers: Vec<PathBuf> = in_layers.chain(in_archive).collect();
        let by_name = || {
            let beside = in_root.iter().chain(&in_layers).chain(&beside).chain(&in_core_dir);
            beside.cloned().collect()
        };
        let added = WantedFile { path: None, build_id: Some(&id), for_use: FileUse::Debug };
        let placed = self.debug_candidates(Some(&id), &by_name);
        let found = self.search(placed.chain(self.added(added)), |image, _| {
            check_build_id(image, &id).map(|()| true)
        });
        self.with_refusals(found, &added)
    }

    /// A debug file is believed by its build-id, or where one of the two has none by its checksum, for
    /// which all of it has to be read.
    fn check_debug(
        &self,
        debug: &Image,
        file: &File,
        build_id: Option<&BuildId>,
        checksum: Option<u32>,
    ) -> Result<bool, Why> {
        match (build_id, checksum) {
            (Some(id), None) => check_build_id(debug, id).map(|()| true),
            (Some(id), Some(_)) if debug.build_id().is_some() => {
                check_build_id(debug, id).map(|()| true)
            }
            (_, Some(wanted)) => {
                let found = self.images.checksum(file)?;
                if found == wanted { Ok(true) } else { Err(Why::ChecksumMismatch { found }) }
            }
            (None, None) => Ok(false),
        }
    }

    /// The paths that the name in `.gnu_debuglink` of the file at `path` stands for.
    fn by_link(&self, path: &Path, name: &[u8]) -> Vec<PathBuf> {
        // A link is a file name; anything else would lead out of the folders below.
        let Some(name) = Path::new(OsStr::from_bytes(name)).file_name() else { return Vec::new() };
        let dir = path.parent().unwrap_or(Path::new("/"));
        let below = self.target_dir(dir);
        let in_debug_dirs =
            self.debug_dirs().into_iter().map(|debug| debug.join(&below).join(name));
        let beside = self.beside(path, name).into_iter().chain([dir.join(".debug").join(name)]);
        let in_core_dir = self.in_core_dir(name);
        let all = beside.chain(in_debug_dirs).chain(in_core_dir);
        all.filter(|candidate| candidate != path).collect()
    }

    /// A folder as the target named it, without the leading slash.
    fn target_dir(&self, dir: &Path) -> PathBuf {
        let root = self.paths.sysroot.as_deref();
        let below = root.and_then(|root| dir.strip_prefix(root).ok());
        below.or_else(|| dir.strip_prefix("/").ok()).unwrap_or(dir).to_owned()
    }
}

/// The build-id of the file that `.gnu_debugaltlink` names.
pub fn supplementary_id(debug: &Image) -> Option<BuildId> {
    alternate_link(debug).map(|(_, id)| id)
}

/// Path and build-id in `.gnu_debugaltlink`.
fn alternate_link(debug: &Image) -> Option<(PathBuf, BuildId)> {
    let data = debug.section_data(".gnu_debugaltlink")?;
    let mut cursor = Cursor::new(&data, debug.target());
    let path = Path::new(OsStr::from_bytes(cursor.cstr().ok()?)).to_owned();
    Some((path, BuildId::new(cursor.rest())?))
}
