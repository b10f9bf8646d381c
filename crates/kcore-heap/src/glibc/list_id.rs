//! Numbers of glibc's lists: what kind in the upper bits, which one in the lower.

use crate::ListId;

const KIND: u32 = 28;
const BIN_BITS: u32 = 8;

/// A list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListName {
    /// Of a thread's cache, by the number of the cache.
    Tcache(usize, u32),
    /// A fast bin.
    Fast(u32),
    /// A bin by its number: 1 is the unsorted one.
    Bin(u32),
    /// The rest of an arena behind its last chunk.
    Top,
}

/// Bin `bin` of cache `cache`.
pub fn tcache(cache: usize, bin: u64) -> ListId {
    let cache = low(cache as u64) & 0xf_ffff;
    ListId((1 << KIND) | (cache << BIN_BITS) | (low(bin) & 0xff))
}

/// A fast bin.
pub fn fastbin(index: u64) -> ListId {
    ListId((2 << KIND) | (low(index) & 0xff))
}

/// A bin.
pub fn bin(index: u64) -> ListId {
    ListId((3 << KIND) | (low(index) & 0xff))
}

/// `top`.
pub const TOP: ListId = ListId(4 << KIND);

/// No list: the structure of a thread's cache itself.
pub const STRUCTURE: ListId = ListId(5 << KIND);

/// What a number stands for.
pub const fn name_of(list: ListId) -> Option<ListName> {
    let low = list.0 & 0xff;
    match list.0 >> KIND {
        1 => Some(ListName::Tcache(((list.0 >> BIN_BITS) & 0xf_ffff) as usize, low)),
        2 => Some(ListName::Fast(low)),
        3 => Some(ListName::Bin(low)),
        4 => Some(ListName::Top),
        _ => None,
    }
}

fn low(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_as_it_was_made() {
        assert_eq!(name_of(tcache(0x12345, 63)), Some(ListName::Tcache(0x12345, 63)));
        assert_eq!(name_of(fastbin(9)), Some(ListName::Fast(9)));
        assert_eq!(name_of(bin(126)), Some(ListName::Bin(126)));
        assert_eq!((name_of(TOP), name_of(ListId(0))), (Some(ListName::Top), None));
    }
}
