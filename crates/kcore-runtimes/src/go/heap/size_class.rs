//! The sizes in which the heap has slots (`runtime/sizeclasses.go`), the same from Go 1.18 to 1.27.

/// Sizes by their numbers; number 0 is that of spans with one large object.
const SIZES: [u16; 68] = [
    0, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320,
    352, 384, 416, 448, 480, 512, 576, 640, 704, 768, 896, 1024, 1152, 1280, 1408, 1536, 1792,
    2048, 2304, 2688, 3072, 3200, 3456, 4096, 4864, 5376, 6144, 6528, 6784, 6912, 8192, 9472, 9728,
    10240, 10880, 12288, 13568, 14336, 16384, 18432, 19072, 20480, 21760, 24576, 27264, 28672,
    32768,
];
/// Bytes of a page of the heap.
pub const PAGE: u64 = 8192;

/// The largest size that has slots smaller than those of this size: an object that is no larger is in one of those.
pub fn below(slot: u64) -> u64 {
    let sizes = SIZES.map(u64::from);
    match sizes.last().is_some_and(|largest| slot > *largest) {
        true => slot.saturating_sub(PAGE),
        false => sizes.into_iter().rev().find(|size| *size < slot).unwrap_or_default(),
    }
}

/// Whether slots of this size are those of the class.
pub fn is_of_class(slot: u64, class: u8) -> bool {
    match class {
        0 => slot > 0 && slot.is_multiple_of(PAGE),
        _ => SIZES.get(usize::from(class)).is_some_and(|size| u64::from(*size) == slot),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_in_the_smallest_slot_that_holds_it() {
        assert_eq!([8, 16, 48, 576, 32_768].map(below), [0, 8, 32, 512, 28_672]);
        assert_eq!(below(5 * PAGE), 4 * PAGE, "large objects take whole pages");
    }

    #[test]
    fn a_class_has_one_size() {
        assert!(is_of_class(48, 5) && is_of_class(32_768, 67) && is_of_class(5 * PAGE, 0));
        assert!(!is_of_class(48, 6) && !is_of_class(8, 68) && !is_of_class(0, 0));
    }
}
