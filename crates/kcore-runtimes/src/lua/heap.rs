//! The objects of a global state, as its lists have them: `lgc.c`, `lstring.c`.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange};
use rustc_hash::FxHashMap;

use super::{
    layout::Series,
    memory::{FUNCTION, Function, Memory, STRING, TABLE, THREAD, VALUE, Value},
    names_of_tables::TableNames,
    state::State,
    table::{Entries, bytes_of, layout_of},
};
use crate::object_list::{Listed, ObjectList};

/// Buckets of the table of strings, at most.
const MAX_BUCKETS: u64 = 1 << 28;
/// Where a bucket's strings and their number lie, from the table of strings on.
const BUCKETS: u64 = 0;
const BUCKET_COUNT: u64 = 12;
const TAG: u64 = 8;
const VARIANTS: u8 = 0x3f;
const TYPES: u8 = 15;
/// `LUA_TUSERDATA`.
pub const USERDATA: u8 = 7;
/// Bytes of a string before its text, and of what ends it.
const BEFORE_TEXT: u64 = 24;
const AFTER_TEXT: u64 = 1;
/// Bytes of an upvalue.
const UPVALUE: u64 = 40;
/// Values that a stack has beyond those that it says: `EXTRA_STACK`.
const EXTRA_STACK: u64 = 5;
/// Bytes of a userdata before what it holds, in 5.4 if it has no values of its own, and otherwise before these.
const BEFORE_DATA: u64 = 40;
const BEFORE_DATA_54: u64 = 32;
/// `nuvalue` of 5.4.
const OWN_VALUES: u64 = 10;
/// Bytes of a string's place in an array of constants, of an instruction, and of what describes a local variable.
const CONSTANT: u64 = 16;
const INSTRUCTION: u64 = 4;
const LOCAL: u64 = 16;

/// What an object of the collector is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A table.
    Table,
    /// A function.
    Function,
    /// Data of C code.
    Userdata,
    /// A coroutine, or the main thread.
    Thread,
    /// The code of a function.
    Proto,
    /// A variable that functions share.
    Upvalue,
}

impl Kind {
    /// What an object is by its tag.
    pub const fn of(series: Series, tag: u8) -> Option<Self> {
        Some(match (tag & TYPES, series) {
            (STRING, _) => Self::Text,
            (TABLE, _) => Self::Table,
            (FUNCTION, _) => Self::Function,
            (USERDATA, _) => Self::Userdata,
            (THREAD, _) => Self::Thread,
            (9, Series::V51 | Series::V52 | Series::V53) | (10, Series::V54) => Self::Proto,
            (9, Series::V54) | (10, Series::V51 | Series::V52) => Self::Upvalue,
            _ => return None,
        })
    }

    /// The word for it in place of a class.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "(string)",
            Self::Table => "(table)",
            Self::Function => "(function)",
            Self::Userdata => "(userdata)",
            Self::Thread => "(thread)",
            Self::Proto => "(proto)",
            Self::Upvalue => "(upvalue)",
        }
    }
}

impl Memory<'_> {
    /// What the object at an address is.
    pub fn object_kind(&self, at: Addr) -> Option<Kind> {
        Kind::of(self.layout.series, self.byte(at, TAG)? & VARIANTS)
    }

    /// Bytes of the object itself, and those with what it alone has elsewhere. Nodes in `module` are of no table: empty ones
    /// share them.
    fn sizes(&self, at: Addr, kind: Kind, module: AddrRange) -> Option<(u64, u64)> {
        let alone = |bytes: u64| Some((bytes, bytes));
        match kind {
            Kind::Text => {
                alone(self.text_bytes(at)?.1.checked_add(BEFORE_TEXT)?.checked_add(AFTER_TEXT)?)
            }
            Kind::Table => {
                let own = bytes_of(self, at)?;
                Some((own, own.checked_add(Entries::of(self, at)?.bytes(module)?)?))
            }
            Kind::Function => alone(self.function_size(at)?),
            Kind::Userdata => alone(self.userdata_size(at)?),
            Kind::Thread => {
                let state = &self.layout.state;
                let last = self.word(at, state.stack.checked_sub(8)?)?;
                let stack = last.checked_sub(self.word(at, state.stack)?)?;
                let stack = stack.checked_add(EXTRA_STACK.checked_mul(VALUE)?)?;
                Some((state.size, state.size.checked_add(stack)?))
            }
            Kind::Proto => {
                let own = self.layout.proto.size;
                Some((own, own.checked_add(self.proto_size(at)?)?))
            }
            Kind::Upvalue => alone(UPVALUE),
        }
    }

    fn function_size(&self, at: Addr) -> Option<u64> {
        let value = Value { tag: self.byte(at, TAG)? & VARIANTS, word: at.get() };
        let (first, count) = self.layout.upvalues;
        let count = self.uint(at, count, 1)?;
        let each = match self.function(value)? {
            Function::Lua { .. } => 8,
            Function::C { .. } => VALUE,
        };
        count.checked_mul(each)?.checked_add(first)
    }

    fn userdata_size(&self, at: Addr) -> Option<u64> {
        let length = self.word(at, self.layout.userdata.1)?;
        let values = match self.layout.series {
            Series::V54 => self.uint(at, OWN_VALUES, 2)?,
            _ => 0,
        };
        let before = match (self.layout.series, values) {
            (Series::V54, 0) => BEFORE_DATA_54,
            _ => BEFORE_DATA,
        };
        values.checked_mul(VALUE)?.checked_add(before)?.checked_add(length)
    }

    fn proto_size(&self, at: Addr) -> Option<u64> {
        let layout = &self.layout.proto;
        let line = if layout.absolute_lines.is_some() { 1 } else { 4 };
        let parts = [
            (layout.constants.1, CONSTANT),
            (layout.code.1, INSTRUCTION),
            (layout.inner_count, 8),
            (layout.lines.1, line),
            (layout.locals.1, LOCAL),
            (layout.upvalues.1, layout.upvalue_size),
        ];
        let absolute = layout.absolute_lines.map(|(_, count)| (count, 8));
        parts.into_iter().chain(absolute).try_fold(0_u64, |sum, (count, each)| {
            sum.checked_add(self.uint(at, count, 4)?.checked_mul(each)?)
        })
    }
}

/// What fills a list of objects from global states.
pub struct Filling<'a> {
    /// The list.
    pub list: ObjectList,
    /// The module that the code of Lua lies in.
    pub module: AddrRange,
    memory: Memory<'a>,
    heap: u32,
    /// The class that tables and userdata with a metatable have, by the metatable.
    classes: FxHashMap<Addr, Option<Arc<str>>>,
    names: TableNames,
}

impl<'a> Filling<'a> {
    /// That of the state with a number; `list` has the objects of those before.
    pub fn new(
        list: ObjectList,
        module: AddrRange,
        memory: Memory<'a>,
        state: &State,
        heap: u32,
    ) -> Self {
        let names = TableNames::of(&memory, state);
        Self { list, module, memory, heap, classes: FxHashMap::default(), names }
    }

    /// Adds the objects of the state.
    pub fn fill(&mut self, state: &State) {
        let layout = &state.layout.global;
        for offset in layout.lists {
            self.follow(state.global.checked_add(*offset));
        }
        // To 5.2 short strings are on no list.
        let buckets = || {
            let at = state.global.checked_add(layout.strings?)?;
            let count = self.memory.uint(at, BUCKET_COUNT, 4)?.min(MAX_BUCKETS);
            Some((self.memory.pointer(at, BUCKETS)?, count))
        };
        if let Some((first, count)) = buckets() {
            for index in 0..count {
                let bucket = first.checked_add(index.saturating_mul(8));
                if !self.follow(bucket) {
                    break;
                }
            }
        }
        self.add(state.main);
    }

    /// Follows the list whose beginning lies at an address; whether that can be read.
    fn follow(&mut self, list: Option<Addr>) -> bool {
        let Some(first) = list.and_then(|list| self.memory.word(list, 0)) else {
            self.list.is_cut = true;
            return false;
        };
        let mut next = super::memory::pointer(first);
        while let Some(at) = next {
            if !self.add(at) {
                break;
            }
            let after = self.memory.word(at, 0);
            self.list.is_cut |= after.is_none();
            next = after.and_then(super::memory::pointer);
        }
        true
    }

    /// Adds an object; whether it was new.
    fn add(&mut self, at: Addr) -> bool {
        let Some(kind) = self.memory.object_kind(at) else {
            self.list.is_cut = true;
            return false;
        };
        if !self.list.is_new(at) {
            return false;
        }
        let (own, size) = self.memory.sizes(at, kind, self.module).unwrap_or_default();
        let class = self.class(at, kind).unwrap_or(Addr::new(kind as u64));
        self.list.add(Listed { at, class, own: own.max(1), size, heap: self.heap });
        true
    }

    /// The metatable of an object, if that has a name.
    fn class(&mut self, at: Addr, kind: Kind) -> Option<Addr> {
        let metatable = self.memory.metatable(at, kind)?;
        if let Some(known) = self.classes.get(&metatable) {
            return known.is_some().then_some(metatable);
        }
        let name = self.names.class(&self.memory, metatable);
        if let Some(name) = &name {
            self.list.name(metatable, name.clone());
        }
        let is_named = name.is_some();
        self.classes.insert(metatable, name);
        is_named.then_some(metatable)
    }
}

impl Memory<'_> {
    /// The metatable of a table or a userdata.
    pub fn metatable(&self, at: Addr, kind: Kind) -> Option<Addr> {
        let offset = match kind {
            Kind::Table => layout_of(self, at)?.metatable,
            Kind::Userdata => self.layout.userdata.0,
            _ => return None,
        };
        self.pointer(at, offset)
    }
}
