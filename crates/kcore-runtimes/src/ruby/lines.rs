//! Lines of code: `iseq.c` (`get_insn_info_succinct`, `get_insn_info_binary_search`), `vm_backtrace.c` (`calc_pos`).

use kcore_mem::Addr;

use super::{heap::Heap, version::Version};

/// Instructions and entries of one function, at most.
const MAX_SIZE: u64 = 1 << 28;
/// `struct succ_index_table`: positions that its first words rank, nine a word with seven bits each, and bytes of those.
const IMMEDIATE: u64 = 54;
const PER_WORD: u64 = 9;
const BITS: u64 = 7;
const IMMEDIATE_BYTES: u64 = 48;
/// `struct succ_dict_block`: positions and bytes of a block, positions of a part, and where its words begin.
const BLOCK: u64 = 512;
const BLOCK_BYTES: u64 = 80;
const PART: u64 = 64;
const PART_BITS: u64 = 9;
const WORDS: u64 = 16;
/// `iseq_size`, `iseq_encoded`, `location.first_lineno` of the body.
const SIZE: u64 = 4;
const CODE: u64 = 8;
const FIRST_LINE: u64 = 88;

impl Heap<'_> {
    /// The line that a body executes at a pc, which points behind the instruction.
    pub fn line(&self, body: Addr, pc: u64) -> Option<u32> {
        let position = self.position(body, pc)?;
        let info = body.checked_add(self.layout.body.info)?;
        let count = self.uint(info, 16, 4)?;
        let index = match count {
            0 => return None,
            1 => 0,
            _ => self.entry(info, count, position)?,
        };
        (index < count).then_some(())?;
        let entries = self.pointer(info, 0)?;
        line_number(self.uint(entries, index.checked_mul(self.layout.body.info_size)?, 4)?)
    }

    /// The line where a body begins.
    pub fn first_line(&self, body: Addr) -> Option<u32> {
        match self.layout.version >= Version::new(3, 2) {
            true => line_number(self.uint(body, FIRST_LINE, 4)?),
            // A fixnum.
            false => line_number(self.word(body, FIRST_LINE)? >> 1),
        }
    }

    /// The index of the instruction that is executed.
    fn position(&self, body: Addr, pc: u64) -> Option<u64> {
        let code = self.word(body, CODE)?;
        let size = self.uint(body, SIZE, 4)?.min(MAX_SIZE);
        let offset = pc.checked_sub(code).filter(|offset| offset.is_multiple_of(8))?;
        let position = offset.checked_div(8).filter(|position| *position <= size)?;
        Some(position.saturating_sub(1))
    }

    /// The entry that covers a position.
    fn entry(&self, info: Addr, count: u64, position: u64) -> Option<u64> {
        match self.pointer(info, 8) {
            Some(positions) => self.searched(positions, count.min(MAX_SIZE), position),
            None => self.rank(self.pointer(info, 24)?, position)?.checked_sub(1),
        }
    }

    /// The last of sorted positions that is not behind one.
    fn searched(&self, positions: Addr, count: u64, wanted: u64) -> Option<u64> {
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.midpoint(high);
            match self.uint(positions, middle.checked_mul(4)?, 4)? <= wanted {
                true => low = middle.checked_add(1)?,
                false => high = middle,
            }
        }
        low.checked_sub(1)
    }

    /// How many entries begin at a position or before it, by a succinct table.
    fn rank(&self, table: Addr, position: u64) -> Option<u64> {
        let Some(behind) = position.checked_sub(IMMEDIATE) else {
            let word = self.word(table, position.checked_div(PER_WORD)?.checked_mul(8)?)?;
            let shift = position.checked_rem(PER_WORD)?.checked_mul(BITS)?;
            return Some(word >> shift & 0x7f);
        };
        let block =
            behind.checked_div(BLOCK)?.checked_mul(BLOCK_BYTES)?.checked_add(IMMEDIATE_BYTES)?;
        let block = table.checked_add(block)?;
        let within = behind.checked_rem(BLOCK)?;
        let (part, bit) = (within.checked_div(PART)?, within.checked_rem(PART)?);
        let before = match part.checked_sub(1) {
            None => 0,
            Some(earlier) => self.word(block, 8)? >> earlier.checked_mul(PART_BITS)? & 0x1ff,
        };
        let bits = self.word(block, part.checked_mul(8)?.checked_add(WORDS)?)?;
        let bits = bits << PART.checked_sub(1)?.checked_sub(bit)?;
        let rank = self.uint(block, 0, 4)?;
        rank.checked_add(before)?.checked_add(u64::from(bits.count_ones()))
    }
}

fn line_number(number: u64) -> Option<u32> {
    const MAX: u32 = 100_000_000;
    u32::try_from(number).ok().filter(|line| (1..=MAX).contains(line))
}
