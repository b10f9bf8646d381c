//! Registers of aarch64: the general ones in two columns, then those that show where the thread stands.

use kcore_dcmd::{Cell, Fields};

use super::{Layout, RegsRecord};

/// The layout.
pub const LAYOUT: Layout = Layout { template: TEMPLATE, derived };

const TEMPLATE: &str = "\
%x0  = {x0?0x{x0:0}}{x0^<unknown>         }\t%x15 = {x15?0x{x15:0}}{x15^<unknown>}
%x1  = {x1?0x{x1:0}}{x1^<unknown>         }\t%x16 = {x16?0x{x16:0}}{x16^<unknown>}
%x2  = {x2?0x{x2:0}}{x2^<unknown>         }\t%x17 = {x17?0x{x17:0}}{x17^<unknown>}
%x3  = {x3?0x{x3:0}}{x3^<unknown>         }\t%x18 = {x18?0x{x18:0}}{x18^<unknown>}
%x4  = {x4?0x{x4:0}}{x4^<unknown>         }\t%x19 = {x19?0x{x19:0}}{x19^<unknown>}
%x5  = {x5?0x{x5:0}}{x5^<unknown>         }\t%x20 = {x20?0x{x20:0}}{x20^<unknown>}
%x6  = {x6?0x{x6:0}}{x6^<unknown>         }\t%x21 = {x21?0x{x21:0}}{x21^<unknown>}
%x7  = {x7?0x{x7:0}}{x7^<unknown>         }\t%x22 = {x22?0x{x22:0}}{x22^<unknown>}
%x8  = {x8?0x{x8:0}}{x8^<unknown>         }\t%x23 = {x23?0x{x23:0}}{x23^<unknown>}
%x9  = {x9?0x{x9:0}}{x9^<unknown>         }\t%x24 = {x24?0x{x24:0}}{x24^<unknown>}
%x10 = {x10?0x{x10:0}}{x10^<unknown>         }\t%x25 = {x25?0x{x25:0}}{x25^<unknown>}
%x11 = {x11?0x{x11:0}}{x11^<unknown>         }\t%x26 = {x26?0x{x26:0}}{x26^<unknown>}
%x12 = {x12?0x{x12:0}}{x12^<unknown>         }\t%x27 = {x27?0x{x27:0}}{x27^<unknown>}
%x13 = {x13?0x{x13:0}}{x13^<unknown>         }\t%x28 = {x28?0x{x28:0}}{x28^<unknown>}
%x14 = {x14?0x{x14:0}}{x14^<unknown>         }\t%x29 = {x29?0x{x29:0}}{x29^<unknown>}

%x30 = {x30?0x{x30:0}}{x30^<unknown>}
%pc  = {pc?0x{pc:0}}{pc^<unknown>}{symbol? {symbol}}
%sp  = {sp?0x{sp:0}}{sp^<unknown>}

{flags?%pstate = 0x{flags}
  status=<{flag_words}>

}%tpidr = {tpidr?0x{tpidr:0}}{tpidr^<unknown>}";

/// Cells that only the template shows.
fn derived<'a>(regs: &'a RegsRecord<'_>, out: &mut Fields<'a>) {
    let pstate = regs.value("pstate");
    let padded = pstate.map(|pstate| format!("{pstate:08x}"));
    out.display("flags", Cell::or_null(padded, Cell::text))
        .display("flag_words", Cell::or_null(pstate.map(flag_words), Cell::text));
    if regs.value("tpidr").is_none() {
        out.display("tpidr", Cell::Null);
    }
}

/// The condition flags, those that are set in capitals (Arm ARM, C5.2, NZCV).
fn flag_words(pstate: u64) -> String {
    const STATUS: [(u32, &str); 4] = [(31, "n"), (30, "z"), (29, "c"), (28, "v")];
    let words = STATUS.map(|(bit, word)| match pstate & (1 << bit) != 0 {
        true => word.to_uppercase(),
        false => word.to_owned(),
    });
    words.join(",")
}
