//! Tables: `Table` and `Node` of `lobject.h`, `ltable.c`.

use kcore_mem::{Addr, AddrRange};

use super::{
    layout::{REDIS_TABLE, Series, TableLayout},
    memory::{Memory, VALUE, Value},
};

/// Elements and nodes of a table, at most.
const MAX_ARRAY: u64 = 1 << 32;
const MAX_NODE_LOG: u64 = 32;
/// Places without a value that are passed in one table, at most.
const MAX_EMPTY: u64 = 1 << 20;
/// The key of a node: in 5.4 its word and its tag lie apart.
const KEY: u64 = 16;
const KEY_TAG_54: u64 = 9;
/// `LUA_TNUMBER`, with the tag of an integer in 5.3 and in 5.4.
const NUMBER: u8 = 3;
const INTEGER_53: u8 = 0x13;
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
    node_size: u64,
    next: u64,
    empty: u64,
    /// Whether it ended since too many places had no value.
    pub gave_up: bool,
}

/// The layout of the table at an address: that of its version, or the one that redis makes of it. `None` where neither can
/// be true: the last free node of a table is one of its nodes, or stands right before or behind them.
pub fn layout_of(memory: &Memory<'_>, table: Addr) -> Option<&'static TableLayout> {
    let usual = &memory.layout.table;
    let of_redis = (memory.layout.series == Series::V51).then_some(&REDIS_TABLE);
    [Some(usual), of_redis]
        .into_iter()
        .flatten()
        .find(|layout| fits(memory, table, layout) == Some(true))
}

/// Bytes of a table without its elements.
pub fn bytes_of(memory: &Memory<'_>, table: Addr) -> Option<u64> {
    layout_of(memory, table).map(|layout| layout.size)
}

fn fits(memory: &Memory<'_>, table: Addr, layout: &TableLayout) -> Option<bool> {
    let log = memory.uint(table, layout.node_log, 1).filter(|log| *log <= MAX_NODE_LOG)?;
    let bytes = 1_u64.checked_shl(u32::try_from(log).ok()?)?.checked_mul(layout.node_size)?;
    let nodes = memory.word(table, layout.nodes)?;
    let free = memory.word(table, layout.nodes.checked_add(8)?)?;
    let is_within = nodes.checked_sub(layout.node_size).is_some_and(|first| first <= free)
        && nodes.checked_add(bytes).is_some_and(|end| free <= end);
    // From 5.3 on a table without nodes of its own has no last free one.
    Some(is_within || (free == 0 && memory.layout.series >= Series::V53))
}

impl<'a> Entries<'a> {
    /// Those of the table at an address.
    pub fn of(memory: &'a Memory<'a>, table: Addr) -> Option<Self> {
        let layout = layout_of(memory, table)?;
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
            node_size: layout.node_size,
            next: 0,
            empty: 0,
            gave_up: false,
        })
    }

    /// Bytes of the array and of the nodes; nodes in `module` are those that empty tables share.
    pub fn bytes(&self, module: AddrRange) -> Option<u64> {
        let is_own = |at: &Addr| !module.contains(*at);
        let nodes = self.nodes.filter(is_own).map_or(0, |_| self.node_count);
        self.array_size.checked_mul(VALUE)?.checked_add(nodes.checked_mul(self.node_size)?)
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
        let at = self.nodes?.checked_add(index.checked_mul(self.node_size)?)?;
        let value = self.memory.value(at)?;
        let key = match self.memory.layout.series {
            Series::V54 => Value {
                tag: self.memory.byte(at, KEY_TAG_54)? & 0x3f,
                word: self.memory.word(at, KEY)?,
            },
            _ => self.memory.value(at.checked_add(KEY)?)?,
        };
        // A key that died has no value.
        Some((key, value))
    }
}

impl Iterator for Entries<'_> {
    type Item = (Value, Value);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some((key, value)) = self.look() {
            if value.kind() != 0 {
                return Some((key, value));
            }
            self.empty = self.empty.saturating_add(1);
            if self.empty >= MAX_EMPTY {
                self.gave_up = true;
                return None;
            }
        }
        None
    }
}

impl Entries<'_> {
    /// The next place, whether or not it has a value; of an array that cannot be read the rest is left out.
    fn look(&mut self) -> Option<(Value, Value)> {
        let element = (self.next < self.array_size).then(|| self.element(self.next));
        if let Some(Some(element)) = element {
            self.next = self.next.checked_add(1)?;
            return Some(element);
        }
        self.next = self.next.max(self.array_size);
        let node = self.next.checked_sub(self.array_size).filter(|node| *node < self.node_count)?;
        self.next = self.next.checked_add(1)?;
        self.node(node)
    }
}

/// A small number as 5.1 and 5.2 have all numbers.
#[allow(clippy::cast_precision_loss)]
const fn f64_of(number: u64) -> f64 {
    number as f64
}
