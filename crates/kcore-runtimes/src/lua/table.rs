//! Tables: `Table` and `Node` of `lobject.h`, `ltable.c`.

use kcore_mem::Addr;

use super::{
    layout::Series,
    memory::{Memory, VALUE, Value},
};

/// Elements and nodes of a table, at most.
const MAX_ARRAY: u64 = 1 << 32;
const MAX_NODE_LOG: u64 = 32;
/// The key of a node: in 5.4 its word and its tag lie apart.
const KEY: u64 = 16;
const KEY_TAG_54: u64 = 9;
/// `LUA_TNUMBER`, with the tag of an integer in 5.3 and in 5.4.
const NUMBER: u8 = 3;
const INTEGER_53: u8 = 0x13;
/// The tag of a key that died, with the type of its object left out.
const DEAD_51: u8 = 11;
const DEAD: u8 = 9;
/// `isrealasize` of 5.4: the size of the array is not what it says.
const ROUNDED: u64 = 1 << 7;
const FLAGS: u64 = 10;

/// The entries of a table whose value is not nil: the array's first.
pub struct Entries<'a> {
    memory: &'a Memory<'a>,
    array: Option<Addr>,
    array_size: u64,
    nodes: Option<Addr>,
    node_count: u64,
    next: u64,
}

impl<'a> Entries<'a> {
    /// Those of the table at an address.
    pub fn of(memory: &'a Memory<'a>, table: Addr) -> Option<Self> {
        let layout = &memory.layout.table;
        let size = memory.uint(table, layout.array_size, 4)?;
        let log = memory.uint(table, layout.node_log, 1).filter(|log| *log <= MAX_NODE_LOG)?;
        let is_rounded =
            memory.layout.series == Series::V54 && memory.uint(table, FLAGS, 1)? & ROUNDED != 0;
        let array_size = if is_rounded { size.checked_next_power_of_two()? } else { size };
        (array_size <= MAX_ARRAY).then_some(Self {
            memory,
            array: memory.pointer(table, layout.array),
            array_size,
            nodes: memory.pointer(table, layout.nodes),
            node_count: 1_u64.checked_shl(u32::try_from(log).ok()?)?,
            next: 0,
        })
    }

    /// Which element the array has there, if that is one.
    fn element(&self, index: u64) -> Option<(Value, Value)> {
        let at = self.array?.checked_add(index.checked_mul(VALUE)?)?;
        let word = index.checked_add(1)?;
        let key = match self.memory.layout.series {
            Series::V51 | Series::V52 => Value { tag: NUMBER, word: f64_of(word).to_bits() },
            Series::V53 => Value { tag: INTEGER_53, word },
            Series::V54 => Value { tag: NUMBER, word },
        };
        Some((key, self.memory.value(at)?))
    }

    fn node(&self, index: u64) -> Option<(Value, Value)> {
        let at = self.nodes?.checked_add(index.checked_mul(self.memory.layout.table.node_size)?)?;
        let value = self.memory.value(at)?;
        let key = match self.memory.layout.series {
            Series::V54 => Value {
                tag: self.memory.byte(at, KEY_TAG_54)? & 0x3f,
                word: self.memory.word(at, KEY)?,
            },
            _ => self.memory.value(at.checked_add(KEY)?)?,
        };
        let dead = if self.memory.layout.series == Series::V51 { DEAD_51 } else { DEAD };
        let is_dead = key.kind() == dead || key.kind() == DEAD_51 && key.tag == DEAD_51;
        (!is_dead).then_some((key, value))
    }
}

impl Iterator for Entries<'_> {
    type Item = (Value, Value);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let index = self.next;
            let entry = match index.checked_sub(self.array_size) {
                None => {
                    // What cannot be read is not walked to its end.
                    let Some(entry) = self.element(index) else {
                        self.next = self.array_size;
                        continue;
                    };
                    Some(entry)
                }
                Some(node) if node < self.node_count => {
                    self.nodes?;
                    let readable = self.node_is_readable(node);
                    if !readable {
                        return None;
                    }
                    self.node(node)
                }
                Some(_) => return None,
            };
            self.next = index.checked_add(1)?;
            if let Some(entry) = entry.filter(|(_, value)| value.kind() != 0) {
                return Some(entry);
            }
        }
    }
}

impl Entries<'_> {
    fn node_is_readable(&self, index: u64) -> bool {
        let at = index.checked_mul(self.memory.layout.table.node_size);
        at.and_then(|at| self.memory.word(self.nodes?, at)).is_some()
    }
}

/// A small number as 5.1 and 5.2 have all numbers.
#[allow(clippy::cast_precision_loss)]
const fn f64_of(number: u64) -> f64 {
    number as f64
}
