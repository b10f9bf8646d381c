//! The exception table of a function since 3.11: `Objects/exception_handling_notes.txt`, `Python/ceval.c`
//! (`get_exception_handler`).
//!
//! Each entry has four numbers: the first instruction, how many, the handler, and twice the depth of the stack with a flag.
//! Instructions are of two bytes. A number is of groups of six bits, the highest first; bit 6 says that another one follows,
//! and bit 7 that an entry begins.

const BEGINS: u8 = 0x80;
const GOES_ON: u8 = 0x40;
const BITS: u8 = 0x3f;

/// How many values the stack has for sure at an instruction, by the entry that holds it; `None` if none does.
pub fn depth_at(table: &[u8], instruction: u64) -> Option<u64> {
    let mut rest = table;
    while !rest.is_empty() {
        let [start, count, _handler, depth] = entry(&mut rest)?;
        if instruction < start {
            return None;
        }
        if instruction < start.checked_add(count)? {
            return Some(depth >> 1);
        }
    }
    None
}

fn entry(rest: &mut &[u8]) -> Option<[u64; 4]> {
    (rest.first()? & BEGINS != 0).then_some(())?;
    let mut numbers = [0; 4];
    for value in &mut numbers {
        *value = number(rest)?;
    }
    Some(numbers)
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    loop {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        value = value.checked_mul(64)?.checked_add(u64::from(byte & BITS))?;
        if byte & GOES_ON == 0 {
            return Some(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_that_holds_an_instruction_tells_the_depth() {
        // 3 to 8 with depth 2 and the flag, 80 to 90 with depth 1.
        let table = [0x80 | 3, 5, 20, 2 << 1 | 1, 0x80 | 0x40 | 1, 16, 10, 0x40 | 1, 30, 2];
        let depths = [2, 3, 7, 8, 79, 80, 89, 90].map(|at| depth_at(&table, at));
        assert_eq!(depths, [None, Some(2), Some(2), None, None, Some(1), Some(1), None]);
    }

    #[test]
    fn a_table_that_is_none_tells_nothing() {
        assert_eq!(depth_at(&[], 0), None);
        assert_eq!(depth_at(&[3, 5, 20, 4], 3), None, "no entry begins");
        assert_eq!(depth_at(&[0x83, 5, 20], 3), None, "it is cut");
        assert_eq!(depth_at(&[0xff; 40], 3), None, "a number is too large");
    }
}
