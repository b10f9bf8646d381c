//! Code objects: what a function is called and where it is from.

use std::sync::{Arc, OnceLock};

use kcore_mem::Addr;

use super::{
    heap::{BYTES, Heap, Object, STR, TUPLE},
    lines,
};

/// Bytes of a line table, at most.
const MAX_TABLE: u64 = 1 << 20;
/// Slots of a frame, at most.
const MAX_SLOTS: u64 = 4096;
/// `co_flags`: variables lie in slots of the frame; there are `*args`, `**kwargs`. `Include/cpython/code.h`.
const OPTIMIZED: i32 = 1;
const VARARGS: i32 = 4;
const VARKEYWORDS: i32 = 8;
/// `co_names` to 3.10, and since.
const NAMES_OLD: u64 = 64;
const NAMES: u64 = 32;
/// `co_exceptiontable`; `co_nlocalsplus` lies behind `co_firstlineno` (3.11 to 3.15).
const EXCEPTION_TABLE: u64 = 40;
/// In `co_localspluskinds`: hidden from `locals()`, a local, a cell, a variable of an outer function.
const HIDDEN: u8 = 0x10;
const CELL: u8 = 0x40;
const FREE: u8 = 0x80;

/// What a code object says.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// Where it lies.
    pub at: Addr,
    /// Its qualified name, or of versions that keep none its name.
    pub name: Arc<str>,
    /// Its source file.
    pub file: Arc<str>,
    /// Its first line.
    pub first_line: i32,
    /// `co_flags`.
    flags: i32,
    /// How many of its variables are arguments, `*args` and `**kwargs` among them.
    pub arguments: u64,
    /// Bytes of its instructions.
    length: u64,
    /// Bytes of those that run before the function begins; nothing is before it to 3.10.
    prelude: i64,
    table: Vec<u8>,
    /// The slots of its frames, once somebody asked: very many coroutines may be of one function.
    slots: OnceLock<Option<Arc<[Slot]>>>,
}

/// A slot of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// What the variable is called.
    pub name: Arc<str>,
    /// Whether it may lie in a cell.
    pub may_be_cell: bool,
    /// Whether the language does not see it.
    pub is_hidden: bool,
}

impl Code {
    /// The code object at an address, if one lies there: name and file must be text, the table bytes.
    pub fn load(heap: &Heap<'_>, at: Addr) -> Option<Self> {
        let offsets = &heap.layout.code;
        let object = heap.object(at)?;
        let builtin = INT_TO_TYPE & object.flags;
        (builtin == 0).then_some(())?;
        let name = |offset| heap.name(heap.field_of(at, offset, STR)?);
        let plain = name(offsets.name)?;
        let table = heap.bytes(heap.field_of(at, offsets.lines, BYTES)?, MAX_TABLE)?;
        let flags = heap.int(at, offsets.flags)?;
        Some(Self {
            at,
            name: offsets.qualname.and_then(name).unwrap_or(plain).into(),
            file: name(offsets.filename)?.into(),
            first_line: heap.int(at, offsets.first_line)?,
            flags,
            arguments: arguments(heap, at, flags)?,
            length: length(heap, object)?,
            prelude: prelude(heap, at).unwrap_or(i64::MIN),
            table,
            slots: OnceLock::new(),
        })
    }

    /// Whether memory of a code object that cannot be read, or of what it is called, has no bytes.
    pub fn lacks_memory(heap: &Heap<'_>, at: Addr) -> bool {
        let offsets = &heap.layout.code;
        // Since 3.11 instructions are a part of it.
        let instructions = (heap.layout.minor <= 10).then_some(offsets.instructions);
        let parts = [offsets.name, offsets.filename, offsets.lines].into_iter().chain(instructions);
        let lacks = |part: Addr| heap.lacks_memory(part);
        lacks(at) || { parts }.any(|part| heap.pointer(at, part).is_some_and(lacks))
    }

    /// The line of the instruction at a byte offset; before the first one, that where the function begins.
    pub fn line(&self, minor: u8, offset: i64) -> Option<u32> {
        let first = i64::from(self.first_line);
        match offset {
            ..0 => u32::try_from(self.first_line).ok().filter(|line| *line > 0),
            _ => lines::line_of(minor, &self.table, first, offset),
        }
    }

    /// Whether a byte offset lies in its instructions, or is that of a frame that did not begin.
    pub fn has(&self, offset: i64) -> bool {
        offset < 0 || offset.unsigned_abs() < self.length
    }

    /// Whether a frame at a byte offset is still being made: Python's own stacks do not have it, nor those of code that
    /// interpreters put between a class and its `__init__`, which never comes further.
    pub const fn is_prelude(&self, offset: i64) -> bool {
        offset < self.prelude
    }

    /// Whether its variables lie in slots of its frames alone.
    pub const fn is_optimized(&self) -> bool {
        self.flags & OPTIMIZED != 0
    }

    /// Whether its instructions use a name of a variable of the module or of an attribute, `co_names`.
    pub fn uses(&self, heap: &Heap<'_>, name: &str) -> bool {
        let offset = if heap.layout.minor < 11 { NAMES_OLD } else { NAMES };
        names(heap, self.at, offset).is_none_or(|mut names| names.any(|own| own == name))
    }

    /// What tells where exceptions are handled, since 3.11.
    pub fn exception_table(&self, heap: &Heap<'_>) -> Option<Vec<u8>> {
        heap.bytes(heap.field_of(self.at, EXCEPTION_TABLE, BYTES)?, MAX_TABLE)
    }

    /// How many variables its frames have, since 3.11.
    pub fn slot_count(&self, heap: &Heap<'_>) -> Option<u64> {
        let offset = heap.layout.code.first_line.checked_add(4)?;
        u64::try_from(heap.int(self.at, offset)?).ok().filter(|count| *count <= MAX_SLOTS)
    }

    /// The slots of its frames, in order; `None` where their names cannot be read.
    pub fn slots(&self, heap: &Heap<'_>) -> Option<Arc<[Slot]>> {
        self.slots.get_or_init(|| self.read_slots(heap)).clone()
    }

    fn read_slots(&self, heap: &Heap<'_>) -> Option<Arc<[Slot]>> {
        let offsets = &heap.layout.code;
        match (offsets.names, offsets.slots) {
            (Some([local, cell, free]), _) => {
                let of = |offset, is_cell| {
                    let slot = move |name: String| Slot {
                        name: name.into(),
                        may_be_cell: is_cell,
                        is_hidden: false,
                    };
                    Some(names(heap, self.at, offset)?.map(slot))
                };
                Some(of(local, false)?.chain(of(cell, true)?).chain(of(free, true)?).collect())
            }
            (_, Some([name, kind])) => {
                let kinds = heap.bytes(heap.field_of(self.at, kind, BYTES)?, MAX_SLOTS)?;
                let named = names(heap, self.at, name)?.zip(kinds);
                let slot = |(name, kind): (String, u8)| Slot {
                    name: name.into(),
                    may_be_cell: kind & (CELL | FREE) != 0,
                    is_hidden: kind & HIDDEN != 0,
                };
                Some(named.map(slot).collect())
            }
            _ => None,
        }
    }
}

/// The flags of builtin types of which a code object is none.
const INT_TO_TYPE: u64 = 0xff << 24;

/// The names in a tuple; one that cannot be read is empty.
fn names<'h>(
    heap: &'h Heap<'_>,
    at: Addr,
    offset: u64,
) -> Option<impl Iterator<Item = String> + use<'h>> {
    let tuple = heap.field_of(at, offset, TUPLE)?;
    let count = heap.size(tuple)?.min(MAX_SLOTS);
    let name = move |index| heap.name(heap.item(tuple, index)?);
    Some((0..count).map(move |index| name(index).unwrap_or_default()))
}

fn arguments(heap: &Heap<'_>, at: Addr, flags: i32) -> Option<u64> {
    let offsets = &heap.layout.code;
    let count = |offset| u64::try_from(heap.int(at, offset)?).ok();
    let more = u64::from(flags & VARARGS != 0).saturating_add(u64::from(flags & VARKEYWORDS != 0));
    let named = count(offsets.arguments)?.saturating_add(count(offsets.keyword_only)?);
    Some(named.saturating_add(more))
}

/// Bytes before `_co_firsttraceable`, which with `co_extra` goes before the instructions (3.11 to 3.15).
fn prelude(heap: &Heap<'_>, at: Addr) -> Option<i64> {
    if heap.layout.minor < 11 {
        return None;
    }
    let first = heap.int(at, heap.layout.code.instructions.checked_sub(16)?)?;
    i64::from(first).checked_mul(2).filter(|bytes| *bytes >= 0)
}

/// Bytes of the instructions.
fn length(heap: &Heap<'_>, code: Object) -> Option<u64> {
    match heap.layout.minor {
        ..=10 => heap.size(heap.field_of(code.at, heap.layout.code.instructions, BYTES)?),
        _ => heap.size(code)?.checked_mul(2),
    }
}
