//! Finding the file of a module, place by place.

use std::{
    collections::{BTreeMap, HashSet},
    ffi::OsStr,
    fs::File,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use kcore_elf::{BuildId, Image};
use kcore_mem::{Arch, Budget};

use crate::{
    FilePlace, FileUse, FoundFile, Reach, SearchResult, SearchedPlace, Tried, WantedFile, Why,
    image_cache::ImageCache, layers::Layers, places, regular, sysroot,
};

/// Where distributions install separate debug files.
pub const SYSTEM_DEBUG_DIR: &str = "/usr/lib/debug";
/// What the kernel appends to the path of a file that has no name any more.
const DELETED: &[u8] = b" (deleted)";

/// Where to search. The default is nowhere but the recorded paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPaths {
    /// The executable, given by the user.
    pub exe: Option<PathBuf>,
    /// The root of the file system that the process saw.
    pub sysroot: Option<PathBuf>,
    /// Folders of the process, and the folders that have their files here.
    pub path_map: Vec<(PathBuf, PathBuf)>,
    /// The layers of the container that the process ran in, the lowest first: a folder each, as overlay file systems
    /// have them, or a tar archive of a layer or of an image.
    pub layers: Vec<PathBuf>,
    /// The number that the process had, or has.
    pub pid: Option<u32>,
    /// The folder that the core lies in.
    pub core_dir: Option<PathBuf>,
    /// Directories of debug files, with a folder `.build-id` in them. [`SYSTEM_DEBUG_DIR`] has to
    /// be named to be searched.
    pub debug_dirs: Vec<PathBuf>,
    /// The same, which are looked at below the sysroot alone.
    pub root_debug_dirs: Vec<PathBuf>,
    /// Which files of this machine may be read at all.
    pub reach: Reach,
    /// Of a live process: files that have no name any more, by the path that it has of them, and where
    /// the system lets them be opened.
    pub nameless: BTreeMap<PathBuf, PathBuf>,
    /// Whether files whose names were taken away may have others in their place: what lies at the
    /// path of one of them then counts only if its build-id proves that it is the same.
    pub distrust_deleted: bool,
}

/// A file that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct WantedModule<'a> {
    /// Its path as the core records it, with ` (deleted)` where the kernel wrote that.
    pub path: &'a Path,
    /// The build-id that the process had mapped, when the core holds it.
    pub build_id: Option<&'a BuildId>,
    /// Whether it is the executable.
    pub is_exe: bool,
    /// The machine of the process.
    pub arch: Arch,
}

/// Finds files by an ordered list of places.
#[derive(Clone, Debug)]
pub struct Finder {
    pub(crate) paths: SearchPaths,
    places: Vec<SearchedPlace>,
    layers: Arc<Layers>,
    /// Those of the program that embeds kcore, which are asked last.
    added: Vec<Arc<dyn FilePlace>>,
    pub(crate) images: ImageCache,
}

impl Finder {
    /// A finder that searches all places.
    pub fn new(paths: SearchPaths) -> Self {
        Self::with_places(paths, SearchedPlace::IN_ORDER.to_vec())
    }

    /// A finder that searches in these places only, in this order.
    pub fn with_places(paths: SearchPaths, places: Vec<SearchedPlace>) -> Self {
        let layers = Arc::new(Layers::new(&paths.layers));
        Self { paths, places, layers, added: Vec::new(), images: ImageCache::default() }
    }

    /// The same finder, which asks these places where no other has the file.
    #[must_use]
    pub fn with_added(self, added: Vec<Arc<dyn FilePlace>>) -> Self {
        Self { added, ..self }
    }

    /// The same finder with an empty cache; inflated sections of its files are charged to `budget`.
    #[must_use]
    pub fn within(self, budget: &Budget) -> Self {
        Self { images: ImageCache::within(budget), ..self }
    }

    /// The budget that inflated sections of its files are charged to.
    pub const fn budget(&self) -> &Budget {
        self.images.budget()
    }

    /// Where this finder searches.
    pub const fn paths(&self) -> &SearchPaths {
        &self.paths
    }

    /// The first file in the order of places that is the wanted one. A file of another build is
    /// never given, not even when the user named it; it stands in [`SearchResult::tried`].
    pub fn find(&self, wanted: &WantedModule<'_>) -> SearchResult {
        self.find_fitting(wanted, &|_| true)
    }

    /// As [`Finder::find`], for a module whose build-id the core does not hold: files that do not
    /// fit what else it holds are refused as well.
    pub fn find_fitting(
        &self,
        wanted: &WantedModule<'_>,
        fits: &dyn Fn(&Image) -> bool,
    ) -> SearchResult {
        let candidates = self.places.iter().flat_map(|place| {
            places::candidates(self, *place, wanted).into_iter().map(|path| (*place, path))
        });
        let path = Some(without_deleted(wanted.path));
        let added = WantedFile { path, build_id: wanted.build_id, for_use: FileUse::Module };
        let found = self.search(candidates.chain(self.added(added)), |image, _| {
            let verified = check_module(image, wanted)?;
            if self.is_replaced(wanted) && !verified {
                return Err(Why::OtherContents);
            }
            if verified || fits(image) { Ok(verified) } else { Err(Why::OtherContents) }
        });
        self.with_refusals(found, &added)
    }

    /// Whether the path of a file may lead to another one by now.
    fn is_replaced(&self, wanted: &WantedModule<'_>) -> bool {
        self.paths.distrust_deleted
            && without_deleted(wanted.path) != wanted.path
            && !self.paths.nameless.contains_key(wanted.path)
    }

    /// The places that are searched, in order.
    pub fn places(&self) -> &[SearchedPlace] {
        &self.places
    }

    /// Where the places that a program added may have a file; each is asked when those before it have not.
    pub(crate) fn added<'a>(
        &'a self,
        wanted: WantedFile<'a>,
    ) -> impl Iterator<Item = (SearchedPlace, PathBuf)> + 'a {
        self.added.iter().flat_map(move |added| {
            let place = SearchedPlace::Added(added.name());
            added.candidates(&wanted).into_iter().map(move |path| (place, path))
        })
    }

    /// The same result, with what places of the program say of a file that they have not.
    pub(crate) fn with_refusals(
        &self,
        mut found: SearchResult,
        wanted: &WantedFile<'_>,
    ) -> SearchResult {
        if found.file.is_none() {
            for added in &self.added {
                let place = SearchedPlace::Added(added.name());
                let refusals = added.refusals(wanted).into_iter();
                found.tried.extend(refusals.map(|(path, why)| Tried { path, place, why }));
            }
        }
        found
    }

    /// Opens a file of a place. The program vouches for places of its own, but not where nobody trusts the core.
    fn open(&self, place: SearchedPlace, path: &Path) -> Result<File, Why> {
        match (place, self.paths.reach) {
            // What an archive holds was unpacked by kcore itself.
            _ if self.layers.has_unpacked(path) => regular::open(path),
            (SearchedPlace::Added(_), Reach::Host | Reach::Named) => regular::open(path),
            _ => self.paths.open(path),
        }
    }

    /// Where a path of the target lies on this machine, with a sysroot.
    pub(crate) fn in_sysroot(&self, path: &Path) -> Option<PathBuf> {
        let root = self.paths.sysroot.as_deref()?;
        path.is_absolute().then(|| sysroot::resolve(root, path))
    }

    /// Where the layers have a file of the target, the uppermost first.
    pub(crate) fn in_layers(&self, path: &Path, is_proven: bool) -> Vec<PathBuf> {
        self.layers.find(path, is_proven)
    }

    /// Where a file of that name lies beside another: also in the archive that this one was unpacked from.
    pub(crate) fn beside(&self, path: &Path, name: &OsStr) -> Vec<PathBuf> {
        let original = self.layers.original(path).map(|path| path.with_file_name(name));
        let in_archive = original.map(|path| self.in_layers(&path, true)).unwrap_or_default();
        std::iter::once(path.with_file_name(name)).chain(in_archive).collect()
    }

    pub(crate) fn in_core_dir(&self, name: &OsStr) -> Option<PathBuf> {
        self.paths.core_dir.as_ref().map(|dir| dir.join(name))
    }

    /// The directories of debug files, those below the sysroot first.
    pub(crate) fn debug_dirs(&self) -> Vec<PathBuf> {
        let dirs = &self.paths.debug_dirs;
        let of_target = dirs.iter().chain(&self.paths.root_debug_dirs);
        let below_root = of_target.filter_map(|dir| self.in_sysroot(dir));
        below_root.chain(dirs.iter().cloned()).collect()
    }

    /// `DIR/.build-id/xx/rest` + `suffix` for each directory. Executables are linked from
    /// `/usr/lib/.build-id` too (Fedora), which is the neighbour of the debug directory.
    pub(crate) fn by_build_id(&self, id: Option<&BuildId>, suffix: &str) -> Vec<PathBuf> {
        let Some(file) = id.and_then(BuildId::debug_path) else { return Vec::new() };
        let file = file.trim_end_matches(".debug");
        let dirs = self.debug_dirs();
        let parents = dirs.iter().filter_map(|dir| dir.parent()).filter(|_| suffix.is_empty());
        let parents = parents.filter(|dir| self.paths.may_read(dir));
        let parents: Vec<_> = parents.map(Path::to_owned).collect();
        let dirs = dirs.into_iter().chain(parents);
        dirs.map(|dir| dir.join(".build-id").join(format!("{file}{suffix}"))).collect()
    }

    /// Tries paths one after another, each once.
    pub(crate) fn search(
        &self,
        candidates: impl Iterator<Item = (SearchedPlace, PathBuf)>,
        check: impl Fn(&Image, &File) -> Result<bool, Why>,
    ) -> SearchResult {
        let mut found = SearchResult::default();
        let mut seen = HashSet::new();
        for (place, path) in candidates {
            if !seen.insert(path.clone()) {
                continue;
            }
            let opened = self
                .open(place, &path)
                .and_then(|file| self.images.open(&file, &path, |image| check(image, &file)));
            match opened {
                Ok((image, verified)) => {
                    found.file = Some(FoundFile { path, image, verified, place });
                    break;
                }
                Err(why) => found.tried.push(Tried { path, place, why }),
            }
        }
        found
    }
}

/// Whether an image is the wanted module; `false`: nothing proves it, nothing speaks against it.
fn check_module(image: &Image, wanted: &WantedModule<'_>) -> Result<bool, Why> {
    let arch = image.target().arch;
    if arch != wanted.arch {
        return Err(Why::WrongArch(arch));
    }
    wanted.build_id.map_or(Ok(false), |id| check_build_id(image, id).map(|()| true))
}

pub(crate) fn check_build_id(image: &Image, wanted: &BuildId) -> Result<(), Why> {
    let found = image.build_id();
    if found.as_ref().is_some_and(|found| wanted.names(found)) {
        Ok(())
    } else {
        Err(Why::BuildIdMismatch { found })
    }
}

pub(crate) fn without_deleted(path: &Path) -> &Path {
    let bytes = path.as_os_str().as_bytes();
    bytes.strip_suffix(DELETED).map_or(path, |bytes| Path::new(OsStr::from_bytes(bytes)))
}
