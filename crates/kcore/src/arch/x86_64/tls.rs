//! Where thread-local storage lies (ELF Handling For Thread-Local Storage, variant II): blocks of
//! modules below the thread pointer, the structures of the C library above it.

use kcore_mem::Svma;

use crate::arch::TlsLayout;

/// The layout.
pub const TLS: TlsLayout = TlsLayout {
    exe_offset,
    static_block: |pointer, offset| pointer.wrapping_offset(offset.wrapping_neg()),
    // `tcbhead_t` of glibc and `struct pthread` of musl both begin with a pointer to themselves.
    glibc_dtv: 8,
    musl_dtv: 8,
    thread_is_below_pointer: false,
    beyond_structure: 0,
    errno_offset,
};

/// How far below the thread pointer the executable's block begins: its size, and what its
/// alignment adds.
fn exe_offset(start: Svma, size: u64, align: u64) -> i64 {
    let rest = start.get().wrapping_add(size).wrapping_neg() & align.wrapping_sub(1);
    size.wrapping_add(rest).cast_signed()
}

/// `mov %fs:0,%rax; add $N,%rax; ret`: musl's `__errno_location`.
fn errno_offset(code: &[u8]) -> Option<i64> {
    const ENDBR: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    const LOAD: [u8; 9] = [0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0];
    const RET: u8 = 0xc3;
    let code = code.strip_prefix(&ENDBR).unwrap_or(code).strip_prefix(&LOAD)?;
    match *code {
        [0x48, 0x83, 0xc0, offset, RET, ..] => Some(i64::from(offset.cast_signed())),
        [0x48, 0x05, a, b, c, d, RET, ..] => Some(i64::from(i32::from_le_bytes([a, b, c, d]))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_of_the_executable_ends_at_the_thread_pointer_but_for_its_alignment() {
        assert_eq!(exe_offset(Svma::new(0x3d98), 0x18, 8), 0x18);
        assert_eq!(exe_offset(Svma::new(0x3d80), 0x24, 32), 0x40);
        assert_eq!(
            exe_offset(Svma::new(0x3d88), 0x24, 32),
            0x38,
            "the block begins where its image does"
        );
        assert_eq!(exe_offset(Svma::new(0x1000), 4, 1), 4);
    }

    #[test]
    fn code_that_is_not_known_tells_nothing() {
        let load = [0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0];
        let add = [0x48, 0x83, 0xc0, 0x34, 0xc3];
        assert_eq!(errno_offset(&[&load[..], &add].concat()), Some(0x34));
        assert_eq!(errno_offset(&[&load[..], &add[..4]].concat()), None);
        assert_eq!(errno_offset(&add), None);
    }
}
