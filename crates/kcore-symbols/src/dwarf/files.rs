//! The files and sections that the debug information of a module lies in.

use std::sync::Arc;

use gimli::{AttributeValue, Error};
use kcore_elf::{Image, SectionStream};
use kcore_mem::Built;

use super::{
    Reader, Result, UnitOffset,
    file::{DwarfFile, order_of, section},
    names::LongNames,
    ranges::Aranges,
    split::{SplitFiles, Splits},
    unit::Unit,
    units::Units,
};

/// In which file, and which of its sections, an entry lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Which {
    /// The module's own.
    Main,
    /// Its own type units, where DWARF 4 has them.
    Types,
    /// The supplementary one.
    Supplementary,
    /// That of the split unit with this number.
    Split(u32),
    /// The same for its type units, where DWARF 4 has them.
    SplitTypes(u32),
    /// That of the type unit with this number in the package of split units.
    PackageTypes(u32),
}

/// The debug information of a module, by file. Threads may share it.
pub struct Files {
    /// Its own.
    pub main: Units,
    /// What `.debug_aranges` says of them.
    pub aranges: Aranges,
    /// Its own type units of DWARF 4.
    types: Option<Units>,
    /// The one that `dwz` made.
    pub supplementary: Option<Units>,
    /// Names of functions that are not short.
    pub long_names: LongNames,
    /// What others say of its names.
    pub lists: NameLists,
    finder: Option<Arc<dyn SplitFiles>>,
    splits: Built<Option<Splits>>,
}

/// Sections that say which units name something. They are read when somebody asks.
pub struct NameLists {
    /// `.gdb_index`.
    pub gdb_index: Option<Arc<SectionStream>>,
    /// `.debug_names` of DWARF 5.
    pub debug_names: Option<Arc<SectionStream>>,
}

impl NameLists {
    fn open(image: &Image) -> Self {
        let stream = |name| image.section_stream(name).filter(|stream| stream.size() > 0);
        Self { gdb_index: stream(".gdb_index"), debug_names: stream(".debug_names") }
    }
}

impl Files {
    /// The debug information of an image, with its supplementary file and one who finds those of its
    /// split units.
    pub fn open(
        image: &Image,
        supplementary: Option<&Image>,
        finder: Option<Arc<dyn SplitFiles>>,
    ) -> Self {
        let main = DwarfFile::open(image);
        let aranges = Aranges::read(section(image, ".debug_aranges", order_of(image)));
        let types = main.types(image).map(Units::new);
        let supplementary = supplementary.map(|image| Units::new(DwarfFile::open(image)));
        let main = Units::with_known(main, aranges.units.iter().copied());
        let lists = NameLists::open(image);
        let long_names = LongNames::default();
        Self {
            main,
            aranges,
            types,
            supplementary,
            long_names,
            lists,
            finder,
            splits: Built::new(),
        }
    }

    /// The units of one of the files.
    pub fn units(&self, which: Which) -> Option<&Units> {
        let main = &self.main.file;
        match which {
            Which::Main => Some(&self.main),
            Which::Types => self.types.as_ref(),
            Which::Supplementary => self.supplementary.as_ref(),
            Which::Split(number) => self.splits()?.info(main, number),
            Which::SplitTypes(number) => self.splits()?.types(main, number),
            Which::PackageTypes(row) => self.splits()?.package_types(main, row),
        }
    }

    /// All sections that have units, those of files that may not be found among them.
    pub fn all(&self) -> Vec<Which> {
        let mut all = vec![Which::Main, Which::Types, Which::Supplementary];
        if let Some(splits) = self.splits() {
            for number in 0..splits.count() {
                all.push(Which::Split(number));
                if splits.lists_types(&self.main.file, number) {
                    all.push(Which::SplitTypes(number));
                }
            }
            let types = splits.type_count();
            all.extend((0..types).map(Which::PackageTypes));
        }
        all
    }

    /// The units that were split off; `None` where nobody could find them.
    pub fn splits(&self) -> Option<&Splits> {
        let read = || Some(Splits::read(&self.main, Arc::clone(self.finder.as_ref()?)));
        self.splits.get_or_build(&self.main.file.budget, read).as_ref()
    }

    /// The same, if somebody asked for them before.
    pub fn known_splits(&self) -> Option<&Splits> {
        self.splits.get()?.as_ref()
    }

    /// The other half of a skeleton.
    pub fn split_of(&self, skeleton: &Unit) -> Option<(Which, Arc<Unit>)> {
        skeleton.split.as_ref()?;
        let splits = self.splits()?;
        let number = splits.of_skeleton(skeleton.start)?;
        Some((Which::Split(number), splits.half(&self.main.file, number)?))
    }

    /// The unit that an offset of one of the sections lies in, and the offset in it.
    pub fn place(&self, which: Which, offset: usize) -> Result<(Arc<Unit>, UnitOffset)> {
        let missing = Error::NoEntryAtGivenOffset(offset as u64);
        let unit = self.units(which).ok_or(missing)?.containing(offset)?;
        let entry = unit.offset_of(offset).ok_or(missing)?;
        Ok((unit, entry))
    }

    /// The entry that an attribute of a unit of that file refers to: in which file, and where in its
    /// section.
    pub fn reference(
        &self,
        which: Which,
        unit: &Unit,
        value: &AttributeValue<Reader>,
    ) -> Option<(Which, usize)> {
        match value {
            AttributeValue::UnitRef(entry) => Some((which, unit.start.checked_add(entry.0)?)),
            AttributeValue::DebugInfoRef(offset) => Some((with_units(which), offset.0)),
            AttributeValue::DebugInfoRefSup(offset) => Some((Which::Supplementary, offset.0)),
            AttributeValue::DebugTypesRef(signature) => self.by_signature(which, signature.0),
            _ => None,
        }
    }

    /// The type with a signature, seen from a unit of that file.
    fn by_signature(&self, which: Which, signature: u64) -> Option<(Which, usize)> {
        let near = match which {
            Which::Split(number) | Which::SplitTypes(number) => {
                [Which::Split(number), Which::SplitTypes(number)]
            }
            _ => [Which::Main, Which::Types],
        };
        let found = near
            .into_iter()
            .find_map(|which| Some((which, self.units(which)?.type_by_signature(signature)?)));
        found.or_else(|| {
            let row = self.splits()?.package_signature(signature)?;
            let which = Which::PackageTypes(row);
            Some((which, self.units(which)?.type_by_signature(signature)?))
        })
    }

    /// The string that an attribute of a unit of that file stands for.
    pub fn string(
        &self,
        which: Which,
        unit: &Unit,
        value: AttributeValue<Reader>,
    ) -> Option<Reader> {
        if let AttributeValue::DebugStrRefSup(offset) = value {
            return self.supplementary.as_ref()?.file.dwarf.string(offset).ok();
        }
        self.units(which)?.file.dwarf.attr_string(&unit.unit, value).ok()
    }
}

/// The section that has the compilation units of the same file.
const fn with_units(which: Which) -> Which {
    match which {
        Which::Types => Which::Main,
        Which::SplitTypes(number) => Which::Split(number),
        _ => which,
    }
}
