//! One compilation unit: its header and its root entry, and what was read of it later.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU32, Ordering},
};

use gimli::{
    Attribute, AttributeSpecification, AttributeValue, DebugAddrBase, DebugInfo, DebugInfoOffset,
    DebugLocListsBase, DebugRngListsBase, DebugStrOffsetsBase, DebugTypes, DwTag, DwoId, Error,
    Reader as _, UnitHeader, UnitType, constants,
};

use kcore_mem::{Budget, Built};
use rustc_hash::FxHashMap;

use super::{
    Reader, Result, UnitOffset, abbreviations,
    attributes::PcRanges,
    calls::CallsOfFunctions,
    file::DwarfFile,
    files::{Files, Which},
    functions::Functions,
    inlined::FunctionAt,
    outline::{self, Outline},
    rows::Rows,
    unit_names::UnitNames,
    walk::{Walk, check},
};
use crate::{Language, long_name::shown};

/// Entries whose scopes are asked for before the outline of their whole unit is read.
const SELDOM: u32 = 8;

/// What names clang among the producers.
const CLANG: &[u8] = b"clang";

/// Where a unit was put that is not in the file itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SplitName {
    /// The path of its file, relative to the directory of compilation if it is not absolute.
    pub path: String,
    /// The directory of compilation.
    pub directory: Option<String>,
    /// The number that both halves have.
    pub id: u64,
}

/// A compilation unit. Offsets within it count from its own first byte.
pub struct Unit {
    /// Where it begins in `.debug_info`.
    pub start: usize,
    /// Header, abbreviations, and the bases that forms refer to. It has no line program.
    pub unit: gimli::Unit<Reader>,
    /// `DW_AT_language`.
    pub language: Option<Language>,
    /// Whether clang made it.
    pub(crate) is_of_clang: bool,
    /// The addresses of the root entry.
    pub pcs: PcRanges,
    /// Where the rest of it is, if this is only its skeleton.
    pub split: Option<SplitName>,
    /// Says when readers have to end.
    pub budget: Budget,
    line_program: Option<usize>,
    functions: Built<Result<Functions>>,
    calls: CallsOfFunctions,
    rows: Built<Result<Arc<Rows>>>,
    paths: Mutex<FxHashMap<u64, Option<Arc<str>>>>,
    outline: Built<Result<Outline>>,
    names: Built<Result<UnitNames>>,
    /// How often scopes were asked for.
    asked: AtomicU32,
}

impl Unit {
    /// Reads the unit at `start`.
    pub fn open(file: &DwarfFile, start: usize) -> Result<Self> {
        let header = header(file, start)?;
        let table = abbreviations::table(file, header.debug_abbrev_offset().0)?;
        Self::new(file, start, header, table)
    }

    /// Reads only what the root entry says; nothing else can be asked of such a unit.
    pub fn open_root(file: &DwarfFile, start: usize) -> Result<Self> {
        let header = header(file, start)?;
        let code = header.range_from(header.root_offset()..)?.read_uleb128()?;
        let root = abbreviations::with_root(file, header.debug_abbrev_offset().0, code)?;
        Self::new(file, start, header, root)
    }

    fn new(
        file: &DwarfFile,
        start: usize,
        header: UnitHeader<Reader>,
        abbreviations: Arc<gimli::Abbreviations>,
    ) -> Result<Self> {
        let mut unit = Self {
            start,
            unit: bare(file, header, abbreviations),
            language: None,
            is_of_clang: false,
            pcs: PcRanges::default(),
            split: None,
            budget: file.budget.clone(),
            line_program: None,
            functions: Built::new(),
            calls: CallsOfFunctions::default(),
            rows: Built::new(),
            paths: Mutex::default(),
            outline: Built::new(),
            names: Built::new(),
            asked: AtomicU32::new(0),
        };
        unit.read_root(file)?;
        Ok(unit)
    }

    /// Whether it may hold code: the others hold types, or what several units share.
    pub fn may_hold_code(&self) -> bool {
        matches!(
            self.unit.header.type_(),
            UnitType::Compilation | UnitType::Skeleton(_) | UnitType::SplitCompilation(_)
        )
    }

    /// Whether names of templates may lack their arguments, which clang can leave out.
    pub fn may_lack_arguments(&self) -> bool {
        self.is_of_clang && self.language == Some(Language::Cpp)
    }

    /// The functions of the unit.
    pub fn functions(&self, file: &DwarfFile) -> Result<&Functions> {
        let functions = self.functions.get_or_build(&self.budget, || Functions::read(file, self));
        functions.as_ref().map_err(Error::clone)
    }

    /// The function at `entry`, and the calls that are inlined into it at `pc`.
    pub fn function_at(&self, file: &DwarfFile, entry: UnitOffset, pc: u64) -> Result<FunctionAt> {
        self.calls.at(file, self, entry, pc)
    }

    /// The lines of the unit.
    pub fn rows(&self, file: &DwarfFile) -> Result<&Rows> {
        let rows = self.rows.get_or_build(&self.budget, || match self.line_program {
            Some(start) => Rows::shared(file, self, start),
            None => Ok(Arc::default()),
        });
        rows.as_deref().map_err(Error::clone)
    }

    /// The path of a source file by its number, which all code of that file shares. Of one of more than
    /// 4 KiB its beginning, and `...`.
    pub fn path(&self, file: &DwarfFile, number: u64) -> Result<Option<Arc<str>>> {
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = paths.get(&number) {
            return Ok(known.clone());
        }
        let path = self.rows(file)?.path(file, self, number)?.as_deref().map(shown);
        paths.insert(number, path.clone());
        Ok(path)
    }

    /// The scopes around an entry, the innermost first. Who asks often is answered from an outline of
    /// the whole unit.
    pub fn scopes_around(&self, entry: UnitOffset) -> Result<Vec<UnitOffset>> {
        let is_seldom = self.asked.fetch_add(1, Ordering::Relaxed) < SELDOM;
        if is_seldom && self.outline.get().is_none() {
            return outline::around(self, entry);
        }
        let outline = self.outline.get_or_build(&self.budget, || Outline::read(self)).as_ref();
        outline.map(|outline| outline.around(entry)).map_err(Error::clone)
    }

    /// The types and variables that the unit names, read once. `hash` makes the hash of a name.
    pub fn names(
        &self,
        files: &Files,
        which: Which,
        hash: fn(&[u8]) -> u32,
        is_type: fn(DwTag) -> bool,
    ) -> Result<&UnitNames> {
        let read = || UnitNames::read(files, which, self, hash, is_type);
        self.names.get_or_build(&self.budget, read).as_ref().map_err(Error::clone)
    }

    /// Where the entries below an entry end: at the next entry that is not one of them.
    pub fn end_of(&self, entry: UnitOffset) -> Result<UnitOffset> {
        let mut walk = Walk::new(self, Some(entry))?;
        if let Some(entry) = walk.next(-1)? {
            walk.pass_tree(&entry)?;
        }
        let next = walk.next(isize::MIN)?.map(|next| next.offset);
        Ok(next.unwrap_or(gimli::UnitOffset(self.unit.header.length_including_self())))
    }

    /// The path of its main source file, as the compiler was given it.
    pub fn source_file(&self) -> Option<String> {
        Some(self.unit.name.as_ref()?.to_string_lossy().ok()?.into_owned())
    }

    /// The offset in this unit of an offset in `.debug_info`.
    pub fn offset_of(&self, info: usize) -> Option<UnitOffset> {
        let offset = gimli::UnitOffset(info.checked_sub(self.start)?);
        (offset.0 < self.unit.header.length_including_self()).then_some(offset)
    }

    fn read_root(&mut self, file: &DwarfFile) -> Result<()> {
        let root = self.root_attributes()?;
        // The bases come first: other attributes of the same entry refer to them.
        root.iter().for_each(|attribute| self.take_base(attribute));
        for attribute in &root {
            self.take(file, attribute)?;
            self.pcs.take(file, &self.unit, attribute)?;
        }
        self.split = self.split_name(file, &root);
        Ok(())
    }

    /// The number that a skeleton and what was split off from it have in common.
    pub fn split_id(&self) -> Option<u64> {
        self.unit.dwo_id.map(|id| id.0)
    }

    /// Where the other half of a skeleton is. A split unit of DWARF 4 has the number, and no name.
    fn split_name(&self, file: &DwarfFile, root: &[Attribute<Reader>]) -> Option<SplitName> {
        let path = root.iter().find(|attribute| {
            let name = attribute.name();
            matches!(name, constants::DW_AT_dwo_name | constants::DW_AT_GNU_dwo_name)
        })?;
        let path = file.dwarf.attr_string(&self.unit, path.value()).ok()?;
        let path = path.to_string_lossy().ok()?.into_owned();
        let directory = self.unit.comp_dir.as_ref().and_then(|dir| dir.to_string_lossy().ok());
        let directory = directory.map(std::borrow::Cow::into_owned);
        let is_skeleton = file.skeleton.is_none() && !file.is_types;
        is_skeleton.then_some(SplitName { path, directory, id: self.split_id()? })
    }

    fn take(&mut self, file: &DwarfFile, attribute: &Attribute<Reader>) -> Result<()> {
        match (attribute.name(), attribute.value()) {
            (constants::DW_AT_language, AttributeValue::Language(language)) => {
                self.language = Some(language.into());
            }
            (constants::DW_AT_producer, value) => {
                let producer = file.dwarf.attr_string(&self.unit, value);
                let producer = producer.and_then(|text| Ok(text.to_slice()?.into_owned()));
                self.is_of_clang =
                    producer.is_ok_and(|text| text.windows(CLANG.len()).any(|part| part == CLANG));
            }
            (constants::DW_AT_stmt_list, AttributeValue::DebugLineRef(offset)) => {
                self.line_program = Some(offset.0);
            }
            (constants::DW_AT_name, value) => {
                self.unit.name = file.dwarf.attr_string(&self.unit, value).ok();
            }
            (constants::DW_AT_comp_dir, value) => {
                self.unit.comp_dir = file.dwarf.attr_string(&self.unit, value).ok();
            }
            (constants::DW_AT_low_pc, value) => {
                let low = file.dwarf.attr_address(&self.unit, value)?;
                self.unit.low_pc = low.unwrap_or_default();
            }
            _ => {}
        }
        Ok(())
    }

    fn root_attributes(&self) -> Result<Vec<Attribute<Reader>>> {
        let mut entries = self.unit.header.entries_raw(&self.unit.abbreviations, None)?;
        let root = entries.read_abbreviation()?.ok_or(Error::MissingUnitDie)?;
        let read = |form: &AttributeSpecification| {
            let attribute = entries.read_attribute(*form)?;
            check(&attribute)?;
            Ok(attribute)
        };
        root.attributes().iter().map(read).collect()
    }

    fn take_base(&mut self, attribute: &Attribute<Reader>) {
        match attribute.value() {
            AttributeValue::DebugStrOffsetsBase(base) => self.unit.str_offsets_base = base,
            AttributeValue::DebugAddrBase(base) => self.unit.addr_base = base,
            AttributeValue::DebugLocListsBase(base) => self.unit.loclists_base = base,
            AttributeValue::DebugRngListsBase(base) => self.unit.rnglists_base = base,
            AttributeValue::DwoId(id) => self.unit.dwo_id = Some(id),
            _ => {}
        }
    }
}

/// The header of the unit at `start`, which says what kind of unit it is.
pub fn header(file: &DwarfFile, start: usize) -> Result<UnitHeader<Reader>> {
    let (bytes, _) = file.unit_bytes(start)?;
    if file.is_types {
        return DebugTypes::from(bytes).units().next()?.ok_or(Error::MissingUnitDie);
    }
    DebugInfo::from(bytes).header_from_offset(DebugInfoOffset(0))
}

/// A unit of which only the header is known.
fn bare(
    file: &DwarfFile,
    header: UnitHeader<Reader>,
    abbreviations: Arc<gimli::Abbreviations>,
) -> gimli::Unit<Reader> {
    let (encoding, kind) = (header.encoding(), file.kind());
    let rnglists = DebugRngListsBase::default_for_encoding_and_file(encoding, kind);
    let skeleton = file.skeleton;
    let old_ranges = skeleton.filter(|_| header.version() < 5).map(|skeleton| skeleton.ranges);
    gimli::Unit {
        dwo_id: dwo_id(&header),
        header,
        abbreviations,
        name: None,
        comp_dir: None,
        low_pc: skeleton.map_or(0, |skeleton| skeleton.low_pc),
        str_offsets_base: DebugStrOffsetsBase::default_for_encoding_and_file(encoding, kind),
        addr_base: skeleton.map_or(DebugAddrBase(0), |skeleton| skeleton.addr),
        loclists_base: DebugLocListsBase::default_for_encoding_and_file(encoding, kind),
        rnglists_base: old_ranges.unwrap_or(rnglists),
        line_program: None,
    }
}

fn dwo_id(header: &UnitHeader<Reader>) -> Option<DwoId> {
    match header.type_() {
        UnitType::Skeleton(id) | UnitType::SplitCompilation(id) => Some(id),
        _ => None,
    }
}
