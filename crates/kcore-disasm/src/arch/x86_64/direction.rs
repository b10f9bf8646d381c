//! Which way an x86-64 memory operand goes.
//!
//! capstone's access flags are right where they say «write», but call many stores reads (seen with
//! 5.0: `movups %xmm0,(%rbx)`, `fstpl (%rbx)`, `vmovdqu %ymm0,(%rbx)`, `rep stosq`). The form of
//! the instruction decides then: in AT&T syntax the last operand is the one that changes.

use capstone::AccessType;

use kcore_mem::AccessKind;

/// Beginnings of names that read even their last operand.
const READERS: [&str; 8] = ["cmps", "scas", "lods", "test", "push", "vptest", "vtest", "ptest"];
/// Beginnings of names with a single operand that is read.
const SINGLE_WRITERS: [&str; 12] = [
    "fst", "fist", "fnst", "fsave", "fnsave", "fbstp", "stmxcsr", "vstmxcsr", "xsave", "fxsave",
    "sgdt", "sidt",
];
/// Beginnings of names that write their last operand without reading it.
const STORES: [&str; 15] = [
    "mov",
    "vmov",
    "pextr",
    "vpextr",
    "vextract",
    "extract",
    "kmov",
    "vpmaskmov",
    "vmaskmov",
    "vcvtps2ph",
    "vcompress",
    "vpcompress",
    "vpmov",
    "stos",
    "ins",
];

/// Where a memory operand stands.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// Whether it is the last operand.
    pub last: bool,
    /// Whether it is the only one.
    pub only: bool,
}

/// What an instruction does to a memory operand. `mnemonic` may begin with prefixes.
pub fn direction(mnemonic: &str, flags: Option<AccessType>, position: Position) -> AccessKind {
    let name = mnemonic.rsplit(' ').next().unwrap_or_default();
    let begins = |names: &[&str]| names.iter().any(|one| name.starts_with(one));
    match flags {
        _ if mnemonic.starts_with("lock ")
            || begins(&["cmpxchg", "xadd", "xchg"])
            || is_shift(name) =>
        {
            AccessKind::ReadWrite
        }
        Some(AccessType::WriteOnly) => AccessKind::Write,
        Some(AccessType::ReadWrite) => AccessKind::ReadWrite,
        _ if begins(&["stos"]) => AccessKind::Write,
        _ if position.only && begins(&SINGLE_WRITERS) => AccessKind::Write,
        _ if position.only || !position.last || reads_last(name) || begins(&READERS) => {
            AccessKind::Read
        }
        _ if begins(&STORES) => AccessKind::Write,
        _ => AccessKind::ReadWrite,
    }
}

/// `cmpq` and `btq` read, `cmpxchg` and `btsq` do more.
fn reads_last(name: &str) -> bool {
    matches!(name, "cmpb" | "cmpw" | "cmpl" | "cmpq" | "btw" | "btl" | "btq")
}

/// A shift by `%cl`, whose operands capstone lists the other way round.
fn is_shift(name: &str) -> bool {
    const SHIFTS: [&str; 10] =
        ["sar", "shl", "shr", "sal", "rol", "ror", "rcl", "rcr", "shld", "shrd"];
    let bare = name.strip_suffix(['b', 'w', 'l', 'q']);
    bare.is_some_and(|bare| SHIFTS.contains(&bare))
}
