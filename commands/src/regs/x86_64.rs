//! Registers of x86-64, as MDB lays them out.

use kcore_dcmd::{Cell, Fields};

use super::{Layout, RegsRecord};

/// The layout.
pub const LAYOUT: Layout = Layout { template: TEMPLATE, derived };

const TEMPLATE: &str = "\
%rax = {rax?0x{rax:0}}{rax^<unknown>         }\t%r8  = {r8?0x{r8:0}}{r8^<unknown>}
%rbx = {rbx?0x{rbx:0}}{rbx^<unknown>         }\t%r9  = {r9?0x{r9:0}}{r9^<unknown>}
%rcx = {rcx?0x{rcx:0}}{rcx^<unknown>         }\t%r10 = {r10?0x{r10:0}}{r10^<unknown>}
%rdx = {rdx?0x{rdx:0}}{rdx^<unknown>         }\t%r11 = {r11?0x{r11:0}}{r11^<unknown>}
%rsi = {rsi?0x{rsi:0}}{rsi^<unknown>         }\t%r12 = {r12?0x{r12:0}}{r12^<unknown>}
%rdi = {rdi?0x{rdi:0}}{rdi^<unknown>         }\t%r13 = {r13?0x{r13:0}}{r13^<unknown>}
                         \t%r14 = {r14?0x{r14:0}}{r14^<unknown>}
                         \t%r15 = {r15?0x{r15:0}}{r15^<unknown>}

{segments?%cs = 0x{cs}\t%fs = 0x{fs}\t%gs = 0x{gs}
%ds = 0x{ds}\t%es = 0x{es}\t%ss = 0x{ss}

}%rip = {rip?0x{rip:0}}{rip^<unknown>}{symbol? {symbol}}
%rbp = {rbp?0x{rbp:0}}{rbp^<unknown>}
%rsp = {rsp?0x{rsp:0}}{rsp^<unknown>}

{flag_bits?%rflags = 0x{flags}
  {flag_bits}
  status=<{flag_words}>

}%gsbase = {gsbase?0x{gsbase:0}}{gsbase^<unknown>}
%fsbase = {fsbase?0x{fsbase:0}}{fsbase^<unknown>}";

/// Cells that only the template shows.
fn derived<'a>(regs: &'a RegsRecord<'_>, out: &mut Fields<'a>) {
    let flags = regs.value("rflags");
    out.display("segments", Cell::Bool(regs.value("cs").is_some()))
        .display("flag_words", Cell::or_null(flags.map(flag_words), Cell::text))
        .display("flag_bits", Cell::or_null(flags.map(flag_bits), Cell::text));
    let padded = |name, digits| {
        let value = regs.value(name).map(|value| format!("{value:0digits$x}"));
        Cell::or_null(value, Cell::text)
    };
    out.display("flags", padded("rflags", 8));
    for name in SEGMENTS {
        out.display(name, padded(name, 4));
    }
}

const SEGMENTS: [&str; 6] = ["cs", "ds", "es", "fs", "gs", "ss"];

/// The flags in MDB's words, those that are set in capitals.
fn flag_words(flags: u64) -> String {
    const STATUS: [(u32, &str); 9] = [
        (11, "of"),
        (10, "df"),
        (9, "if"),
        (8, "tf"),
        (7, "sf"),
        (6, "zf"),
        (4, "af"),
        (2, "pf"),
        (0, "cf"),
    ];
    let words = STATUS.map(|(bit, word)| match is_set(flags, bit) {
        true => word.to_uppercase(),
        false => word.to_owned(),
    });
    words.join(",")
}

fn flag_bits(flags: u64) -> String {
    const SYSTEM: [(u32, &str); 7] =
        [(21, "id"), (20, "vip"), (19, "vif"), (18, "ac"), (17, "vm"), (16, "rf"), (14, "nt")];
    let bits = SYSTEM.map(|(bit, word)| format!("{word}={}", u8::from(is_set(flags, bit))));
    format!("{} iopl={:#x}", bits.join(" "), (flags >> 12) & 3)
}

const fn is_set(flags: u64, bit: u32) -> bool {
    flags & (1 << bit) != 0
}
