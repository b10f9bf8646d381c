//! Objects of JavaScript in groups: those of one constructor that have the same properties, and those of one that are used
//! as maps, each with keys of its own.

use std::{collections::BTreeMap, sync::Arc};

use kcore_mem::Addr;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    super::{Heap, V8, heap::Object, property::Property},
    Area, Census, Stopped, Watch,
};
use crate::Host;

/// Properties that tell a group from others, at most.
const MAX_PROPERTIES: u64 = 1024;
/// Names of properties that all groups have together, at most.
const MAX_TOLD: usize = 1 << 22;
/// Names that are remembered, at most.
const MAX_NAMES: usize = 1 << 16;
/// Maps between two looks at the user.
const STEP: usize = 256;
/// Names are read to this many units.
const MAX_NAME: u64 = 256;
/// Objects that are hash tables are looked into one by one, so many at most.
const MAX_TABLES: usize = 1 << 20;

/// Hash tables of one constructor that no other has the properties of are one group if they are more than these.
const MAX_SINGLES: usize = 32;

/// Objects of one constructor with the same properties.
#[derive(Clone, Debug)]
pub struct Group {
    /// The name of their constructor.
    pub constructor: Arc<str>,
    /// The names of the properties that all of them have, in the order in which they were added.
    pub properties: Arc<[Arc<str>]>,
    /// Whether each of them has properties beside these that the others have not.
    pub differs: bool,
    /// How many properties they have together, those of each counted.
    pub names: u64,
    /// How many they are.
    pub count: u64,
    /// Their size in bytes, without what they refer to.
    pub bytes: u64,
    /// One of them.
    pub example: Addr,
    /// Their maps.
    pub maps: Vec<Addr>,
    /// Those that are hash tables: their maps do not tell their properties.
    pub tables: Vec<Addr>,
}

/// Maps of objects that are hash tables, as the words that refer to them: their constructors and sizes.
type Tables = FxHashMap<u64, (Arc<str>, u64)>;

/// What a group is known by.
type Key = (Arc<str>, Arc<[Arc<str>]>);

impl V8 {
    /// The objects of JavaScript in groups; those with the fewest objects and properties first. They are
    /// made once.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn groups(
        &self,
        host: &dyn Host,
        census: &Census,
        watch: Watch<'_>,
    ) -> Result<Arc<[Group]>, Stopped> {
        if let Some(groups) = self.groups.get() {
            return Ok(groups.clone());
        }
        let groups = Grouper::new(self.heap(host), census).groups(watch)?;
        Ok(self.groups.get_or_init(|| groups.into()).clone())
    }
}

impl V8 {
    /// An object of a group that has a property of this name, if one has it.
    pub fn with_property(&self, host: &dyn Host, group: &Group, name: &str) -> Option<Addr> {
        if group.properties.iter().any(|own| **own == *name) {
            return Some(group.example);
        }
        let heap = self.heap(host);
        let has = |at: &Addr| heap.property(heap.object_at(*at)?, name);
        let mut tables = group.tables.iter().filter(|_| group.differs);
        tables.find(|at| has(at).is_some()).copied()
    }

    /// Whether an object is of a group.
    pub fn is_of_group(&self, host: &dyn Host, group: &Group, at: Addr) -> bool {
        let object = self.heap(host).object_at(at);
        object.is_some_and(|object| group.maps.contains(&object.map)) || group.tables.contains(&at)
    }
}

impl Group {
    fn add(&mut self, count: u64, bytes: u64) {
        let names = count.saturating_mul(self.properties.len() as u64);
        self.count = self.count.saturating_add(count);
        self.bytes = self.bytes.saturating_add(bytes);
        self.names = self.names.saturating_add(names);
    }

    /// Whether it is one hash table alone.
    const fn is_single(&self) -> bool {
        self.maps.is_empty() && self.tables.len() == 1
    }

    /// Takes in another group of the constructor. What both have remains.
    fn merge(&mut self, other: &Self) {
        let is_shared = |name: &&Arc<str>| other.properties.contains(name);
        self.properties = self.properties.iter().filter(is_shared).cloned().collect();
        self.differs = true;
        self.names = self.names.saturating_add(other.names);
        self.count = self.count.saturating_add(other.count);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.tables.extend(&other.tables);
    }

    /// All of its objects, lowest first.
    pub fn members<'c>(
        &'c self,
        host: &'c dyn Host,
        census: &'c Census,
    ) -> impl Iterator<Item = Addr> + 'c {
        let tables: FxHashSet<Addr> = self.tables.iter().copied().collect();
        let maps: FxHashSet<u64> = self.maps.iter().map(|map| map.get() | 1).collect();
        census.objects().filter(move |at| {
            let word = host.space().read_word(*at).unwrap_or(0);
            maps.contains(&word) || (!tables.is_empty() && tables.contains(at))
        })
    }
}

/// Groups, of which those that are single hash tables are one for each constructor that has many.
fn with_crowds(groups: impl Iterator<Item = Group>) -> Vec<Group> {
    let mut singles: BTreeMap<Arc<str>, Vec<Group>> = BTreeMap::new();
    let mut all = Vec::new();
    for group in groups {
        match group.is_single() {
            true => singles.entry(group.constructor.clone()).or_default().push(group),
            false => all.push(group),
        }
    }
    for singles in singles.into_values() {
        all.extend(if singles.len() > MAX_SINGLES { crowd(singles) } else { singles });
    }
    all
}

/// One group of many.
fn crowd(groups: Vec<Group>) -> Vec<Group> {
    let merged = groups.into_iter().reduce(|mut all, group| {
        all.merge(&group);
        all
    });
    merged.into_iter().collect()
}

struct Grouper<'a> {
    heap: Heap<'a>,
    census: &'a Census,
    groups: BTreeMap<Key, Group>,
    /// Names of properties, by where their strings lie: maps share them.
    names: FxHashMap<Addr, Option<Arc<str>>>,
    /// How many more names groups may have.
    left: usize,
}

impl<'a> Grouper<'a> {
    fn new(heap: Heap<'a>, census: &'a Census) -> Self {
        let (groups, names) = (BTreeMap::new(), FxHashMap::default());
        Self { heap, census, groups, names, left: MAX_TOLD }
    }

    fn groups(mut self, watch: Watch<'_>) -> Result<Vec<Group>, Stopped> {
        let mut tables = FxHashMap::default();
        let (heap, census) = (self.heap, self.census);
        for (done, map) in census.maps().iter().enumerate() {
            if done.is_multiple_of(STEP)
                && watch(done as u64, census.maps().len() as u64).is_break()
            {
                return Err(Stopped);
            }
            let example = map.example();
            if !heap.is_receiver(example) {
                continue;
            }
            let constructor: Arc<str> = heap.census_class(map).into();
            if heap.is_dictionary(example) {
                tables.insert(
                    map.map.get() | 1,
                    (constructor, map.bytes.checked_div(map.count).unwrap_or(0)),
                );
                continue;
            }
            let group = self.group(constructor, example);
            group.add(map.count, map.bytes);
            group.maps.push(map.map);
        }
        self.add_tables(&tables, watch)?;
        let mut groups = with_crowds(self.groups.into_values());
        groups.sort_by_key(|group| group.names);
        Ok(groups)
    }

    /// The group of an object.
    fn group(&mut self, constructor: Arc<str>, example: Object) -> &mut Group {
        let properties: Arc<[Arc<str>]> = self.property_names(example).into();
        let key = (constructor.clone(), properties.clone());
        let left = &mut self.left;
        self.groups.entry(key).or_insert_with(|| {
            *left = left.saturating_sub(properties.len());
            Group {
                constructor,
                properties,
                differs: false,
                names: 0,
                count: 0,
                bytes: 0,
                example: example.at,
                maps: Vec::new(),
                tables: Vec::new(),
            }
        })
    }

    fn add_tables(&mut self, tables: &Tables, watch: Watch<'_>) -> Result<(), Stopped> {
        let areas = self.census.areas();
        let areas = areas.iter().filter(|_| !tables.is_empty()).enumerate();
        let mut left = MAX_TABLES;
        for (done, area) in areas {
            if watch(done as u64, self.census.areas().len() as u64).is_break() {
                return Err(Stopped);
            }
            left = self.add_tables_of(area, tables, left);
        }
        Ok(())
    }

    /// Adds the objects of an area that are hash tables, at most `left`; says how many more there may be.
    fn add_tables_of(&mut self, area: &Area, tables: &Tables, mut left: usize) -> usize {
        let heap = self.heap;
        let with_map = |at: Addr| Some((at, tables.get(&heap.word(at, 0)?)?));
        for (at, (constructor, bytes)) in area.starts.iter().filter_map(with_map).take(left) {
            left = left.saturating_sub(1);
            let Some(object) = heap.object_at(at) else { continue };
            let group = self.group(constructor.clone(), object);
            group.add(1, *bytes);
            group.tables.push(at);
        }
        left
    }

    /// The names of an object's own properties, in the order in which they were added.
    fn property_names(&mut self, object: Object) -> Vec<Arc<str>> {
        let properties = self.heap.properties(object, MAX_PROPERTIES);
        let left = self.left;
        let names = properties.iter().filter_map(|property| self.property_name(property));
        names.take(left).collect()
    }

    /// The name of a property; `None` of a symbol.
    fn property_name(&mut self, property: &Property) -> Option<Arc<str>> {
        if let Some(known) = self.names.get(&property.key.at) {
            return known.clone();
        }
        let name: Option<Arc<str>> = self.heap.text(property.key, MAX_NAME).map(Arc::from);
        if self.names.len() < MAX_NAMES {
            self.names.insert(property.key.at, name.clone());
        }
        name
    }
}
