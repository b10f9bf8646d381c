//! How the numbers of a session look.

use kcore_dcmd::Digits;

/// How numbers of a session look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Numbers {
    /// Radix of addresses and offsets, 2 to 16.
    pub radix: u32,
    /// Bytes in an address of the target.
    pub word_size: usize,
}

impl Numbers {
    /// Digits of the widest address in `radix`.
    pub(crate) fn address_digits(self, radix: u32) -> usize {
        let widest = match self.word_size {
            0..=4 => u64::from(u32::MAX),
            _ => u64::MAX,
        };
        Digits::new(widest, radix).as_str().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_as_wide_as_the_target() {
        let wide = Numbers { radix: 16, word_size: 8 };
        let narrow = Numbers { radix: 16, word_size: 4 };
        assert_eq!((wide.address_digits(16), narrow.address_digits(16)), (16, 8));
        assert_eq!(wide.address_digits(10), 20);
    }
}
