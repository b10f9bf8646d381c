//! What PHP has in memory, as far as its type is known: objects, which a list has, and the arrays and strings that these and
//! variables refer to: `zend_objects_API.h`, `zend_hash.h`.

use std::sync::Arc;

use kcore_mem::Addr;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Php,
    array::{Elements, Key},
    blocks::Chunks,
    memory::{ARRAY, Memory, OBJECT, STRING, Value},
};
use crate::{Host, objects::Edge};

/// Things that are looked at, at most.
const MAX_CONTENTS: usize = 1 << 25;
/// `symbol_table` of `zend_executor_globals`.
const SYMBOLS: u64 = 304;
/// `arData` and `nTableMask` of `zend_array`.
const DATA: u64 = 16;
const MASK: u64 = 12;

/// Something that PHP has in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// Where it begins.
    pub at: Addr,
    /// Of an object its class, and else the number of its type.
    pub class: Addr,
    /// Bytes of the block in which it lies.
    pub own: u64,
    /// Those, and the bytes in which an array has its elements.
    pub size: u64,
}

impl Content {
    /// Its type, as values have it.
    pub fn kind(&self) -> u8 {
        match u8::try_from(self.class.get()) {
            Ok(kind) => kind,
            Err(_) => OBJECT,
        }
    }
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// They, lowest first.
    pub all: Vec<Content>,
    /// Bytes that PHP has in use and that are of none of them, if PHP's own allocator counts them.
    pub unknown: Option<u64>,
    /// Whether there may be more.
    pub is_cut: bool,
}

impl Contents {
    /// The one that holds an address.
    pub fn holding(&self, at: Addr) -> Option<&Content> {
        let after = self.all.partition_point(|content| content.at <= at);
        let content = self.all.get(after.checked_sub(1)?)?;
        at.offset_from(content.at).filter(|inside| *inside < content.own).map(|_| content)
    }

    /// The one that begins at an address.
    pub fn at(&self, at: Addr) -> Option<&Content> {
        self.holding(at).filter(|content| content.at == at)
    }
}

/// Where objects of a class have a property, and what it is called.
pub type Slot = (u64, Arc<str>);

/// A reference to a value.
pub type Reference = (Edge, Value);

impl Php {
    /// What there is. It is looked for once.
    pub(super) fn contents(&self, host: &dyn Host) -> &Contents {
        self.contents.get_or_init(|| {
            let memory = self.memory(host);
            let mut search = Search::new(&memory);
            for (globals, _) in self.all_globals(host) {
                let store = globals.objects(&memory);
                let objects = store.map(|store| memory.all_objects(store)).unwrap_or_default();
                search.next.extend(objects.into_iter().map(|at| (at, OBJECT)));
                let values = self.rooted(host, &globals);
                values.iter().for_each(|(.., value)| search.meet(*value));
            }
            search.finish()
        })
    }

    /// The values of variables: global ones, and those of calls. With the name of each, and where it lies.
    pub(super) fn rooted(
        &self,
        host: &dyn Host,
        globals: &super::Globals,
    ) -> Vec<(bool, Arc<str>, Value)> {
        let memory = self.memory(host);
        let mut found = Vec::new();
        let table = globals.executor.checked_add(SYMBOLS);
        let symbols = table.and_then(|table| Elements::of(&memory, table));
        for (key, value, _) in symbols.into_iter().flatten() {
            let Key::Name(name) = key else { continue };
            found.extend(memory.text(name).map(|name| (true, format!("${name}").into(), value)));
        }
        for frame in self.chain_of(host, globals).unwrap_or_default().frames {
            let own = memory.values_of(frame.at).unwrap_or_default();
            found.extend(own.into_iter().map(|(name, value)| (false, name, value)));
        }
        found
    }
}

/// The search for all that can be reached.
struct Search<'a> {
    memory: &'a Memory<'a>,
    next: Vec<(Addr, u8)>,
    known: FxHashSet<Addr>,
    found: Vec<Content>,
    chunks: Chunks,
    classes: FxHashMap<Addr, Arc<[Slot]>>,
}

impl<'a> Search<'a> {
    fn new(memory: &'a Memory<'a>) -> Self {
        Self {
            memory,
            next: Vec::new(),
            known: FxHashSet::default(),
            found: Vec::new(),
            chunks: Chunks::default(),
            classes: FxHashMap::default(),
        }
    }

    fn meet(&mut self, value: Value) {
        if !matches!(value.kind, STRING | ARRAY | OBJECT) {
            return;
        }
        self.next.extend(super::memory::pointer(value.word).map(|at| (at, value.kind)));
    }

    fn finish(mut self) -> Contents {
        let mut is_cut = false;
        while let Some((at, kind)) = self.next.pop() {
            if !self.known.insert(at) {
                continue;
            }
            if self.found.len() >= MAX_CONTENTS {
                is_cut = true;
                break;
            }
            self.visit(at, kind);
        }
        let example = self.found.first().map(|content| content.at);
        let in_use = example.and_then(|at| self.chunks.in_use(self.memory, at));
        self.found.sort_unstable_by_key(|content| content.at);
        let known: u64 = self.found.iter().fold(0, |sum, it| sum.saturating_add(it.size));
        let unknown = in_use.and_then(|in_use| in_use.checked_sub(known));
        Contents { all: self.found, unknown, is_cut }
    }

    /// What lies in no block of the allocator was there before the request, and is not counted.
    fn visit(&mut self, at: Addr, kind: u8) {
        let Some(block) = self.chunks.block(self.memory, at).filter(|block| block.at <= at) else {
            return;
        };
        let own = block.size.saturating_sub(at.offset_from(block.at).unwrap_or_default());
        let class = match kind {
            OBJECT => match self.memory.class_of(at) {
                Some(class) => class,
                None => return,
            },
            kind => Addr::new(u64::from(kind)),
        };
        let elements = if kind == ARRAY { self.elements_size(at) } else { 0 };
        self.found.push(Content { at, class, own, size: own.saturating_add(elements) });
        let values: Vec<Value> = match kind {
            OBJECT => self.values_of_object(at, class),
            ARRAY => {
                let elements = Elements::of(self.memory, at).into_iter().flatten();
                elements.map(|(_, value, _)| value).collect()
            }
            _ => Vec::new(),
        };
        values.into_iter().for_each(|value| self.meet(value));
        if kind == ARRAY {
            let keys = Elements::of(self.memory, at).into_iter().flatten();
            let keys = keys.filter_map(|(key, ..)| match key {
                Key::Name(name) => Some((name, STRING)),
                Key::Index(_) => None,
            });
            self.next.extend(keys);
        }
    }

    fn values_of_object(&mut self, at: Addr, class: Addr) -> Vec<Value> {
        let memory = self.memory;
        let slots = self.classes.entry(class).or_insert_with(|| memory.slots(class).into());
        let declared =
            slots.iter().filter_map(|(offset, _)| memory.plain_value(at.checked_add(*offset)?));
        let dynamic = memory.dynamic(at).map(|table| Value { kind: ARRAY, word: table.get() });
        declared.chain(dynamic).collect()
    }

    /// Bytes of the block that has the elements of an array: those of hashes lie behind their numbers.
    fn elements_size(&mut self, array: Addr) -> u64 {
        let read = || {
            let mask = u32::try_from(self.memory.uint(array, MASK, 4)?).ok()?;
            let before = u64::from(mask.wrapping_neg()).checked_mul(4)?;
            let data = self.memory.pointer(array, DATA)?.get().checked_sub(before)?;
            Some(Addr::new(data))
        };
        let Some(data) = read() else { return 0 };
        self.chunks.block(self.memory, data).map_or(0, |block| block.size)
    }
}
