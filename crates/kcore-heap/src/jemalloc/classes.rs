//! Size classes.

/// The smallest size of all builds.
const LG_TINY: u32 = 3;
/// Sizes below this one lie in slabs.
const LARGE: u64 = 16384;
const PAGE: u64 = 4096;
/// Classes of a doubling of the size.
const OF_GROUP: u64 = 4;

/// The sizes of the classes of a build.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Classes {
    /// Binary logarithm of the quantum: 4, and 3 in builds for small strings, such as that of Redis.
    pub(super) lg_quantum: u32,
    sizes: Vec<u64>,
    /// How many of them are of slabs.
    pub(super) small: usize,
    /// Bytes of a large extent beside its block, so that blocks can begin anywhere in a page: a page, or nothing.
    pub(super) pad: u64,
}

impl Classes {
    /// As `sc_data_init` of `sc.c` makes them: powers of two below the quantum, four multiples of it, then four sizes for
    /// each doubling.
    pub(super) fn new(lg_quantum: u32) -> Self {
        let quantum = 1_u64.wrapping_shl(lg_quantum);
        let mut sizes: Vec<u64> = (LG_TINY..lg_quantum).map(|lg| 1_u64.wrapping_shl(lg)).collect();
        sizes.extend((1..=OF_GROUP).map(|times| quantum.wrapping_mul(times)));
        for lg in lg_quantum.saturating_add(2)..62 {
            let base = 1_u64.wrapping_shl(lg);
            sizes.extend(
                (1..=OF_GROUP).map(|part| base.wrapping_add((base / OF_GROUP).wrapping_mul(part))),
            );
        }
        let small = sizes.partition_point(|size| *size < LARGE);
        Self { lg_quantum, sizes, small, pad: PAGE }
    }

    /// The size of a class; `None` where there is no such class.
    pub(super) fn size(&self, class: u8) -> Option<u64> {
        self.sizes.get(usize::from(class)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_the_default_build() {
        let classes = Classes::new(4);
        assert_eq!(&classes.sizes[..10], [8, 16, 32, 48, 64, 80, 96, 112, 128, 160]);
        assert_eq!((classes.small, classes.size(36)), (36, Some(16384)));
    }

    #[test]
    fn classes_are_those_of_a_build_with_a_smaller_quantum() {
        let classes = Classes::new(3);
        assert_eq!(&classes.sizes[..10], [8, 16, 24, 32, 40, 48, 56, 64, 80, 96]);
        assert_eq!((classes.small, classes.size(39)), (39, Some(16384)));
        assert_eq!(classes.size(255), None);
    }
}
