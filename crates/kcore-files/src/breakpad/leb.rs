//! Numbers of DWARF whose length is their own (DWARF 5, 7.6).

use crate::target_bytes::TargetBytes;

/// Adds an unsigned number.
pub fn unsigned(bytes: &mut TargetBytes, mut value: u64) {
    loop {
        let [first, ..] = value.to_le_bytes();
        let low = first & 0x7f;
        value >>= 7;
        if value == 0 {
            bytes.raw(&[low]);
            return;
        }
        bytes.raw(&[low | 0x80]);
    }
}

/// Adds a signed number.
pub fn signed(bytes: &mut TargetBytes, mut value: i64) {
    loop {
        let [first, ..] = value.to_le_bytes();
        let low = first & 0x7f;
        value >>= 7;
        let is_last = (value == 0 && low & 0x40 == 0) || (value == -1 && low & 0x40 != 0);
        bytes.raw(&[if is_last { low } else { low | 0x80 }]);
        if is_last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use kcore_mem::Target;

    use super::*;

    #[test]
    fn numbers_are_as_the_standard_has_them() {
        let both = |value: i64| {
            let [mut one, mut two] =
                [TargetBytes::new(Target::X86_64), TargetBytes::new(Target::X86_64)];
            unsigned(&mut one, value.unsigned_abs());
            signed(&mut two, value);
            (one.finish(), two.finish())
        };
        assert_eq!(both(2), (vec![2], vec![2]));
        assert_eq!(both(128), (vec![0x80, 1], vec![0x80, 1]));
        assert_eq!(both(-127).1, [0x81, 0x7f]);
        assert_eq!(both(-129).1, [0xff, 0x7e]);
    }
}
