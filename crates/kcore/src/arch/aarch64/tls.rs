//! Where thread-local storage lies (ELF for the Arm 64-bit Architecture, variant I): two words that
//! belong to the C library at the thread pointer, blocks of modules above them, and the thread's
//! structure below.

use kcore_mem::{Addr, Svma};

use crate::arch::TlsLayout;

/// The layout.
pub const TLS: TlsLayout = TlsLayout {
    exe_offset,
    static_block: Addr::wrapping_offset,
    // glibc's `tcbhead_t` begins with it; musl has it as the last word of `struct pthread`.
    glibc_dtv: 0,
    musl_dtv: -8,
    thread_is_below_pointer: true,
    beyond_structure: 0,
    errno_offset,
};

/// Bytes at the thread pointer that belong to the C library.
const RESERVED: u64 = 16;

/// How far above the thread pointer the executable's block begins.
fn exe_offset(start: Svma, _size: u64, align: u64) -> i64 {
    let rest = start.get().wrapping_sub(RESERVED) & align.wrapping_sub(1);
    RESERVED.wrapping_add(rest).cast_signed()
}

/// `mrs x0, tpidr_el0; sub x0, x0, #N; ret`: musl's `__errno_location`.
fn errno_offset(code: &[u8]) -> Option<i64> {
    const BTI: u32 = 0xd503_245f;
    const LOAD: u32 = 0xd53b_d040;
    const SUBTRACT: u32 = 0xd100_0000;
    const RET: u32 = 0xd65f_03c0;
    let words = code.chunks_exact(4).filter_map(|word| word.first_chunk());
    let mut words = words.map(|word| u32::from_le_bytes(*word)).skip_while(|word| *word == BTI);
    let (load, subtract, ret) = (words.next()?, words.next()?, words.next()?);
    let immediate = (subtract >> 10) & 0xfff;
    let is_known = load == LOAD && subtract & !(0xfff << 10) == SUBTRACT && ret == RET;
    is_known.then(|| i64::from(immediate).wrapping_neg())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_of_the_executable_begins_behind_two_words_but_for_its_alignment() {
        assert_eq!(exe_offset(Svma::new(0x1fd90), 0x18, 8), 16);
        assert_eq!(exe_offset(Svma::new(0x1fd80), 0x18, 64), 64);
        assert_eq!(
            exe_offset(Svma::new(0x1fd98), 0x18, 16),
            24,
            "the block begins where its image does"
        );
    }

    #[test]
    fn code_that_is_not_known_tells_nothing() {
        let code = [0xd53b_d040_u32, 0xd102_9000, 0xd65f_03c0].map(u32::to_le_bytes).concat();
        assert_eq!(errno_offset(&code), Some(-0xa4));
        assert_eq!(errno_offset(&code[..8]), None);
        assert_eq!(errno_offset(&code[4..]), None);
    }
}
