//! Source lines and inlined calls.
//!
//! The DWARF of a module is opened when the first address of it is asked for, and only the
//! compilation units that hold an address are read. Where the file of a split unit is missing, an
//! answer is made from its skeleton.

use std::{
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use kcore_elf::Image;
use kcore_mem::Svma;
use rustc_hash::FxHashMap;

use crate::{
    DebugContext, DebugInfo, DieId, Language, SplitName, TypeError,
    dwarf::{Resolver, Splits},
    meter::HALTED,
};

/// Answers that are remembered; beyond it all are forgotten.
const MAX_CACHED: usize = 1 << 16;

/// A function, inlined or not, that an address belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineFrame {
    /// Its linkage name if DWARF has one, else its plain name; mangled. `None` when only the line
    /// is known.
    pub function: Option<Arc<str>>,
    /// Path of the source file as DWARF states it, joined with the directory of compilation.
    pub file: Option<Arc<str>>,
    /// Line, from 1: of the address in the innermost frame, of the call in the others.
    pub line: Option<u32>,
    /// Column, from 1.
    pub column: Option<u32>,
    /// Language of the compilation unit.
    pub language: Option<Language>,
    /// Whether it is inlined into the next frame.
    pub inline: bool,
}

/// The source lines of one module.
pub struct Lines {
    files: Vec<Arc<Image>>,
    supplementary: Option<Arc<Image>>,
    context: DebugContext,
    opened: OnceLock<Option<OpenDwarf>>,
    problem: OnceLock<String>,
}

/// What is open of a module's DWARF.
struct OpenDwarf {
    info: Arc<DebugInfo>,
    lines: Mutex<Answers>,
}

/// Who answers, and what was answered.
struct Answers {
    resolver: Resolver,
    known: FxHashMap<Svma, Arc<[LineFrame]>>,
}

impl Lines {
    /// The lines of a module's file or of its separate debug file, whichever has DWARF.
    pub fn new(image: Option<Arc<Image>>, debug: Option<Arc<Image>>) -> Self {
        Self::with_supplementary(image, debug, None, DebugContext::default())
    }

    /// The same, with the file that `.gnu_debugaltlink` names, where `dwz` moves names that several
    /// modules share, and with what else debug information needs.
    pub fn with_supplementary(
        image: Option<Arc<Image>>,
        debug: Option<Arc<Image>>,
        supplementary: Option<Arc<Image>>,
        context: DebugContext,
    ) -> Self {
        let files = debug.into_iter().chain(image).collect();
        Self { files, supplementary, context, opened: OnceLock::new(), problem: OnceLock::new() }
    }

    /// Whether the module has line information at all. Opens nothing.
    pub fn has_debug_info(&self) -> bool {
        self.dwarf_file().is_some()
    }

    /// Opens the DWARF; reads no unit.
    pub(crate) fn prepare(&self) {
        self.opened();
    }

    /// The debug information that lines are read from.
    pub fn debug_info(&self) -> Option<&Arc<DebugInfo>> {
        self.opened().map(|opened| &opened.info)
    }

    /// The functions that `svma` belongs to, the innermost inlined one first, the one that the
    /// machine called last; empty when DWARF knows nothing of the address. For a return address
    /// ask for the byte before it.
    pub fn find(&self, svma: Svma) -> Arc<[LineFrame]> {
        let Some(opened) = self.opened() else { return Arc::default() };
        let mut answers = opened.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = answers.known.get(&svma) {
            return Arc::clone(answer);
        }
        let (frames, problem) = answers.resolver.find(svma.get());
        if opened.info.budget().is_halted() {
            return frames.into();
        }
        if let Some(error) = problem {
            self.problem.get_or_init(|| format!("debug information for {svma}: {error}"));
        }
        let refused = opened.info.files().known_splits().map_or(0, Splits::refused);
        if refused > 0 {
            self.problem.get_or_init(|| {
                "debug information: too many units have the same other half in a file of split units: some were not read"
                    .to_owned()
            });
        }
        if opened.info.files().long_names.is_cut() {
            self.problem.get_or_init(|| {
                "debug information: names of functions of more than 256 bytes are longer than 64 MiB in all: some were left out"
                    .to_owned()
            });
        }
        if answers.known.len() >= MAX_CACHED {
            answers.known.clear();
        }
        let answer: Arc<[LineFrame]> = frames.into();
        answers.known.insert(svma, Arc::clone(&answer));
        answer
    }

    /// The debug information and the entry in it of the function that holds `svma`; functions that
    /// are inlined there lie below it.
    ///
    /// # Errors
    /// When the command has to end.
    pub(crate) fn function_at(
        &self,
        svma: Svma,
    ) -> Result<Option<(&Arc<DebugInfo>, DieId)>, TypeError> {
        let Some(opened) = self.opened() else { return Ok(None) };
        let mut answers = opened.lines.lock().unwrap_or_else(PoisonError::into_inner);
        match answers.resolver.find_function(svma.get()) {
            Ok(found) => Ok(found.map(|(which, offset)| (&opened.info, DieId { which, offset }))),
            Err(HALTED) => Err(TypeError::Exhausted),
            Err(_) => Ok(None),
        }
    }

    /// The file to which the debug information of the code at `svma` was split off, if it was not found. Looks for
    /// none where none was missing yet.
    pub fn missing_split(&self, svma: Svma) -> Option<SplitName> {
        let opened = self.opened.get()?.as_ref()?;
        if opened.info.times_missed() == 0 {
            return None;
        }
        let mut answers = opened.lines.lock().unwrap_or_else(PoisonError::into_inner);
        answers.resolver.missing_split(svma.get())
    }

    /// The debug information, if somebody needed it before.
    pub fn opened_debug_info(&self) -> Option<&Arc<DebugInfo>> {
        Some(&self.opened.get()?.as_ref()?.info)
    }

    /// What is wrong with the DWARF, as far as it is known by now: the first error met.
    pub fn problem(&self) -> Option<&str> {
        self.problem.get().map(String::as_str)
    }

    fn dwarf_file(&self) -> Option<&Arc<Image>> {
        let has_bytes = |image: &Image| {
            image
                .section(".debug_info")
                .is_some_and(|info| info.size > 0 && info.file_range().is_some())
        };
        self.files.iter().find(|image| has_bytes(image))
    }

    fn opened(&self) -> Option<&OpenDwarf> {
        self.opened.get_or_init(|| self.open()).as_ref()
    }

    fn open(&self) -> Option<OpenDwarf> {
        let info =
            DebugInfo::open_with(self.dwarf_file()?, self.supplementary.as_deref(), &self.context);
        let resolver = Resolver::new(Arc::clone(info.files()));
        let lines = Mutex::new(Answers { resolver, known: FxHashMap::default() });
        Some(OpenDwarf { info: Arc::new(info), lines })
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").field("problem", &self.problem()).finish_non_exhaustive()
    }
}
