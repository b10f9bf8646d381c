//! What would have to be fetched for full answers: files of modules, and their debug information, with the build-ids by
//! which to ask for them.

use std::collections::HashMap;

use kcore_elf::BuildId;
use kcore_files::{SearchResult, SearchedPlace, Tried, has_debug_info};
use kcore_mem::Addr;

use crate::{Core, FileState, Module};

/// Where the kernel mapped the dynamic linker (Linux `include/uapi/linux/auxvec.h`).
const AT_BASE: u64 = 7;
/// Frames of a stack that are counted, from the innermost one on.
const FRAMES: usize = 256;

/// Which file of a module is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MissingUse {
    /// The module itself: code, and the unwind information that belongs to it.
    Executable,
    /// Its debug information: lines, variables, types.
    DebugInfo,
    /// What `dwz` moved out of the debug information of several modules.
    Supplementary,
    /// The debug information of single units, which their compiler split off.
    Split,
}

impl MissingUse {
    /// The word for it in output; for the first two it is what debuginfod calls them.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Executable => "executable",
            Self::DebugInfo => "debuginfo",
            Self::Supplementary => "supplementary",
            Self::Split => "split",
        }
    }
}

/// A file that would have to be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingFile {
    /// What it is.
    pub is_for: MissingUse,
    /// The name of its module.
    pub module: String,
    /// The path of the module as the process had it; of a split or supplementary file its own name.
    pub path: String,
    /// Where the module begins; `None` where nothing tells.
    pub base: Option<Addr>,
    /// The build-id of the module, if the core holds it.
    pub build_id: Option<BuildId>,
    /// Bytes that the file has at least, since the process had that many of it mapped.
    pub at_least: Option<u64>,
    /// Frames of the stacks of all threads that lie in the module.
    pub frames: u64,
    /// Files that were looked at, and why each was refused.
    pub tried: Vec<Tried>,
}

/// Questions about the files that answers need: see [`Core::files`].
#[derive(Clone, Copy)]
pub struct FileView<'c> {
    pub(crate) core: &'c Core,
}

impl Core {
    /// The files that it was made of: which are at hand, which are missing.
    pub const fn files(&self) -> FileView<'_> {
        FileView { core: self }
    }
}

impl FileView<'_> {
    /// The files that are missing, those of modules with the most frames first. Debug information of modules that are on
    /// no stack counts only with `all`.
    pub fn missing(self, all: bool) -> Vec<MissingFile> {
        let frames = self.core.frames_by_module();
        let count = |module: &Module| frames.get(&module.base()).copied().unwrap_or_default();
        let modules = self.core.modules().all().iter().filter(|module| !module.is_vdso());
        let mut missing: Vec<MissingFile> = modules
            .flat_map(|module| {
                let frames = count(module);
                let executable = missing_executable(module, frames);
                let debug = (all || frames > 0).then(|| missing_debug_info(module, frames));
                executable.into_iter().chain(debug.flatten())
            })
            .collect();
        missing.extend(self.core.missing_parts(&frames));
        missing
            .sort_by_key(|file| (std::cmp::Reverse(file.frames), file.is_for == MissingUse::Split));
        self.core.named_only().into_iter().chain(missing).collect()
    }
}

impl Core {
    /// Files of which nothing was found in memory, so that they are no modules: the executable, as the kernel noted it,
    /// and the dynamic linker, whose name stands in the executable alone.
    fn named_only(&self) -> Vec<MissingFile> {
        let named = |path: String, base| MissingFile {
            is_for: MissingUse::Executable,
            module: path.rsplit('/').next().unwrap_or_default().to_owned(),
            path,
            base,
            build_id: None,
            at_least: None,
            frames: 0,
            tried: Vec::new(),
        };
        let exe = self.process().executable_without_file().map(|path| named(path, None));
        let linker = self.process().aux(AT_BASE).filter(|base| *base != 0).map(Addr::new);
        let linker = linker.filter(|base| self.modules().at(*base).is_none());
        let linker = linker.map(|base| named("[dynamic linker]".to_owned(), Some(base)));
        exe.into_iter().chain(linker).collect()
    }

    /// What was needed to name the frames of stacks, and was not found.
    fn missing_parts(&self, frames: &HashMap<Addr, u64>) -> Vec<MissingFile> {
        let parts = self.files().missing_debug().into_iter().filter_map(|part| {
            let module = self.modules().at(part.at())?;
            Some(MissingFile {
                is_for: if part.is_split() { MissingUse::Split } else { MissingUse::Supplementary },
                module: part.module.clone(),
                path: part.file.clone(),
                base: Some(module.base()),
                build_id: part.build_id(module),
                at_least: None,
                frames: frames.get(&module.base()).copied().unwrap_or_default(),
                tried: Vec::new(),
            })
        });
        let mut missing: Vec<MissingFile> = Vec::new();
        for part in parts {
            // What several modules share is fetched once.
            let is_same =
                |it: &&mut MissingFile| part.build_id.is_some() && it.build_id == part.build_id;
            match missing.iter_mut().find(is_same) {
                Some(known) => known.frames = known.frames.saturating_add(part.frames),
                None => missing.push(part),
            }
        }
        missing
    }

    /// How many frames each module has, by where it begins. The innermost frames are named on the way, so that debug
    /// information that is in parts tells which of them it lacks.
    fn frames_by_module(&self) -> HashMap<Addr, u64> {
        let mut frames: HashMap<Addr, u64> = HashMap::new();
        for tid in self.tids() {
            if self.budget().is_halted() {
                break;
            }
            let stack = self.stacks().of_thread(tid, FRAMES);
            let places = stack.frames.iter().map(|frame| frame.pc.lookup());
            for module in places.filter_map(|at| self.modules().at(at)) {
                let count = frames.entry(module.base()).or_default();
                *count = count.saturating_add(1);
            }
            self.stacks().native_frames(&stack).for_each(drop);
        }
        frames
    }
}

fn missing_executable(module: &Module, frames: u64) -> Option<MissingFile> {
    if !matches!(module.file_state(), FileState::Missing(_)) {
        return None;
    }
    let tried = module.tried().to_vec();
    let ends = module.mapped().ranges.iter();
    let ends = ends.map(|it| it.offset.get().saturating_add(it.range.len()));
    let at_least = ends.max().map(|end| end.saturating_sub(PAGE));
    Some(MissingFile { at_least, ..new(MissingUse::Executable, module, frames, tried) })
}

/// The last page of a mapping may lie behind the end of its file but for one byte.
const PAGE: u64 = 4095;

fn missing_debug_info(module: &Module, frames: u64) -> Option<MissingFile> {
    if module.image().is_some_and(|image| has_debug_info(image)) {
        return None;
    }
    let found: &SearchResult = module.debug_found();
    let is_there = found
        .file
        .as_ref()
        .is_some_and(|file| !matches!(file.place, SearchedPlace::Within | SearchedPlace::Breakpad));
    (!is_there).then(|| new(MissingUse::DebugInfo, module, frames, found.tried.clone()))
}

fn new(is_for: MissingUse, module: &Module, frames: u64, tried: Vec<Tried>) -> MissingFile {
    let own = || module.image().and_then(|image| image.build_id());
    MissingFile {
        is_for,
        module: module.name().to_owned(),
        path: module.path(),
        base: Some(module.base()),
        build_id: module.build_id().cloned().or_else(own),
        at_least: None,
        frames,
        tried,
    }
}
