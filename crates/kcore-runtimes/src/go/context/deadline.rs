//! Instants as `time.Time` has them (`time/time.go`).

use kcore_mem::{Addr, AddressSpace};

/// The bit of `wall` that says that `ext` is of the monotonic clock, and where the seconds since 1885 begin.
const HAS_MONOTONIC: u64 = 1 << 63;
const SECONDS: u32 = 30;
const SECONDS_MASK: u64 = (1 << 33) - 1;
const NANOSECONDS_MASK: u64 = (1 << SECONDS) - 1;
/// Seconds from 1885, and from the year 1, to 1970.
const FROM_1885: i64 = 2_682_288_000;
const FROM_YEAR_1: i64 = 62_135_596_800;
const NANOSECONDS: i64 = 1_000_000_000;

/// The `time.Time` at an address, in nanoseconds since 1970; `None` where it cannot be read, or lies centuries away.
pub fn read(space: &dyn AddressSpace, at: Addr) -> Option<i64> {
    let (wall, ext) = (space.read_word(at).ok()?, space.read_word(at.checked_add(8)?).ok()?);
    of_parts(wall, ext)
}

fn of_parts(wall: u64, ext: u64) -> Option<i64> {
    let seconds = match wall & HAS_MONOTONIC {
        0 => ext.cast_signed().checked_sub(FROM_YEAR_1)?,
        _ => (wall >> SECONDS & SECONDS_MASK).cast_signed().checked_sub(FROM_1885)?,
    };
    let nanoseconds = (wall & NANOSECONDS_MASK).cast_signed();
    seconds.checked_mul(NANOSECONDS)?.checked_add(nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_the_same_instant() {
        // 2026-11-29 00:00:00.000000005 UTC.
        let unix = 1_795_910_400_u64;
        let with_clock = HAS_MONOTONIC | (unix + FROM_1885 as u64) << SECONDS | 5;
        let plain = unix + FROM_YEAR_1 as u64;
        let expected = Some(1_795_910_400_000_000_005);
        assert_eq!((of_parts(with_clock, 77), of_parts(5, plain)), (expected, expected));
    }

    #[test]
    fn what_is_too_far_away_is_none() {
        assert_eq!(of_parts(0, u64::MAX >> 1), None);
        assert_eq!(of_parts(0, 1 << 63), None);
    }
}
