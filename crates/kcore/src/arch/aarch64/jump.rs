//! `jmp_buf` of aarch64 in glibc (`sysdeps/aarch64/jmpbuf-offsets.h`) and musl
//! (`src/setjmp/aarch64/setjmp.s`).

use crate::jump_buffer::{GuardPlace, JumpLayout};

/// The layout. glibc adds the guard by `xor`.
pub const JUMP: JumpLayout = JumpLayout {
    slots: &[
        ("x19", 0, false),
        ("x20", 1, false),
        ("x21", 2, false),
        ("x22", 3, false),
        ("x23", 4, false),
        ("x24", 5, false),
        ("x25", 6, false),
        ("x26", 7, false),
        ("x27", 8, false),
        ("x28", 9, false),
        ("x29", 10, false),
        ("x30", 11, true),
        ("sp", 13, true),
    ],
    pc: "x30",
    guard: GuardPlace::Symbol("__pointer_chk_guard"),
    reveal: |value, guard| value ^ guard,
};
