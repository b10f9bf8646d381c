//! Objects of JavaScript in groups: those of one constructor that have the same properties.

use std::{collections::BTreeMap, sync::Arc};

use kcore_mem::Addr;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    super::{Heap, V8, heap::Object, property::Property},
    Census,
};
use crate::Host;

/// Properties that tell a group from others, at most.
const MAX_PROPERTIES: u64 = 1024;
/// Names are read to this many units.
const MAX_NAME: u64 = 256;
/// Objects that are hash tables are looked into one by one, so many at most.
const MAX_TABLES: usize = 1 << 20;

/// Objects of one constructor with the same properties.
#[derive(Clone, Debug)]
pub struct Group {
    /// The name of their constructor.
    pub constructor: Arc<str>,
    /// The names of their properties, in the order in which they were added.
    pub properties: Arc<[Arc<str>]>,
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

/// What a group is known by.
type Key = (Arc<str>, Arc<[Arc<str>]>);

impl V8 {
    /// The objects of JavaScript in groups; those with the fewest objects and properties first.
    pub fn groups(&self, host: &dyn Host, census: &Census) -> Arc<[Group]> {
        let groups = || Grouper { heap: self.heap(host), census, groups: BTreeMap::new() }.groups();
        self.groups.get_or_init(|| groups().into()).clone()
    }
}

impl V8 {
    /// Whether an object is of a group.
    pub fn is_of_group(&self, host: &dyn Host, group: &Group, at: Addr) -> bool {
        let object = self.heap(host).object_at(at);
        object.is_some_and(|object| group.maps.contains(&object.map)) || group.tables.contains(&at)
    }
}

impl Group {
    /// What groups are sorted by: how much there is to know of them.
    pub fn weight(&self) -> u64 {
        self.count.saturating_mul(self.properties.len() as u64)
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

struct Grouper<'a> {
    heap: Heap<'a>,
    census: &'a Census,
    groups: BTreeMap<Key, Group>,
}

impl Grouper<'_> {
    fn groups(mut self) -> Vec<Group> {
        let mut tables = FxHashMap::default();
        let (heap, census) = (self.heap, self.census);
        for map in census.maps().iter().filter(|map| heap.is_receiver(map.example())) {
            let example = map.example();
            let constructor: Arc<str> = heap.census_class(map).into();
            if heap.is_dictionary(example) {
                tables.insert(
                    map.map.get() | 1,
                    (constructor, map.bytes.checked_div(map.count).unwrap_or(0)),
                );
                continue;
            }
            let group = self.group(constructor, example);
            group.count = group.count.saturating_add(map.count);
            group.bytes = group.bytes.saturating_add(map.bytes);
            group.maps.push(map.map);
        }
        self.add_tables(&tables);
        let mut groups: Vec<Group> = self.groups.into_values().collect();
        groups.sort_by_key(Group::weight);
        groups
    }

    /// The group of an object.
    fn group(&mut self, constructor: Arc<str>, example: Object) -> &mut Group {
        let properties: Arc<[Arc<str>]> = self.heap.property_names(example).into();
        let key = (constructor.clone(), properties.clone());
        self.groups.entry(key).or_insert_with(|| Group {
            constructor,
            properties,
            count: 0,
            bytes: 0,
            example: example.at,
            maps: Vec::new(),
            tables: Vec::new(),
        })
    }

    fn add_tables(&mut self, tables: &FxHashMap<u64, (Arc<str>, u64)>) {
        if tables.is_empty() {
            return;
        }
        let (heap, census) = (self.heap, self.census);
        let with_map = |at: Addr| Some((at, tables.get(&heap.word(at, 0)?)?));
        for (at, (constructor, bytes)) in census.objects().filter_map(with_map).take(MAX_TABLES) {
            let Some(object) = heap.object_at(at) else { continue };
            let group = self.group(constructor.clone(), object);
            group.count = group.count.saturating_add(1);
            group.bytes = group.bytes.saturating_add(*bytes);
            group.tables.push(at);
        }
    }
}

impl Heap<'_> {
    /// The names of an object's own properties, in the order in which they were added.
    pub fn property_names(&self, object: Object) -> Vec<Arc<str>> {
        let properties = self.properties(object, MAX_PROPERTIES);
        properties.iter().filter_map(|property| self.property_name(property)).collect()
    }

    /// The name of a property; `None` of a symbol.
    fn property_name(&self, property: &Property) -> Option<Arc<str>> {
        self.text(property.key, MAX_NAME).map(Arc::from)
    }
}
