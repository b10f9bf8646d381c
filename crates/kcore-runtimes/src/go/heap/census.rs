//! The types of objects: from interfaces and from what stands in front of large objects, and from there along the
//! fields of types, until no more are found.

use kcore_mem::{Addr, AddressSpace};
use kcore_parallel::prelude::*;
use rustc_hash::FxHashMap;

use super::{
    Heap,
    class::Class,
    edges::{Reference, References},
    pointers::PointerWords,
    size_class::below,
    slots::{Slot, Target, TypeReader},
    span::Span,
};
use crate::{
    Host,
    go::{
        Go,
        type_shape::{MapShape, Shape},
    },
    objects::{Stopped, Watch},
};

/// Spans, and objects, that one thread reads at a time; and jobs between two looks at the user.
const SPANS: usize = 64;
const OBJECTS: usize = 1 << 12;
const STEP: usize = 64;
/// Rounds between two looks at the user.
const EVERY: usize = 1 << 10;
/// No class.
const NONE: u32 = u32::MAX;
/// How far types are followed along fields, at most: a list may be as long as it likes.
const MAX_ROUNDS: usize = 1 << 24;
/// Fields of a map's head and of its tables (`internal/runtime/maps/{map.go,table.go}`), since Go 1.24.
const DIRECTORY: u64 = 16;
const DIRECTORY_LENGTH: u64 = 24;
const TABLE_GROUPS: u64 = 16;
/// Fields of `runtime.hmap`, before.
const BUCKETS: u64 = 16;
const OLD_BUCKETS: u64 = 24;
/// Where `runtime.hchan` has its elements.
const CHANNEL_BUFFER: u64 = 16;
/// What the name of the type of a bucket contains.
const BUCKET: &str = "map.bucket[";
/// Since when maps have groups in place of buckets.
const GROUPS_SINCE: u8 = 24;

/// The classes of all objects.
pub struct Types {
    /// Of each slot by its number, an index of `classes`.
    of_slot: Vec<u32>,
    classes: Vec<Class>,
    ids: FxHashMap<Class, u32>,
}

impl Types {
    /// What the object of a slot is.
    pub fn class_of(&self, span: &Span, index: u32) -> Class {
        let number = span.first.saturating_add(index);
        let known = self.of_slot.get(number as usize).and_then(|id| self.classes.get(*id as usize));
        known.copied().unwrap_or_else(|| unknown(span))
    }

    /// What stands for a class: the same number for all its objects.
    pub fn number(&self, class: Class) -> u64 {
        match class {
            // Those of no known type have numbers behind all others.
            Class::Unknown(size, is_plain) => FIRST_UNKNOWN
                .saturating_add(size.saturating_mul(2))
                .saturating_add(u64::from(is_plain)),
            _ => self.ids.get(&class).copied().map_or(0, u64::from),
        }
    }
}

/// The first number of classes of objects of no known type.
const FIRST_UNKNOWN: u64 = 1 << 33;

fn unknown(span: &Span) -> Class {
    match (span.class, span.slot) {
        (0, _) => Class::Unknown(0, span.is_plain),
        (_, slot) => Class::Unknown(slot, span.is_plain),
    }
}

/// What something says of an object: the number of its slot, what it is, and bytes of that.
#[derive(Clone, Copy)]
struct Claim {
    slot: u32,
    class: Class,
    bytes: u64,
}

/// Finds types.
pub struct Finder<'a> {
    pub go: &'a Go,
    pub host: &'a dyn Host,
    pub heap: &'a Heap,
    pub reader: TypeReader<'a>,
}

impl Finder<'_> {
    fn space(&self) -> &dyn AddressSpace {
        self.reader.space
    }

    /// Of all objects.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn find(&self, watch: Watch<'_>) -> Result<Types, Stopped> {
        let mut known = ClassesSoFar::new(self.heap);
        let mut frontier = known.add(self.first_claims(watch)?);
        for round in 0..MAX_ROUNDS {
            if frontier.is_empty() {
                break;
            }
            if round.is_multiple_of(EVERY) && watch(0, 0).is_break() {
                return Err(Stopped);
            }
            let mut next = Vec::new();
            for step in frontier.chunks(OBJECTS.saturating_mul(STEP)) {
                next.extend(known.add(self.along_all(step)));
            }
            frontier = next;
        }
        Ok(Types { of_slot: known.of_slot, classes: known.classes, ids: known.ids })
    }

    fn along_all(&self, objects: &[(u32, Class)]) -> Vec<Claim> {
        let of_job = |job: &[(u32, Class)]| {
            let mut claims = Vec::new();
            job.iter().for_each(|(slot, class)| self.along(*slot, *class, &mut claims));
            claims
        };
        // A list has one object a round, which is not worth a second thread.
        if objects.len() <= OBJECTS {
            return of_job(objects);
        }
        let found: Vec<Vec<Claim>> = objects.par_chunks(OBJECTS).map(of_job).collect();
        found.into_iter().flatten().collect()
    }

    /// What programs say in interfaces, in their data and in objects, and what stands in front of large objects.
    fn first_claims(&self, watch: Watch<'_>) -> Result<Vec<Claim>, Stopped> {
        let mut claims = Vec::new();
        for masked in self.go.masked_data(self.host) {
            masked.each_word(self.space(), &mut |at, _| {
                let first = at.get().checked_sub(8).map(Addr::new);
                if first.is_some_and(|first| !masked.has(first)) {
                    self.interface(at, &mut claims);
                }
            });
        }
        let spans: Vec<&Span> = self.heap.spans.iter().filter(|span| !span.is_plain).collect();
        for (done, step) in spans.chunks(SPANS.saturating_mul(STEP)).enumerate() {
            let found: Vec<Vec<Claim>> = step
                .par_chunks(SPANS)
                .map(|job| {
                    let mut claims = Vec::new();
                    job.iter().for_each(|span| self.in_span(span, &mut claims));
                    claims
                })
                .collect();
            claims.extend(found.into_iter().flatten());
            let done = done.saturating_mul(SPANS.saturating_mul(STEP));
            if watch(done as u64, spans.len() as u64).is_break() {
                return Err(Stopped);
            }
        }
        Ok(claims)
    }

    fn in_span(&self, span: &Span, claims: &mut Vec<Claim>) {
        let references = References { heap: self.heap, reader: &self.reader };
        for index in self.heap.objects_of(span) {
            let known = self.heap.known(self.space(), span, index);
            let at = span.slot_at(index);
            match known {
                PointerWords::Typed(ty) => {
                    claims.extend(self.of_header(span, index, ty));
                }
                PointerWords::Plain | PointerWords::Nothing => {}
                _ => references.each(span, index, &mut |reference| {
                    // The first word of an interface is none that the collector follows.
                    let Some(before) = reference.offset.checked_sub(8) else { return };
                    if !known.has(self.space(), at, before / 8) {
                        self.interface(at.saturating_add(reference.offset), claims);
                    }
                }),
            }
        }
    }

    fn of_header(&self, span: &Span, index: u32, ty: Addr) -> Option<Claim> {
        let size = self.reader.shaped(ty)?.ty.size;
        let (_, room, _) = self.heap.body(span, index);
        let class = match room >= size.checked_mul(2)? {
            true => Class::Array(ty),
            false => Class::Value(ty),
        };
        Some(Claim { slot: span.first.checked_add(index)?, class, bytes: room })
    }

    fn dynamic_type(&self, word: Addr) -> Option<Addr> {
        let kind = |at: Addr| self.reader.shaped(at).map(|shaped| shaped.ty.kind);
        self.go.dynamic_type(self.space(), word, &kind)
    }

    /// What an interface holds whose second word lies at an address, if it is one.
    fn interface(&self, data: Addr, claims: &mut Vec<Claim>) {
        let first = data.get().checked_sub(8).map(Addr::new);
        let word = first.and_then(|at| self.space().read_addr(at).ok());
        let ty = word.and_then(|word| self.dynamic_type(word));
        let Some((ty, to)) = ty.zip(self.space().read_addr(data).ok()) else { return };
        let Some(shaped) = self.reader.shaped(ty) else { return };
        match shaped.is_direct(&|at| self.reader.shaped(at)) {
            false => self.value(to, ty, 1, false, claims),
            true => {
                let Some(words) = self.reader.words(ty) else { return };
                if let Some(slot) = words.slots.first() {
                    self.of_slot(data, slot, to.get(), claims);
                }
            }
        }
    }

    /// What the words of an object say of others.
    fn along(&self, slot: u32, class: Class, claims: &mut Vec<Claim>) {
        let Some((span, index)) = self.heap.numbered(slot) else { return };
        let body = self.heap.body(span, index);
        let references = References { heap: self.heap, reader: &self.reader };
        let mut tell = |reference: Reference<'_>| {
            let Some((_, slot)) = reference.slot else { return };
            let at = span.slot_at(index).saturating_add(reference.offset);
            match slot.to {
                Target::Interface => self.interface(at, claims),
                _ => self.of_slot(at, slot, reference.word, claims),
            }
        };
        match class {
            Class::Value(ty) if self.reader.words(ty).is_some() => {
                references.each_typed(body, ty, false, &mut tell);
            }
            Class::Array(ty) if self.reader.words(ty).is_some() => {
                references.each_typed(body, ty, true, &mut tell);
            }
            Class::Map(ty) | Class::MapTable(ty) | Class::MapTables(ty) => {
                self.along_map(body.0, class, ty, claims);
            }
            Class::Channel(ty) => {
                if let Some(buffer) = self.pointer(body.0, CHANNEL_BUFFER) {
                    self.value(buffer, ty, 0, true, claims);
                }
            }
            _ => {}
        }
        if let Class::Value(ty) | Class::Array(ty) = class {
            self.along_buckets(body.0, body.1, ty, claims);
        }
    }

    /// To Go 1.23, the last word of each bucket of a map leads to one more if there is one, which the type does not say
    /// (`runtime/map.go`, `bmap`). The last of those that were made in advance leads to the first of all.
    fn along_buckets(&self, at: Addr, room: u64, ty: Addr, claims: &mut Vec<Claim>) {
        let Some(size) = self.bucket_size(ty) else { return };
        for number in 0..room.checked_div(size).unwrap_or_default() {
            let bucket = at.saturating_add(number.saturating_mul(size));
            let more = self.pointer(bucket, size.saturating_sub(8)).filter(|more| *more != at);
            if let Some(more) = more {
                self.value(more, ty, 1, false, claims);
            }
        }
    }

    /// Bytes of a bucket; `None` of any other type.
    fn bucket_size(&self, ty: Addr) -> Option<u64> {
        let shaped = self.reader.shaped(ty).filter(|_| self.go.layout.minor < GROUPS_SINCE)?;
        let is_bucket = shaped.ty.name.contains(BUCKET);
        (is_bucket && shaped.ty.size > 8).then_some(shaped.ty.size)
    }

    fn pointer(&self, at: Addr, offset: u64) -> Option<Addr> {
        self.space().read_addr(at.checked_add(offset)?).ok().filter(|at| at.get() != 0)
    }

    fn along_map(&self, at: Addr, class: Class, ty: Addr, claims: &mut Vec<Claim>) {
        let Some(shaped) = self.reader.shaped(ty) else { return };
        let Shape::Map(map) = shaped.shape else { return };
        let mut parts = |offset: u64, class: Option<Class>| {
            let Some(to) = self.pointer(at, offset) else { return };
            match class {
                Some(class) => self.claim(to, class, 0, claims),
                None => self.value(to, map.group, 0, true, claims),
            }
        };
        match class {
            Class::Map(_) if self.go.layout.minor < GROUPS_SINCE => {
                parts(BUCKETS, None);
                parts(OLD_BUCKETS, None);
            }
            Class::Map(_) => match self.space().read_word(at.saturating_add(DIRECTORY_LENGTH)) {
                Ok(0) => parts(DIRECTORY, None),
                _ => parts(DIRECTORY, Some(Class::MapTables(ty))),
            },
            Class::MapTables(_) => {
                let Some((span, _)) = self.heap.object_at(at) else { return };
                let room = span.slot.saturating_sub(self.heap.header(span));
                (0..room / 8).for_each(|number| {
                    parts(number.saturating_mul(8), Some(Class::MapTable(ty)));
                });
            }
            _ => parts(TABLE_GROUPS, None),
        }
    }

    /// What a word of a type says of what it refers to.
    fn of_slot(&self, at: Addr, slot: &Slot, word: u64, claims: &mut Vec<Claim>) {
        let to = Addr::new(word);
        match slot.to {
            Target::Value(ty) => self.value(to, ty, 1, false, claims),
            Target::Slice(ty) => {
                let room = self.space().read_word(at.saturating_add(16));
                self.value(to, ty, room.unwrap_or_default(), true, claims);
            }
            Target::Text => self.claim(to, Class::Text, 0, claims),
            Target::Map(MapShape { ty, .. }) => self.claim(to, Class::Map(ty), 0, claims),
            Target::Channel(ty) => self.claim(to, Class::Channel(ty), 0, claims),
            Target::Function => {
                let code = self.space().read_addr(to).ok();
                let code = code.filter(|code| self.go.tables.text.contains(*code));
                if let Some(code) = code {
                    self.claim(to, Class::Closure(code), 0, claims);
                }
            }
            Target::Interface | Target::Unknown => {}
        }
    }

    /// That there are so many values of a type at an address, or as many as there is room for if the number is 0: in a
    /// slot that is no larger than they need.
    fn value(&self, to: Addr, ty: Addr, count: u64, is_array: bool, claims: &mut Vec<Claim>) {
        let Some((span, index)) = self.heap.object_at(to) else { return };
        let (at, room, header) = self.heap.body(span, index);
        let Some(size) = self.reader.shaped(ty).map(|it| it.ty.size) else { return };
        let bytes = match count {
            0 => size.checked_mul(room.checked_div(size).unwrap_or_default()),
            _ => size.checked_mul(count),
        };
        let Some(bytes) = bytes.filter(|bytes| at == to && *bytes > 0) else { return };
        let fits = bytes <= room && bytes.saturating_add(header) > below(span.slot);
        let is_tiny = span.is_plain && span.slot == TINY && bytes < TINY;
        let class = match is_array {
            _ if is_tiny => Class::Tiny,
            true => Class::Array(ty),
            false => Class::Value(ty),
        };
        if fits || is_tiny {
            let bytes = if is_tiny { 0 } else { bytes };
            claims.extend(span.first.checked_add(index).map(|slot| Claim { slot, class, bytes }));
        }
    }

    /// That an object of a class begins at an address.
    fn claim(&self, to: Addr, class: Class, bytes: u64, claims: &mut Vec<Claim>) {
        let Some((span, index)) = self.heap.object_at(to) else { return };
        let begins = self.heap.body(span, index).0 == to;
        let is_text = class == Class::Text;
        let is_tiny = is_text && span.is_plain && span.slot == TINY;
        if !begins || (is_text && !span.is_plain) {
            return;
        }
        let class = if is_tiny { Class::Tiny } else { class };
        // Anything else is worth more than a text, which may lie in any bytes.
        let bytes = if is_text { 0 } else { bytes.max(1) };
        claims.extend(span.first.checked_add(index).map(|slot| Claim { slot, class, bytes }));
    }
}

/// Bytes of slots that several small values without pointers share.
const TINY: u64 = 16;

/// The classes that are known so far.
struct ClassesSoFar {
    of_slot: Vec<u32>,
    classes: Vec<Class>,
    ids: FxHashMap<Class, u32>,
    /// What is known of each slot says this much, in bytes.
    bytes: Vec<u32>,
}

impl ClassesSoFar {
    fn new(heap: &Heap) -> Self {
        let count = heap.slot_count() as usize;
        let (of_slot, bytes) = (vec![NONE; count], vec![0; count]);
        Self { of_slot, classes: Vec::new(), ids: FxHashMap::default(), bytes }
    }

    /// Adds what is new, or says more than what was known; tells what is to be followed.
    fn add(&mut self, claims: Vec<Claim>) -> Vec<(u32, Class)> {
        let mut added = Vec::new();
        for Claim { slot, class, bytes } in claims {
            let known = self.of_slot.get_mut(slot as usize);
            let Some((known, known_bytes)) = known.zip(self.bytes.get_mut(slot as usize)) else {
                continue;
            };
            let (classes, ids) = (&mut self.classes, &mut self.ids);
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            if *known != NONE && *known_bytes >= bytes {
                continue;
            }
            *known = *ids.entry(class).or_insert_with(|| {
                classes.push(class);
                u32::try_from(classes.len().saturating_sub(1)).unwrap_or(NONE)
            });
            *known_bytes = bytes;
            added.push((slot, class));
        }
        added
    }
}
