//! Machine code that was made of WebAssembly.

use kcore_mem::{Addr, AddrRange};

use super::pointer;
use crate::v8::{Heap, positions::position_in};

/// Words of a `NativeModule` that are looked at.
const MODULE_WORDS: u64 = 160;
/// Levels of a tree, at most.
const MAX_LEVELS: usize = 64;
/// Code that no tree has yet, at most.
const MAX_NEW: u64 = 1 << 12;
/// Bytes of a table of positions, at most.
const MAX_TABLE: u64 = 1 << 20;

/// A `WasmCode`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WasmCode {
    /// The number of its function, counted with those that the module imports.
    pub index: u64,
    instructions: AddrRange,
    /// Its table of source positions.
    positions: AddrRange,
}

/// Where a `WasmCode` holds what: offsets in bytes, and the index among its numbers of 4 bytes that
/// begin with the sizes of instructions, relocations and positions.
struct Layout {
    data: u64,
    numbers: u64,
    index: u64,
}

impl Layout {
    fn of(heap: &Heap<'_>) -> Self {
        match heap.layout.column {
            column if column.is_since(13, 6) => Self { data: 24, numbers: 32, index: 6 },
            column if column.is_since(11, 3) => Self { data: 16, numbers: 24, index: 5 },
            _ => Self { data: 24, numbers: 32, index: 4 },
        }
    }
}

impl WasmCode {
    /// The code of a `NativeModule` that holds an address: in the tree by addresses, or among what is
    /// to come there.
    pub fn at(heap: &Heap<'_>, module: Addr, pc: Addr) -> Option<Self> {
        let heads =
            || (0..MODULE_WORDS).filter_map(|word| module.checked_add(word.saturating_mul(8)));
        let holds = |code: &Self| code.instructions.contains(pc);
        let in_tree = |head| Self::load(heap, module, greatest_until(heap, head, pc)?);
        let in_list =
            |head| new_code(heap, head)?.filter_map(|at| Self::load(heap, module, at)).find(holds);
        let mut found = heads().filter_map(in_tree).filter(holds);
        found.next().or_else(|| heads().find_map(in_list))
    }

    /// The code at an address, if it is that of this module.
    fn load(heap: &Heap<'_>, module: Addr, at: Addr) -> Option<Self> {
        (heap.word(at, 0)? == module.get()).then_some(())?;
        let layout = Layout::of(heap);
        let number =
            |index: u64| heap.uint(at, layout.numbers.checked_add(index.checked_mul(4)?)?, 4);
        let data = Addr::new(heap.word(at, layout.data)?).checked_add(number(1)?)?;
        Some(Self {
            index: number(layout.index)?,
            instructions: AddrRange::with_len(Addr::new(heap.word(at, 8)?), number(0)?),
            positions: AddrRange::with_len(data, number(2)?.min(MAX_TABLE)),
        })
    }

    /// Where in the bytes of its function an instruction comes from.
    pub fn byte_offset(&self, heap: &Heap<'_>, pc: Addr) -> Option<u64> {
        let table = heap.space.read_held(self.positions.start, self.positions.len());
        position_in(heap, &table, pc.offset_from(self.instructions.start)?)?.script_offset()
    }
}

/// The value of the greatest key that is not above `pc`, in the tree of a `std::map`: its head has the
/// root behind a color, which points back; nodes have color, parent, left and right before key and value.
fn greatest_until(heap: &Heap<'_>, head: Addr, pc: Addr) -> Option<Addr> {
    let root = pointer(heap, head, 8)?;
    (heap.word(root, 8)? == head.get()).then_some(())?;
    let (mut node, mut found) = (Some(root), None);
    for _ in 0..MAX_LEVELS {
        let Some(at) = node else { break };
        let is_before = heap.word(at, 32)? <= pc.get();
        if is_before {
            found = Some(at);
        }
        node = pointer(heap, at, if is_before { 24 } else { 16 });
    }
    pointer(heap, found?, 40)
}

/// What a `std::vector` of pointers holds, if a head may be one.
fn new_code<'h>(heap: &'h Heap<'_>, head: Addr) -> Option<impl Iterator<Item = Addr> + 'h> {
    let (start, end) = (pointer(heap, head, 0)?, pointer(heap, head, 8)?);
    let count = end.offset_from(start)?.checked_div(8)?;
    (count <= MAX_NEW).then_some(())?;
    Some((0..count).filter_map(move |index| pointer(heap, start, index.checked_mul(8)?)))
}
