//! Tables that give a value for each pc of a function (`runtime/symtab.go`, `pcvalue` and `step`).
//!
//! A table is a run of pairs: by how much the value changes, zigzag, and for how many quanta of code it holds.

use kcore_mem::{Addr, AddressSpace};

use super::bytes::Bytes;

/// Pairs of one table, at most: the largest functions of generated code have some 100,000.
const MAX_PAIRS: usize = 1 << 20;

/// The value at `target`, bytes from the entry of the function whose table lies at `table`; `quantum` is the
/// length of the shortest instruction. `None` where the table has none for it, or is damaged.
pub fn value_at(space: &dyn AddressSpace, table: Addr, quantum: u64, target: u64) -> Option<i32> {
    let mut bytes = Bytes::new(space, table);
    let (mut value, mut end) = (-1_i32, 0_u64);
    for pair in 0..MAX_PAIRS {
        let change = bytes.varint()?;
        if change == 0 && pair > 0 {
            return None;
        }
        value = value.wrapping_add(zigzag(change));
        let length = u64::from(bytes.varint()?).checked_mul(quantum).filter(|it| *it > 0)?;
        end = end.checked_add(length)?;
        if target < end {
            return Some(value);
        }
    }
    None
}

const fn zigzag(value: u32) -> i32 {
    (value >> 1).cast_signed() ^ (value & 1).cast_signed().wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Host, anchor::made_host::MadeHost};

    fn value(table: &[u8], quantum: u64, target: u64) -> Option<i32> {
        let mut host = MadeHost::new(&[0x1000]);
        host.put(0x3000 - table.len() as u64, table);
        value_at(host.space(), Addr::new(0x3000 - table.len() as u64), quantum, target)
    }

    /// 0 for 4 bytes, 24 for 10, 0 for 1.
    const TABLE: [u8; 7] = [2, 4, 48, 10, 47, 1, 0];

    #[test]
    fn a_value_holds_up_to_the_next_one() {
        let values = [0, 3, 4, 13, 14].map(|target| value(&TABLE, 1, target));
        assert_eq!(values, [Some(0), Some(0), Some(24), Some(24), Some(0)]);
        assert_eq!(value(&TABLE, 4, 15), Some(0), "quanta of four bytes");
    }

    #[test]
    fn behind_the_last_one_there_is_none() {
        assert_eq!(value(&TABLE, 1, 15), None);
    }

    #[test]
    fn damaged_tables_have_none() {
        assert_eq!(value(&[2, 0, 48, 10, 0], 1, 5), None, "a pair that holds for nothing");
        assert_eq!(value(&[2, 4, 48], 1, 5), None, "memory ends");
    }

    #[test]
    fn the_first_change_may_be_none() {
        assert_eq!(value(&[0, 4, 0], 1, 1), Some(-1));
    }
}
