//! `jmp_buf` of x86-64: the same eight words in glibc (`sysdeps/x86_64/jmpbuf-offsets.h`) and musl
//! (`arch/x86_64/bits/setjmp.h`).

use crate::jump_buffer::{GuardPlace, JumpLayout};

/// The layout. glibc adds the guard by `xor` and turns the result left by 17 bits
/// (`PTR_MANGLE` in `sysdeps/unix/sysv/linux/x86_64/pointer_guard.h`).
pub const JUMP: JumpLayout = JumpLayout {
    slots: &[
        ("rbx", 0, false),
        ("rbp", 1, true),
        ("r12", 2, false),
        ("r13", 3, false),
        ("r14", 4, false),
        ("r15", 5, false),
        ("rsp", 6, true),
        ("rip", 7, true),
    ],
    pc: "rip",
    guard: GuardPlace::Thread(0x30),
    reveal: |value, guard| value.rotate_right(17) ^ guard,
};
