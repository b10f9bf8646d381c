//! Where thread-local storage lies on machines of variant I (ELF Handling For Thread-Local Storage): the thread's
//! structure below the thread pointer, the blocks of modules above it.

use kcore_mem::{Addr, Svma};

use super::TlsLayout;

/// The layout where the executable's block begins `RESERVED` bytes from the thread pointer, but for its alignment:
/// above it where words of the C library come first, below it where the pointer is moved to reach more with short
/// displacements. `dtv` is the place of the vector of blocks, `beyond` how far above the end of the thread's structure
/// the pointer is.
pub const fn layout<const RESERVED: i64>(dtv: i64, musl_dtv: i64, beyond: u64) -> TlsLayout {
    TlsLayout {
        exe_offset: exe_offset::<RESERVED>,
        static_block: Addr::wrapping_offset,
        glibc_dtv: dtv,
        musl_dtv,
        thread_is_below_pointer: true,
        beyond_structure: beyond,
        errno_offset: |_| None,
    }
}

fn exe_offset<const RESERVED: i64>(start: Svma, _size: u64, align: u64) -> i64 {
    let mask = align.wrapping_sub(1);
    let rest = start.get().wrapping_sub(RESERVED.cast_unsigned() & mask) & mask;
    RESERVED.wrapping_add(rest.cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_of_the_executable_begins_behind_what_is_reserved_but_for_its_alignment() {
        assert_eq!(exe_offset::<0>(Svma::new(0x1fd90), 0x18, 8), 0);
        assert_eq!(exe_offset::<8>(Svma::new(0x1fd90), 0x18, 8), 8);
        assert_eq!(exe_offset::<8>(Svma::new(0x1fd80), 0x18, 64), 64);
        assert_eq!(exe_offset::<-0x7000>(Svma::new(0x1fd80), 0x18, 64), -0x7000);
    }
}
