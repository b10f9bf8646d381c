//! The objects of a global state, as its lists have them: `lj_gc.c`, `lj_str.c`.

use std::sync::Arc;

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use super::{
    memory::{FUNCTION, Function, Memory, STRING, TABLE, TAG, THREAD, USERDATA, VALUE, pointer},
    names_of_tables::TableNames,
    state::State,
};
use crate::object_list::{Listed, ObjectList};

/// `gc.root` and `gc.mmudata` of the global state, and `str.tab` and `str.mask`.
const LISTS: [u64; 2] = [40, 80];
const BUCKETS: u64 = 152;
const BUCKET_MASK: u64 = 160;
/// What a bucket says of its strings in its lowest bit.
const BUCKET_FLAG: u64 = 1;
/// Buckets of the table of strings, at most.
const MAX_BUCKETS: u64 = 1 << 28;
/// `~LJ_TUPVAL`, `~LJ_TPROTO`, `~LJ_TTRACE` and `~LJ_TCDATA`.
const UPVALUE: u8 = 5;
const PROTO: u8 = 7;
const TRACE: u8 = 9;
const CDATA: u8 = 10;
/// `sizeof` of what is of one size, and of what comes before parts of any number.
const UPVALUE_SIZE: u64 = 48;
const TABLE_SIZE: u64 = 64;
const LUA_FUNCTION_SIZE: u64 = 40;
const C_FUNCTION_SIZE: u64 = 48;
const USERDATA_SIZE: u64 = 48;
const CDATA_SIZE: u64 = 16;
const TRACE_SIZE: u64 = 120;
/// `nupvalues`, `sizept` and `stacksize`; `len` of a userdata.
const UPVALUES: u64 = 11;
const PROTO_BYTES: u64 = 56;
const STACK_SIZE: u64 = 88;
const DATA_LENGTH: u64 = 24;
/// `metatable` of tables and userdata, `colo`, `asize` and `hmask` of tables.
const METATABLE: u64 = 32;
const COLOCATED: u64 = 11;
const ARRAY_SIZE: u64 = 48;
const NODE_MASK: u64 = 52;
const NODE: u64 = 24;

/// What an object of the collector is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A variable that functions share.
    Upvalue,
    /// A coroutine, or the main thread.
    Thread,
    /// The code of a function.
    Proto,
    /// A function.
    Function,
    /// Machine code of a trace.
    Trace,
    /// A value of C.
    Cdata,
    /// A table.
    Table,
    /// Data of C code.
    Userdata,
}

impl Kind {
    /// What an object is by its tag.
    const fn of(tag: u8) -> Option<Self> {
        Some(match tag {
            STRING => Self::Text,
            UPVALUE => Self::Upvalue,
            THREAD => Self::Thread,
            PROTO => Self::Proto,
            FUNCTION => Self::Function,
            TRACE => Self::Trace,
            CDATA => Self::Cdata,
            TABLE => Self::Table,
            USERDATA => Self::Userdata,
            _ => return None,
        })
    }

    /// The tag of values that refer to it, where there are such.
    pub const fn tag(self) -> Option<u8> {
        Some(match self {
            Self::Text => STRING,
            Self::Thread => THREAD,
            Self::Function => FUNCTION,
            Self::Cdata => CDATA,
            Self::Table => TABLE,
            Self::Userdata => USERDATA,
            Self::Upvalue | Self::Proto | Self::Trace => return None,
        })
    }

    /// The word for it in place of a class.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "(string)",
            Self::Upvalue => "(upvalue)",
            Self::Thread => "(thread)",
            Self::Proto => "(proto)",
            Self::Function => "(function)",
            Self::Trace => "(trace)",
            Self::Cdata => "(cdata)",
            Self::Table => "(table)",
            Self::Userdata => "(userdata)",
        }
    }
}

impl Memory<'_> {
    /// What the object at an address is.
    pub fn object_kind(&self, at: Addr) -> Option<Kind> {
        self.byte(at, TAG).and_then(Kind::of)
    }

    /// The metatable of a table or a userdata.
    pub fn metatable(&self, at: Addr) -> Option<Addr> {
        let has_one = matches!(self.object_kind(at)?, Kind::Table | Kind::Userdata);
        has_one.then(|| self.pointer(at, METATABLE))?
    }

    /// Bytes of the object itself, and those with what it alone has elsewhere. Of values of C only the head counts, since
    /// their types tell the rest.
    fn sizes(&self, at: Addr, kind: Kind, state_size: u64) -> Option<(u64, u64)> {
        let alone = |bytes: u64| Some((bytes, bytes));
        match kind {
            // `sizestring`: a zero and what fills four bytes.
            Kind::Text => {
                let length = self.text_bytes(at)?.1.checked_add(4)? & !3;
                alone(length.checked_add(24)?)
            }
            Kind::Upvalue => alone(UPVALUE_SIZE),
            Kind::Thread => {
                let stack = self.uint(at, STACK_SIZE, 4)?.checked_mul(VALUE)?;
                Some((state_size, state_size.checked_add(stack)?))
            }
            Kind::Proto => alone(self.uint(at, PROTO_BYTES, 4)?),
            Kind::Function => {
                let (before, each) = match self.function(at)? {
                    Function::Lua(_) => (LUA_FUNCTION_SIZE, 8),
                    Function::C(_) | Function::Builtin(_) => (C_FUNCTION_SIZE, VALUE),
                };
                alone(self.uint(at, UPVALUES, 1)?.checked_mul(each)?.checked_add(before)?)
            }
            Kind::Trace => alone(self.trace_size(at)?),
            Kind::Cdata => alone(CDATA_SIZE),
            Kind::Table => self.table_sizes(at),
            Kind::Userdata => alone(self.uint(at, DATA_LENGTH, 4)?.checked_add(USERDATA_SIZE)?),
        }
    }

    /// The head of a trace, its instructions (`nins`, `nk`), and what it restores where it is left (`nsnap`, `nsnapmap`).
    fn trace_size(&self, at: Addr) -> Option<u64> {
        let instructions = self.uint(at, 12, 4)?.checked_sub(self.uint(at, 40, 4)?)?;
        let (states, values) = (self.uint(at, 10, 2)?, self.uint(at, 44, 4)?);
        let states = states.checked_mul(12)?.checked_add(values.checked_mul(4)?)?;
        instructions.checked_mul(8)?.checked_add(states)?.checked_add(TRACE_SIZE)
    }

    /// A small array lies in the block of its table; a table without nodes of its own has a mask of none.
    fn table_sizes(&self, at: Addr) -> Option<(u64, u64)> {
        let colocated = i8::try_from(self.uint(at, COLOCATED, 1)?).ok();
        let array = self.uint(at, ARRAY_SIZE, 4)?.checked_mul(VALUE)?;
        let nodes = match self.uint(at, NODE_MASK, 4)? {
            0 => 0,
            mask => mask.checked_add(1)?.checked_mul(NODE)?,
        };
        // From 128 on (a negative number) the place within the block is not used any longer.
        let inside = match colocated.and_then(|count| u64::try_from(count).ok()) {
            Some(0) | None => 0,
            Some(_) => array,
        };
        let own = TABLE_SIZE.checked_add(inside)?;
        Some((own, own.checked_add(array.checked_sub(inside)?)?.checked_add(nodes)?))
    }
}

/// What fills a list of objects from global states.
pub struct Filling<'a> {
    /// The list.
    pub list: ObjectList,
    memory: Memory<'a>,
    heap: u32,
    state_size: u64,
    /// The class that tables and userdata with a metatable have, by the metatable.
    classes: FxHashMap<Addr, Option<Arc<str>>>,
    names: TableNames,
}

impl<'a> Filling<'a> {
    /// That of the main thread with a number; `list` has the objects of those before.
    pub fn new(list: ObjectList, memory: Memory<'a>, main: &State, heap: u32) -> Self {
        let names = TableNames::of(&memory, main);
        let state_size = main.global.offset_from(main.main).unwrap_or_default();
        Self { list, memory, heap, state_size, classes: FxHashMap::default(), names }
    }

    /// Adds the objects of the state.
    pub fn fill(&mut self, state: &State) {
        for offset in LISTS {
            self.follow(state.global.checked_add(offset));
        }
        let memory = self.memory;
        let buckets = memory.pointer(state.global, BUCKETS);
        let mask = memory.uint(state.global, BUCKET_MASK, 4).unwrap_or_default();
        let count = mask.saturating_add(1).min(MAX_BUCKETS);
        for index in 0..count {
            let bucket = buckets.and_then(|first| first.checked_add(index.saturating_mul(8)));
            if !self.follow(bucket) {
                break;
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
        let mut next = pointer(first & !BUCKET_FLAG);
        while let Some(at) = next {
            if !self.add(at) {
                break;
            }
            let after = self.memory.word(at, 0);
            self.list.is_cut |= after.is_none();
            next = after.and_then(pointer);
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
        let (own, size) = self.memory.sizes(at, kind, self.state_size).unwrap_or_default();
        let class = self.class(at).unwrap_or(Addr::new(kind as u64));
        self.list.add(Listed { at, class, own: own.max(1), size, heap: self.heap });
        true
    }

    /// The metatable of an object, if that has a name.
    fn class(&mut self, at: Addr) -> Option<Addr> {
        let metatable = self.memory.metatable(at)?;
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
