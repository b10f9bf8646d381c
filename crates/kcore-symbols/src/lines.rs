//! Source lines and inlined calls, by addr2line.
//!
//! The DWARF of a module is opened when the first address of it is asked for, and only the
//! compilation units that hold an address are read. Split DWARF is not opened: an answer is then
//! made from the skeleton.

use std::{
    convert::Infallible,
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use addr2line::{Context, Frame};
use gimli::{Dwarf, EndianReader, RunTimeEndian};
use kcore_elf::{Image, Section};
use kcore_mem::{Endian, Svma};
use rustc_hash::FxHashMap;

use crate::Language;

/// Answers that are remembered; beyond it all are forgotten.
const MAX_CACHED: usize = 1 << 16;
/// Calls inlined into one another that an answer shows, at most.
const MAX_INLINED: usize = 1024;

type Reader = EndianReader<RunTimeEndian, Section>;

/// A function, inlined or not, that an address belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineFrame {
    /// Its linkage name if DWARF has one, else its plain name; mangled. `None` when only the line
    /// is known.
    pub function: Option<String>,
    /// Path of the source file as DWARF states it, joined with the directory of compilation.
    pub file: Option<String>,
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
    opened: OnceLock<Result<Mutex<Opened>, String>>,
    problem: OnceLock<String>,
}

/// What is open of a module's DWARF. addr2line's context may move between threads, but two threads
/// may not use it at once.
struct Opened {
    context: Context<Reader>,
    answers: FxHashMap<Svma, Arc<[LineFrame]>>,
}

impl Lines {
    /// The lines of a module's file or of its separate debug file, whichever has DWARF.
    pub fn new(image: Option<Arc<Image>>, debug: Option<Arc<Image>>) -> Self {
        Self::with_supplementary(image, debug, None)
    }

    /// The same, with the file that `.gnu_debugaltlink` names: `dwz` moves names there that several
    /// modules share.
    pub fn with_supplementary(
        image: Option<Arc<Image>>,
        debug: Option<Arc<Image>>,
        supplementary: Option<Arc<Image>>,
    ) -> Self {
        let files = debug.into_iter().chain(image).collect();
        Self { files, supplementary, opened: OnceLock::new(), problem: OnceLock::new() }
    }

    /// Whether the module has line information at all. Opens nothing.
    pub fn has_debug_info(&self) -> bool {
        self.dwarf_file().is_some()
    }

    /// The functions that `svma` belongs to, the innermost inlined one first, the one that the
    /// machine called last; empty when DWARF knows nothing of the address. For a return address
    /// ask for the byte before it.
    pub fn find(&self, svma: Svma) -> Arc<[LineFrame]> {
        let Ok(opened) = self.opened.get_or_init(|| self.open()) else { return Arc::default() };
        let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = opened.answers.get(&svma) {
            return Arc::clone(answer);
        }
        let answer: Arc<[LineFrame]> = self.ask(&opened.context, svma).into();
        if opened.answers.len() >= MAX_CACHED {
            opened.answers.clear();
        }
        opened.answers.insert(svma, Arc::clone(&answer));
        answer
    }

    /// What is wrong with the DWARF, as far as it is known by now: the first error met.
    pub fn problem(&self) -> Option<&str> {
        let unopened = self.opened.get().and_then(|opened| opened.as_ref().err());
        unopened.or_else(|| self.problem.get()).map(String::as_str)
    }

    fn dwarf_file(&self) -> Option<&Arc<Image>> {
        let has_bytes = |image: &Image| {
            image
                .section(".debug_info")
                .is_some_and(|info| info.size > 0 && info.file_range().is_some())
        };
        self.files.iter().find(|image| has_bytes(image))
    }

    fn open(&self) -> Result<Mutex<Opened>, String> {
        let mut dwarf = self.dwarf_file().map(|image| load(image)).unwrap_or_else(no_dwarf);
        if let Some(supplementary) = &self.supplementary {
            dwarf.set_sup(load(supplementary));
        }
        let context =
            Context::from_dwarf(dwarf).map_err(|error| format!("debug information: {error}"))?;
        Ok(Mutex::new(Opened { context, answers: FxHashMap::default() }))
    }

    fn ask(&self, context: &Context<Reader>, svma: Svma) -> Vec<LineFrame> {
        let mut frames = Vec::new();
        if let Err(error) = collect(context, svma, &mut frames) {
            self.note(svma, &error);
        }
        if let Some(outermost) = frames.last_mut() {
            outermost.inline = false;
        }
        frames
    }

    fn note(&self, svma: Svma, error: &gimli::Error) {
        self.problem.get_or_init(|| format!("debug information for {svma}: {error}"));
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").field("problem", &self.problem()).finish_non_exhaustive()
    }
}

fn load(image: &Image) -> Dwarf<Reader> {
    let order = match image.target().endian {
        Endian::Little => RunTimeEndian::Little,
        Endian::Big => RunTimeEndian::Big,
    };
    let section = |id: gimli::SectionId| {
        let data = image.section_data(id.name()).unwrap_or_default();
        Ok::<_, Infallible>(EndianReader::new(data, order))
    };
    Dwarf::load(section).unwrap_or_else(|never| match never {})
}

fn no_dwarf() -> Dwarf<Reader> {
    let empty = |_| Ok::<_, Infallible>(EndianReader::new(Section::empty(), RunTimeEndian::Little));
    Dwarf::load(empty).unwrap_or_else(|never| match never {})
}

/// Collects the frames of an address; on an error those before it stay.
fn collect(
    context: &Context<Reader>,
    svma: Svma,
    frames: &mut Vec<LineFrame>,
) -> Result<(), gimli::Error> {
    let mut found = context.find_frames(svma.get()).skip_all_loads()?;
    while let Some(frame) = found.next()? {
        frames.push(frame_of(&frame)?);
        if frames.len() >= MAX_INLINED {
            break;
        }
    }
    drop(found);
    if !frames.is_empty() && frames.iter().all(|frame| frame.language.is_none()) {
        let language = unit_language(context, svma);
        frames.iter_mut().for_each(|frame| frame.language = language);
    }
    Ok(())
}

fn frame_of(frame: &Frame<'_, Reader>) -> Result<LineFrame, gimli::Error> {
    let function = frame.function.as_ref();
    let name = function.map(|name| name.raw_name().map(|name| name.into_owned())).transpose()?;
    let location = frame.location.as_ref();
    Ok(LineFrame {
        function: name.filter(|name| !name.is_empty()),
        file: location.and_then(|location| location.file).map(str::to_owned),
        line: location.and_then(|location| location.line),
        // DWARF's column 0 says that the column is not known.
        column: location.and_then(|location| location.column).filter(|column| *column > 0),
        language: function.and_then(|function| function.language).map(Language::from),
        inline: true,
    })
}

/// The language of the unit that holds an address; needed where no function has a name, as in
/// assembly.
fn unit_language(context: &Context<Reader>, svma: Svma) -> Option<Language> {
    let unit = context.find_dwarf_and_unit(svma.get()).skip_all_loads()?;
    let mut entries = unit.entries();
    let root = entries.next_dfs().ok()??;
    match root.attr_value(gimli::DW_AT_language)? {
        gimli::AttributeValue::Language(language) => Some(language.into()),
        _ => None,
    }
}
