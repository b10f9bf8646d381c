//! Units that compilers put into files of their own (`-gsplit-dwarf`): DWARF 5, 7.3.2; before it, the
//! GNU extension of DWARF 4 (<https://gcc.gnu.org/wiki/DebugFission>).

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

use gimli::{DwarfPackage, Reader as _, Section as _, SectionId};
use kcore_elf::Image;
use rustc_hash::FxHashMap;

use super::{
    Reader, Result,
    file::{DwarfFile, SkeletonBases, order_of, section},
    unit::{SplitName, Unit},
    units::Units,
};

/// Finds the files of split units, without looking into them.
pub trait SplitFiles: Send + Sync {
    /// The file of one unit, wherever it was moved to.
    fn file(&self, name: &SplitName) -> Option<Arc<Image>>;

    /// The package of all units of the module (`.dwp`).
    fn package(&self) -> Option<Arc<Image>>;
}

/// The units of a module that are not in its own file.
pub struct Splits {
    finder: Arc<dyn SplitFiles>,
    units: Vec<Split>,
    by_skeleton: FxHashMap<usize, u32>,
    package: OnceLock<Option<Package>>,
    /// How often a unit was asked for whose file was not found.
    missed: AtomicU64,
}

/// One that was split off.
struct Split {
    name: SplitName,
    skeleton: SkeletonBases,
    opened: OnceLock<Option<Opened>>,
}

/// The units of one file, or of one part of a package.
struct Opened {
    info: Units,
    types: Option<Units>,
}

struct Package {
    dwarf: DwarfPackage<Reader>,
    types: Vec<OnceLock<Option<Units>>>,
}

impl Splits {
    /// What the skeletons in `main` name. Opens no other file.
    pub fn read(main: &Units, finder: Arc<dyn SplitFiles>) -> Self {
        let (mut units, mut by_skeleton) = (Vec::new(), FxHashMap::default());
        for start in main.starts().0 {
            let Ok(unit) = Unit::open_root(&main.file, start) else { continue };
            let Some(name) = unit.split.clone() else { continue };
            let Ok(number) = u32::try_from(units.len()) else { break };
            by_skeleton.insert(start, number);
            units.push(Split { name, skeleton: bases(&unit), opened: OnceLock::new() });
        }
        let (package, missed) = (OnceLock::new(), AtomicU64::new(0));
        Self { finder, units, by_skeleton, package, missed }
    }

    /// How many units were split off.
    pub fn count(&self) -> u32 {
        u32::try_from(self.units.len()).unwrap_or(u32::MAX)
    }

    /// How many type units the package has.
    pub fn type_count(&self) -> u32 {
        let types = self.package().map_or(0, |package| package.types.len());
        u32::try_from(types).unwrap_or(u32::MAX)
    }

    /// Which of them was split off from the skeleton at `start`.
    pub fn of_skeleton(&self, start: usize) -> Option<u32> {
        self.by_skeleton.get(&start).copied()
    }

    /// The units of the file, or of the part of a package, that has unit number `number`.
    pub fn info(&self, main: &DwarfFile, number: u32) -> Option<&Units> {
        self.opened(main, number).map(|opened| &opened.info)
    }

    /// Its type units, where they have a section of their own.
    pub fn types(&self, main: &DwarfFile, number: u32) -> Option<&Units> {
        self.opened(main, number)?.types.as_ref()
    }

    /// Type unit number `row` of the package.
    pub fn package_types(&self, main: &DwarfFile, row: u32) -> Option<&Units> {
        let package = self.package()?;
        let slot = package.types.get(usize::try_from(row).ok()?)?;
        slot.get_or_init(|| package.open_types(main, row)).as_ref()
    }

    /// The number of the package's type unit with this signature.
    pub fn package_signature(&self, signature: u64) -> Option<u32> {
        self.package()?.dwarf.tu_index.find(signature)?.checked_sub(1)
    }

    /// Those whose file was not found, as far as they were looked for.
    pub fn missing(&self) -> impl Iterator<Item = &SplitName> {
        let was_missed = |split: &&Split| matches!(split.opened.get(), Some(None));
        self.units.iter().filter(was_missed).map(|split| &split.name)
    }

    /// How often a unit was asked for whose file was not found.
    pub fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    fn opened(&self, main: &DwarfFile, number: u32) -> Option<&Opened> {
        let split = self.units.get(usize::try_from(number).ok()?)?;
        let opened = split.opened.get_or_init(|| self.open(main, split)).as_ref();
        if opened.is_none() {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
        opened
    }

    fn open(&self, main: &DwarfFile, split: &Split) -> Option<Opened> {
        let from_package = self.package().and_then(|package| package.open(main, split));
        from_package.or_else(|| {
            let image = self.finder.file(&split.name)?;
            let file = DwarfFile::open_split(&image, main, split.skeleton);
            let types = file.types(&image).map(Units::new);
            Opened { info: Units::new(file), types }.checked(split.name.id)
        })
    }

    fn package(&self) -> Option<&Package> {
        let open = || {
            let image = self.finder.package()?;
            Package::read(&image).ok()
        };
        self.package.get_or_init(open).as_ref()
    }
}

impl Opened {
    /// The same, if one of the units has that number: files of an older build have others.
    fn checked(self, id: u64) -> Option<Self> {
        let has_id = self.info.starts().0.into_iter().any(|start| {
            let unit = Unit::open_root(&self.info.file, start);
            unit.is_ok_and(|unit| unit.split_id() == Some(id))
        });
        has_id.then_some(self)
    }
}

impl Package {
    fn read(image: &Image) -> Result<Self> {
        let order = order_of(image);
        let load = |id: SectionId| {
            Ok::<_, gimli::Error>(section(image, id.dwo_name().unwrap_or_default(), order))
        };
        let dwarf = DwarfPackage::load(load, section(image, "", order))?;
        let types = (0..dwarf.tu_index.unit_count()).map(|_| OnceLock::new()).collect();
        Ok(Self { dwarf, types })
    }

    fn open(&self, main: &DwarfFile, split: &Split) -> Option<Opened> {
        let parts = || self.dwarf.find_cu(gimli::DwoId(split.name.id), &main.dwarf).ok().flatten();
        let skeleton = Some(split.skeleton);
        let file = |is_types| Some(DwarfFile::of_package(main, parts()?, is_types, skeleton));
        let types = file(true)?;
        let types = (types.info_size() > 0).then(|| Units::new(types));
        Opened { info: Units::new(file(false)?), types }.checked(split.name.id)
    }

    fn open_types(&self, main: &DwarfFile, row: u32) -> Option<Units> {
        let row = row.checked_add(1)?;
        let parts = || self.dwarf.tu_sections(row, &main.dwarf).ok();
        let is_types = !parts()?.debug_types.reader().is_empty();
        Some(Units::new(DwarfFile::of_package(main, parts()?, is_types, None)))
    }
}

fn bases(skeleton: &Unit) -> SkeletonBases {
    SkeletonBases {
        low_pc: skeleton.unit.low_pc,
        addr: skeleton.unit.addr_base,
        ranges: skeleton.unit.rnglists_base,
    }
}
