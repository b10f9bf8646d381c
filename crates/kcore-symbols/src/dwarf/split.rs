//! Units that compilers put into files of their own (`-gsplit-dwarf`): DWARF 5, 7.3.2; before it, the
//! GNU extension of DWARF 4 (<https://gcc.gnu.org/wiki/DebugFission>).

use std::sync::{
    Arc, Mutex, OnceLock, PoisonError,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};

use gimli::{DwarfPackage, Reader as _, Section as _, SectionId};
use kcore_elf::Image;
use kcore_mem::{Built, Watch};
use rustc_hash::FxHashMap;

use super::{
    Reader, Result,
    file::{DwarfFile, SkeletonBases, order_of, section},
    unit::{SplitName, Unit},
    units::Units,
};

/// The units of all skeletons of one file may together be so many times as long as the file. A compiler gives each
/// skeleton a unit of its own, so that they are no longer than the file.
const OVERLAP: usize = 4;

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
    files: Mutex<FxHashMap<FileName, FoundFile>>,
    /// Skeletons whose other half was not read, since too many have the same one.
    refused: AtomicU64,
    /// How often a unit was asked for whose file was not found.
    missed: AtomicU64,
}

/// The path of a file, and the directory of compilation.
type FileName = (String, Option<String>);
/// A file that several skeletons may wait for.
type FoundFile = Arc<Built<Option<SplitFile>>>;

/// One that was split off.
struct Split {
    name: SplitName,
    skeleton: SkeletonBases,
    opened: Built<Option<SkeletonUnits>>,
}

/// The units of one skeleton.
struct SkeletonUnits {
    info: Units,
    /// Where the one begins that is its other half.
    start: usize,
    types: Option<Arc<Units>>,
    /// Whether the types are listed with this skeleton, and not with another one of the same file.
    lists_types: bool,
}

/// The units of a file, or of one number in a package, which several skeletons may name.
struct SplitFile {
    units: Units,
    /// Where units begin that are halves, by their numbers.
    halves: FxHashMap<u64, usize>,
    /// Where the others begin.
    others: Vec<usize>,
    types: Option<Arc<Units>>,
    /// Whether a skeleton has the units that are nobody's half.
    has_others: AtomicBool,
    room: Arc<UnitBudget>,
}

/// Bytes of units that may still be read for skeletons.
struct UnitBudget(AtomicUsize);

impl UnitBudget {
    /// For the units of a file that has so many bytes of them.
    const fn of(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes.saturating_mul(OVERLAP)))
    }

    /// Takes some, if so many are left.
    fn take(&self, bytes: usize) -> bool {
        let less = |left: usize| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

struct Package {
    dwarf: DwarfPackage<Reader>,
    types: Vec<Built<Option<Box<Units>>>>,
    /// What the index has by each number: any number of skeletons may have one.
    units: Mutex<FxHashMap<u64, FoundFile>>,
    /// For all of them: the index may give many numbers to one place.
    room: Arc<UnitBudget>,
    /// The same for type units.
    types_room: UnitBudget,
}

/// Bytes that an index of a package has of each unit, at least: the number of its unit, where in the table that
/// is, and one place with its length (DWARF 5, 7.3.5.3).
const LEAST_OF_UNIT: usize = 20;

impl Splits {
    /// What the skeletons in `main` name. Opens no other file.
    pub fn read(main: &Units, finder: Arc<dyn SplitFiles>) -> Self {
        let (mut units, mut by_skeleton) = (Vec::new(), FxHashMap::default());
        let mut watch = Watch::new(&main.file.budget);
        for start in main.starts().0 {
            if watch.is_over() {
                break;
            }
            let Ok(unit) = Unit::open_root(&main.file, start) else { continue };
            let Some(name) = unit.split.clone() else { continue };
            let Ok(number) = u32::try_from(units.len()) else { break };
            by_skeleton.insert(start, number);
            units.push(Split { name, skeleton: bases(&unit), opened: Built::new() });
        }
        Self {
            finder,
            units,
            by_skeleton,
            package: OnceLock::new(),
            files: Mutex::default(),
            refused: AtomicU64::new(0),
            missed: AtomicU64::new(0),
        }
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
        self.opened(main, number)?.types.as_deref()
    }

    /// Whether the type units of that file are listed with the skeleton of that number: with one of those that name it.
    pub fn lists_types(&self, main: &DwarfFile, number: u32) -> bool {
        self.opened(main, number).is_some_and(|opened| opened.lists_types)
    }

    /// The other half of the skeleton with that number.
    pub fn half(&self, main: &DwarfFile, number: u32) -> Option<Arc<Unit>> {
        let opened = self.opened(main, number)?;
        opened.info.at(opened.start).ok()
    }

    /// How many skeletons had their other half not read, since too many have the same one.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Type unit number `row` of the package.
    pub fn package_types(&self, main: &DwarfFile, row: u32) -> Option<&Units> {
        let package = self.package()?;
        let slot = package.types.get(usize::try_from(row).ok()?)?;
        slot.get_or_build(&main.budget, || package.open_types(main, row).map(Box::new)).as_deref()
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

    fn opened(&self, main: &DwarfFile, number: u32) -> Option<&SkeletonUnits> {
        let split = self.units.get(usize::try_from(number).ok()?)?;
        let opened = split.opened.get_or_build(&main.budget, || self.open(main, split)).as_ref();
        if opened.is_none() {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
        opened
    }

    fn open(&self, main: &DwarfFile, split: &Split) -> Option<SkeletonUnits> {
        if let Some(package) = self.package() {
            let found = package.found(split.name.id);
            let file = found.get_or_build(&main.budget, || {
                let found = package.read_units(main, split);
                self.refused.fetch_add(u64::from(found.is_err()), Ordering::Relaxed);
                found.ok().flatten()
            });
            if let Some(file) = file
                && file.halves.contains_key(&split.name.id)
            {
                return self.open_half(file, split);
            }
        }
        let file = self.file(&split.name);
        let file = file.get_or_build(&main.budget, || {
            let image = self.finder.file(&split.name)?;
            Some(SplitFile::read(&image, main, split.skeleton))
        });
        self.open_half(file.as_ref()?, split)
    }

    /// The half of a skeleton in a file that has it.
    fn open_half(&self, file: &SplitFile, split: &Split) -> Option<SkeletonUnits> {
        let start = *file.halves.get(&split.name.id)?;
        let opened = file.open(start, split.skeleton);
        if opened.is_none() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        opened
    }

    fn file(&self, name: &SplitName) -> FoundFile {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.entry((name.path.clone(), name.directory.clone())).or_default().clone()
    }

    fn package(&self) -> Option<&Package> {
        let open = || {
            let image = self.finder.package()?;
            Package::read(&image).ok()
        };
        self.package.get_or_init(open).as_ref()
    }
}

impl SplitFile {
    /// Reads which units there are.
    fn read(image: &Image, main: &DwarfFile, skeleton: SkeletonBases) -> Self {
        let file = DwarfFile::open_split(image, main, skeleton);
        let types = file.types(image).map(Units::new).map(Arc::new);
        let room = UnitBudget::of(file.info_size());
        Self::of(Units::new(file), types, Arc::new(room))
    }

    /// Reads which units there are of those of one number.
    fn of(units: Units, types: Option<Arc<Units>>, room: Arc<UnitBudget>) -> Self {
        let (mut halves, mut others) = (FxHashMap::default(), Vec::new());
        let mut watch = Watch::new(&units.file.budget);
        for start in units.starts().0 {
            if watch.is_over() {
                break;
            }
            match Unit::open_root(&units.file, start).ok().and_then(|unit| unit.split_id()) {
                Some(id) => {
                    halves.entry(id).or_insert(start);
                }
                None => others.push(start),
            }
        }
        Self { units, halves, others, types, has_others: AtomicBool::new(false), room }
    }

    /// The unit at `start` for a skeleton; `None` where skeletons have too many units by now.
    fn open(&self, start: usize, skeleton: SkeletonBases) -> Option<SkeletonUnits> {
        let bytes = self.units.file.next_unit(start).ok()?.saturating_sub(start);
        if !self.room.take(bytes) {
            return None;
        }
        let mut listed = vec![start];
        let lists_types = !self.has_others.swap(true, Ordering::Relaxed);
        if lists_types {
            listed.extend(&self.others);
            listed.sort_unstable();
        }
        let info = self.units.for_skeleton(self.units.file.for_skeleton(skeleton), listed);
        Some(SkeletonUnits { info, start, types: self.types.clone(), lists_types })
    }
}

/// That skeletons have too many units by now.
struct NoRoom;

impl Package {
    fn read(image: &Image) -> Result<Self> {
        let order = order_of(image);
        let load = |id: SectionId| {
            Ok::<_, gimli::Error>(section(image, id.dwo_name().unwrap_or_default(), order))
        };
        let dwarf = DwarfPackage::load(load, section(image, "", order))?;
        // An index without a table of slots may say any number.
        let index = load(SectionId::DebugTuIndex)?;
        let most = u32::try_from(index.len() / LEAST_OF_UNIT).unwrap_or(u32::MAX);
        let count = dwarf.tu_index.unit_count().min(most);
        let types = (0..count).map(|_| Built::new()).collect();
        let units = dwarf.debug_info.reader().len();
        let all = units.saturating_add(dwarf.debug_types.reader().len());
        let (room, types_room) = (Arc::new(UnitBudget::of(units)), UnitBudget::of(all));
        Ok(Self { dwarf, types, units: Mutex::default(), room, types_room })
    }

    /// What the index has by a number, once that was read.
    fn found(&self, id: u64) -> FoundFile {
        let mut units = self.units.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(units.entry(id).or_default())
    }

    /// Reads which units the index has by the number of a skeleton.
    fn read_units(
        &self,
        main: &DwarfFile,
        split: &Split,
    ) -> std::result::Result<Option<SplitFile>, NoRoom> {
        let id = gimli::DwoId(split.name.id);
        let parts = || self.dwarf.find_cu(id, &main.dwarf).ok().flatten();
        let skeleton = Some(split.skeleton);
        let file = |is_types| Some(DwarfFile::of_package(main, parts()?, is_types, skeleton));
        let (Some(types), Some(info)) = (file(true), file(false)) else { return Ok(None) };
        if !self.room.take(info.info_size()) {
            return Err(NoRoom);
        }
        let types = (types.info_size() > 0).then(|| Arc::new(Units::new(types)));
        Ok(Some(SplitFile::of(Units::new(info), types, Arc::clone(&self.room))))
    }

    fn open_types(&self, main: &DwarfFile, row: u32) -> Option<Units> {
        let row = row.checked_add(1)?;
        let parts = || self.dwarf.tu_sections(row, &main.dwarf).ok();
        let is_types = !parts()?.debug_types.reader().is_empty();
        let file = DwarfFile::of_package(main, parts()?, is_types, None);
        self.types_room.take(file.info_size()).then(|| Units::new(file))
    }
}

fn bases(skeleton: &Unit) -> SkeletonBases {
    SkeletonBases {
        low_pc: skeleton.unit.low_pc,
        addr: skeleton.unit.addr_base,
        ranges: skeleton.unit.rnglists_base,
    }
}
