//! What collections of `java.util` hold.
//!
//! Everything is found by the names of fields. A collection that changed while the process was stopped, or that is
//! damaged, shows what can be reached.

use kcore_mem::Addr;
use rustc_hash::FxHashSet;

use super::layouts::{Collection, End, KNOWN, Layout};
use crate::java::{
    classes::{Objects, Referred, Unread},
    walk::JavaObject,
};

/// Entries of one collection that are read, and places that are looked at for them, at most.
const MAX_ENTRIES: u64 = 1 << 20;
const MAX_PLACES: u64 = 1 << 22;
/// Collections that are views of each other, at most.
const MAX_VIEWS: u32 = 8;
/// Classes that extend each other, at most.
const MAX_DEPTH: usize = 64;
/// The class of arrays of words, and words of one that are read, at most.
const WORDS: &str = "[J";
const MAX_WORDS: u64 = 1 << 16;
/// What stands for an element that is not there.
const NOTHING: &str = "java.lang.Object";
/// A list of a bucket that became a tree.
const BIN: &str = "java.util.concurrent.ConcurrentHashMap$TreeBin";
/// What stands for a bucket that was copied into a larger table while a map grows.
const FORWARDING: &str = "java.util.concurrent.ConcurrentHashMap$ForwardingNode";

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
    /// Whether some of it cannot be read, so that nobody knows what and how much that is.
    pub is_unread: bool,
}

/// One of what a collection holds.
pub(super) enum Entry {
    /// An element, or null.
    Item(Referred),
    /// An element that is no object.
    Number(u64),
    /// A key with its value.
    Pair(Referred, Referred),
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
        is_unread: false,
    };
    let length = reader.read(found.at, MAX_VIEWS)?;
    let Reader { entries, is_cut, is_unread, .. } = reader;
    Some(Contents { kind, entries, length, is_cut, is_unread })
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
    is_unread: bool,
}

impl Reader<'_> {
    /// Reads a collection, and says how much it says that it holds.
    fn read(&mut self, at: Addr, views: u32) -> Option<Option<u64>> {
        let class = self.objects.oops.class_of(self.objects.memory, at)?;
        let (_, _, layout, count) = known(self.objects, class)?;
        let length = count.and_then(|count| self.number(at, count));
        self.is_unread |= count.is_some() && length.is_none();
        match *layout {
            Layout::View(field) => {
                let of = self.to(at, field)?;
                return self.read(of, views.checked_sub(1)?);
            }
            Layout::Keys(field) => {
                let of = self.to(at, field)?;
                let length = self.read(of, views.checked_sub(1)?)?;
                self.keep(|key, _| key);
                return Some(length);
            }
            Layout::Values(field) => {
                let of = self.to(at, field)?;
                let length = self.read(of, views.checked_sub(1)?)?;
                self.keep(|_, value| value);
                return Some(length);
            }
            Layout::Slice(field) => return self.slice(at, field, views.checked_sub(1)?),
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
                let first = self.to(at, first);
                self.list(first, next, "key", "value");
                Some(())
            }
            Layout::Tree(root) => {
                let root = self.to(at, root);
                self.tree(root);
                Some(())
            }
            Layout::Pairs(table) => self.pairs(at, table),
            Layout::Universe(keys, values) => self.universe(at, keys, values),
            Layout::Fields(fields) => {
                for field in fields {
                    let value = self.objects.referred(at, field);
                    let is_some = match value {
                        Ok(value) => value.is_some_and(|value| !self.is_nothing(value)),
                        Err(Unread) => true,
                    };
                    if is_some || fields.len() == 1 {
                        self.add(Entry::Item(value));
                    }
                }
                Some(())
            }
            Layout::Pair(key, value) => {
                let part = |field| self.objects.referred(at, field);
                let entry = Entry::Pair(part(key), part(value));
                self.add(entry);
                Some(())
            }
            Layout::BothWays(head) => self.both_ways(at, head),
            Layout::Skipping(head) => {
                let node = self.to(at, head).and_then(|head| self.to(head, "node"));
                let first = node.and_then(|node| self.to(node, "next"));
                self.list(first, "next", "key", "val");
                // Marks between entries have no value, nor has what was taken out.
                self.entries.retain(|it| !matches!(it, Entry::Pair(_, Ok(None))));
                Some(())
            }
            Layout::Bits(words) => self.bits(at, words),
            Layout::Chosen(universe, bits) => self.chosen(at, universe, bits),
            Layout::Repeated(element, count) => {
                let element = self.objects.referred(at, element);
                for _ in 0..self.number(at, count)? {
                    if !self.add(Entry::Item(element)) {
                        break;
                    }
                }
                Some(())
            }
            Layout::Maybe(field) => {
                let value = self.objects.referred(at, field);
                if value != Ok(None) {
                    self.add(Entry::Item(value));
                }
                Some(())
            }
            // Others are read by who calls this.
            Layout::View(_) | Layout::Keys(_) | Layout::Values(_) | Layout::Slice(_) => None,
        }
    }

    /// Where a field leads on the way to what a collection holds.
    fn to(&mut self, at: Addr, field: &str) -> Option<Addr> {
        let to = self.objects.referred(at, field);
        self.is_unread |= to.is_err();
        to.ok().flatten()
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

    /// Keeps a part of each entry of a map.
    fn keep(&mut self, part: fn(Referred, Referred) -> Referred) {
        for entry in &mut self.entries {
            if let Entry::Pair(key, value) = *entry {
                *entry = Entry::Item(part(key, value));
            }
        }
    }

    /// A part of another collection, which is read up to its end.
    fn slice(&mut self, at: Addr, field: &str, views: u32) -> Option<Option<u64>> {
        let of = self.to(at, field)?;
        let (offset, size) = (self.number(at, "offset")?, self.number(at, "size")?);
        let most = self.most;
        self.most = offset.saturating_add(size.min(most)).min(MAX_ENTRIES);
        let read = self.read(of, views);
        self.most = most;
        read?;
        let before = usize::try_from(offset).ok()?.min(self.entries.len());
        self.entries.drain(..before);
        self.is_cut = (self.entries.len() as u64) < size;
        Some(Some(size))
    }

    /// A number of 32 bits, or one in an object of its own.
    fn number(&self, at: Addr, field: &str) -> Option<u64> {
        self.objects.number(at, field, 4)
    }

    /// An array of references in a field, and its length.
    fn array_of(&mut self, at: Addr, field: &str) -> Option<(Addr, u64)> {
        let array = self.to(at, field)?;
        let length = self.objects.oops.length(self.objects.memory, array);
        self.is_unread |= length.is_none();
        Some((array, length?))
    }

    /// An element of an array of references.
    fn element(&self, array: Addr, index: u64) -> Referred {
        let oops = &self.objects.oops;
        let by = index.checked_mul(oops.reference_size());
        let offset = by.and_then(|by| oops.elements_offset().checked_add(by)).ok_or(Unread)?;
        self.objects.referred_at(array, offset)
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
            if !self.look() || item != Ok(None) && !self.add(Entry::Item(item)) {
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
        let mut link = self.to(at, first);
        if is_empty {
            link = self.to(link?, "next");
        }
        self.linked(link, item);
        Some(())
    }

    /// The items of links from one on.
    fn linked(&mut self, first: Option<Addr>, item: &str) {
        let mut link = first;
        let mut seen = FxHashSet::default();
        while let Some(own) = link.filter(|own| seen.insert(*own)) {
            let value = self.objects.referred(own, item);
            // What was taken out has no item any more, or itself as the item.
            let is_one = !matches!(value, Ok(None)) && value != Ok(Some(own));
            if !self.look() || is_one && !self.add(Entry::Item(value)) {
                break;
            }
            link = self.to(own, "next");
        }
    }

    fn buckets(&mut self, at: Addr, table: &str, key: &str, value: &str) -> Option<()> {
        let Some((array, length)) = self.array_of(at, table) else { return Some(()) };
        for index in 0..length {
            if !self.look() {
                break;
            }
            let first = self.element(array, index);
            self.is_unread |= first.is_err();
            let first = first.ok().flatten();
            let moved = first.filter(|first| self.objects.is_a(*first, FORWARDING));
            match moved {
                Some(to) => self.moved_bucket(to, index, length, key, value),
                None => self.bucket(first, key, value),
            }
            if self.is_cut {
                break;
            }
        }
        Some(())
    }

    /// The entries of one bucket.
    fn bucket(&mut self, first: Option<Addr>, key: &str, value: &str) {
        let bin = first.filter(|first| self.objects.is_a(*first, BIN));
        let first = bin.map_or(first, |bin| self.to(bin, "first"));
        self.list(first, "next", key, value);
    }

    /// The entries of a bucket that now are in two of a table with twice as many.
    fn moved_bucket(&mut self, to: Addr, index: u64, length: u64, key: &str, value: &str) {
        let Some((table, room)) = self.array_of(to, "nextTable") else { return };
        for index in [index, index.saturating_add(length)].into_iter().filter(|it| *it < room) {
            let first = self.element(table, index);
            self.is_unread |= first.is_err();
            self.bucket(first.ok().flatten(), key, value);
        }
    }

    /// Links of which any but the last may be the one that is known.
    fn both_ways(&mut self, at: Addr, head: &str) -> Option<()> {
        let mut first = self.to(at, head)?;
        let mut seen = FxHashSet::default();
        while let Some(before) = self.to(first, "prev").filter(|it| seen.insert(*it)) {
            first = before;
            if !self.look() {
                break;
            }
        }
        self.linked(Some(first), "item");
        Some(())
    }

    /// The words of an array of 64 bits each.
    fn words(&mut self, at: Addr, field: &str) -> Option<Vec<u64>> {
        let (array, length) = self.array_of(at, field)?;
        let found = self.objects.class_of(array).filter(|(_, class)| &**class == WORDS);
        self.is_unread |= found.is_none();
        let first = self.objects.oops.longs(found.map(|_| array)?)?;
        let word = |index: u64| {
            let at = first.checked_add(index.checked_mul(8)?)?;
            self.objects.memory.uint(at, 0, 8)
        };
        let words: Vec<u64> = (0..length.min(MAX_WORDS)).map_while(word).collect();
        self.is_unread |= (words.len() as u64) < length.min(MAX_WORDS);
        self.is_cut |= length > MAX_WORDS;
        Some(words)
    }

    fn bits(&mut self, at: Addr, field: &str) -> Option<()> {
        for number in set_bits(&self.words(at, field)?) {
            if !self.add(Entry::Number(number)) {
                break;
            }
        }
        Some(())
    }

    fn chosen(&mut self, at: Addr, universe: &str, bits: &str) -> Option<()> {
        let (universe, length) = self.array_of(at, universe)?;
        let is_one = self.objects.field_of(at, bits).is_some_and(|field| !field.is_reference());
        let words = match is_one {
            true => vec![self.objects.number(at, bits, 8)?],
            false => self.words(at, bits)?,
        };
        for number in set_bits(&words).take_while(|number| *number < length) {
            if !self.add(Entry::Item(self.element(universe, number))) {
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
            let part = |field| self.objects.referred(own, field);
            let (own_key, value) = (part(key), part(value));
            // Entries that lead to another table while a map grows have no key.
            let is_one = own_key.is_err() || self.objects.field_of(own, key).is_some();
            let pair = Entry::Pair(own_key, value);
            if !self.look() || is_one && !self.add(pair) {
                break;
            }
            entry = self.to(own, next);
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
                next = self.to(own, "left");
            }
            let Some(own) = left.pop() else { return };
            let part = |field| self.objects.referred(own, field);
            let pair = Entry::Pair(part("key"), part("value"));
            next = self.to(own, "right");
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
            if !self.look() || key != Ok(None) && !self.add(Entry::Pair(key, value)) {
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
            if !self.look() || value != Ok(None) && !self.add(pair) {
                break;
            }
        }
        Some(())
    }

    fn is_nothing(&self, at: Addr) -> bool {
        self.objects.class_of(at).is_some_and(|(_, class)| &*class == NOTHING)
    }
}

/// The numbers of the bits that are set.
fn set_bits(words: &[u64]) -> impl Iterator<Item = u64> {
    let words = (0_u64..).zip(words);
    words.flat_map(|(index, word)| {
        let set = (0..64_u64).filter(move |bit| (*word >> bit) & 1 != 0);
        set.map(move |bit| index.saturating_mul(64).saturating_add(bit))
    })
}
