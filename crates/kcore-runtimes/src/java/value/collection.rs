//! What collections of `java.util` hold.
//!
//! Everything is found by the names of fields. A collection that changed while the process was stopped, or that is
//! damaged, shows what can be reached.

use kcore_mem::Addr;
use rustc_hash::FxHashSet;

use super::layouts::{Collection, End, KNOWN, Layout};
use crate::java::{classes::Objects, walk::JavaObject};

/// Entries of one collection that are read, and places that are looked at for them, at most.
const MAX_ENTRIES: u64 = 1 << 20;
const MAX_PLACES: u64 = 1 << 22;
/// Collections that are views of each other, at most.
const MAX_VIEWS: u32 = 8;
/// Classes that extend each other, at most.
const MAX_DEPTH: usize = 64;
/// What stands for an element that is not there.
const NOTHING: &str = "java.lang.Object";
/// A list of a bucket that became a tree.
const BIN: &str = "java.util.concurrent.ConcurrentHashMap$TreeBin";

/// What a collection holds.
pub(super) struct Contents {
    /// `list`, `set` or `map`.
    pub kind: &'static str,
    /// It, or the beginning of it.
    pub entries: Vec<Entry>,
    /// How much it says that it holds.
    pub length: Option<u64>,
    /// Whether there is more, or may be.
    pub is_cut: bool,
}

/// One of what a collection holds.
pub(super) enum Entry {
    /// An element, or null.
    Item(Option<Addr>),
    /// A key with its value.
    Pair(Option<Addr>, Option<Addr>),
}

/// What an object holds that is a collection, at most so much; `None` of any other.
pub(super) fn contents(objects: &Objects<'_>, found: &JavaObject, most: u64) -> Option<Contents> {
    let (_, kind, ..) = known(objects, found.class.at)?;
    let mut reader = Reader {
        objects,
        most: most.min(MAX_ENTRIES),
        places: MAX_PLACES,
        entries: Vec::new(),
        is_cut: false,
    };
    let length = reader.read(found.at, MAX_VIEWS)?;
    let Reader { entries, is_cut, .. } = reader;
    Some(Contents { kind, entries, length, is_cut })
}

fn known(objects: &Objects<'_>, class: Addr) -> Option<&'static Collection> {
    let parent = |class: &Addr| objects.fields.parent(objects.memory, *class);
    let mut classes = std::iter::successors(Some(class), parent).take(MAX_DEPTH);
    classes.find_map(|class| {
        let name = objects.methods.class(objects.memory, class)?;
        KNOWN.iter().find(|(own, ..)| *own == &*name)
    })
}

struct Reader<'a> {
    objects: &'a Objects<'a>,
    most: u64,
    /// Places that may still be looked at.
    places: u64,
    entries: Vec<Entry>,
    is_cut: bool,
}

impl Reader<'_> {
    /// Reads a collection, and says how much it says that it holds.
    fn read(&mut self, at: Addr, views: u32) -> Option<Option<u64>> {
        let class = self.objects.oops.class_of(self.objects.memory, at)?;
        let (_, _, layout, count) = known(self.objects, class)?;
        let length = count.and_then(|count| self.number(at, count));
        match *layout {
            Layout::View(field) => {
                return self.read(self.objects.reference(at, field)?, views.checked_sub(1)?);
            }
            Layout::Keys(field) => {
                let length =
                    self.read(self.objects.reference(at, field)?, views.checked_sub(1)?)?;
                self.keep_keys();
                return Some(length);
            }
            layout => self.read_own(at, layout)?,
        }
        Some(length)
    }

    fn read_own(&mut self, at: Addr, layout: Layout) -> Option<()> {
        match layout {
            Layout::Array(array, count) => self.array(at, array, count),
            Layout::Sparse(array) => self.sparse(at, array),
            Layout::Ring(array, head, end) => self.ring(at, array, head, end),
            Layout::Links(first, item, is_empty) => self.links(at, first, item, is_empty),
            Layout::Buckets(table, key, value) => self.buckets(at, table, key, value),
            Layout::Ordered(first, next) => {
                let first = self.objects.reference(at, first);
                self.list(first, next, "key", "value");
                Some(())
            }
            Layout::Tree(root) => {
                let root = self.objects.reference(at, root);
                self.tree(root);
                Some(())
            }
            Layout::Pairs(table) => self.pairs(at, table),
            Layout::Universe(keys, values) => self.universe(at, keys, values),
            Layout::Fields(fields) => {
                for field in fields {
                    let value = self.objects.reference(at, field);
                    let is_some = value.is_some_and(|value| !self.is_nothing(value));
                    if is_some || fields.len() == 1 {
                        self.add(Entry::Item(value));
                    }
                }
                Some(())
            }
            Layout::Pair(key, value) => {
                let part = |field| self.objects.reference(at, field);
                let entry = Entry::Pair(part(key), part(value));
                self.add(entry);
                Some(())
            }
            // Others are read by who calls this.
            Layout::View(_) | Layout::Keys(_) => None,
        }
    }

    /// Adds an entry; `false` where no more are wanted.
    fn add(&mut self, entry: Entry) -> bool {
        let has_room = (self.entries.len() as u64) < self.most;
        if has_room {
            self.entries.push(entry);
        } else {
            self.is_cut = true;
        }
        has_room
    }

    /// Counts a place that is looked at.
    const fn look(&mut self) -> bool {
        let is_left = self.places > 0;
        self.places = self.places.saturating_sub(1);
        self.is_cut |= !is_left;
        is_left
    }

    fn keep_keys(&mut self) {
        for entry in &mut self.entries {
            if let Entry::Pair(key, _) = *entry {
                *entry = Entry::Item(key);
            }
        }
    }

    /// A number of 32 bits, or one in an object of its own.
    fn number(&self, at: Addr, field: &str) -> Option<u64> {
        self.objects.number(at, field, 4)
    }

    /// An array of references in a field, and its length.
    fn array_of(&self, at: Addr, field: &str) -> Option<(Addr, u64)> {
        let array = self.objects.reference(at, field)?;
        Some((array, self.objects.oops.length(self.objects.memory, array)?))
    }

    /// An element of an array of references.
    fn element(&self, array: Addr, index: u64) -> Option<Addr> {
        let oops = &self.objects.oops;
        let offset =
            oops.elements_offset().checked_add(index.checked_mul(oops.reference_size())?)?;
        oops.reference(self.objects.memory, array, offset)
    }

    fn array(&mut self, at: Addr, field: &str, count: Option<&str>) -> Option<()> {
        let Some((array, length)) = self.array_of(at, field) else {
            // An empty one may have none.
            return Some(());
        };
        let count = count.map_or(Some(length), |count| self.number(at, count))?;
        for index in 0..count.min(length) {
            if !self.add(Entry::Item(self.element(array, index))) {
                break;
            }
        }
        Some(())
    }

    fn sparse(&mut self, at: Addr, field: &str) -> Option<()> {
        let (array, length) = self.array_of(at, field)?;
        for index in 0..length {
            let item = self.element(array, index);
            if !self.look() || item.is_some() && !self.add(Entry::Item(item)) {
                break;
            }
        }
        Some(())
    }

    fn ring(&mut self, at: Addr, field: &str, head: &str, end: End) -> Option<()> {
        let (array, length) = self.array_of(at, field)?;
        let head = self.number(at, head)?;
        let count = match end {
            End::Count(count) => self.number(at, count)?.min(length),
            End::Index(tail) => {
                let tail = self.number(at, tail)?;
                tail.checked_add(length)?.checked_sub(head)?.checked_rem(length)?
            }
        };
        for index in 0..count {
            let index = head.checked_add(index)?.checked_rem(length)?;
            if !self.add(Entry::Item(self.element(array, index))) {
                break;
            }
        }
        Some(())
    }

    fn links(&mut self, at: Addr, first: &str, item: &str, is_empty: bool) -> Option<()> {
        let mut link = self.objects.reference(at, first);
        if is_empty {
            link = self.objects.reference(link?, "next");
        }
        let mut seen = FxHashSet::default();
        while let Some(own) = link.filter(|own| seen.insert(*own)) {
            let value = self.objects.reference(own, item);
            // What was taken out has no item any more.
            if !self.look() || value.is_some() && !self.add(Entry::Item(value)) {
                break;
            }
            link = self.objects.reference(own, "next");
        }
        Some(())
    }

    fn buckets(&mut self, at: Addr, table: &str, key: &str, value: &str) -> Option<()> {
        let Some((array, length)) = self.array_of(at, table) else { return Some(()) };
        for index in 0..length {
            if !self.look() {
                break;
            }
            let first = self.element(array, index);
            let bin = first.filter(|first| self.objects.is_a(*first, BIN));
            let first = bin.map_or(first, |bin| self.objects.reference(bin, "first"));
            self.list(first, "next", key, value);
            if self.is_cut {
                break;
            }
        }
        Some(())
    }

    /// Entries that follow each other.
    fn list(&mut self, first: Option<Addr>, next: &str, key: &str, value: &str) {
        let mut seen = FxHashSet::default();
        let mut entry = first;
        while let Some(own) = entry.filter(|own| seen.insert(*own)) {
            let part = |field| self.objects.reference(own, field);
            let pair = Entry::Pair(part(key), part(value));
            // Entries that lead to another table while a map grows have no key.
            let is_one = self.objects.field_of(own, key).is_some();
            if !self.look() || is_one && !self.add(pair) {
                break;
            }
            entry = self.objects.reference(own, next);
        }
    }

    /// Entries of a tree in the order of their keys.
    fn tree(&mut self, root: Option<Addr>) {
        let mut seen = FxHashSet::default();
        let mut left: Vec<Addr> = Vec::new();
        let mut next = root;
        loop {
            while let Some(own) = next.filter(|own| seen.insert(*own)) {
                left.push(own);
                next = self.objects.reference(own, "left");
            }
            let Some(own) = left.pop() else { return };
            let part = |field| self.objects.reference(own, field);
            let pair = Entry::Pair(part("key"), part("value"));
            next = part("right");
            if !self.look() || !self.add(pair) {
                return;
            }
        }
    }

    fn pairs(&mut self, at: Addr, table: &str) -> Option<()> {
        let (array, length) = self.array_of(at, table)?;
        for index in (0..length).step_by(2) {
            let key = self.element(array, index);
            let value = self.element(array, index.saturating_add(1));
            if !self.look() || key.is_some() && !self.add(Entry::Pair(key, value)) {
                break;
            }
        }
        Some(())
    }

    fn universe(&mut self, at: Addr, keys: &str, values: &str) -> Option<()> {
        let (keys, length) = self.array_of(at, keys)?;
        let (values, _) = self.array_of(at, values)?;
        for index in 0..length {
            let value = self.element(values, index);
            let pair = Entry::Pair(self.element(keys, index), value);
            if !self.look() || value.is_some() && !self.add(pair) {
                break;
            }
        }
        Some(())
    }

    fn is_nothing(&self, at: Addr) -> bool {
        self.objects.class_of(at).is_some_and(|(_, class)| &*class == NOTHING)
    }
}
