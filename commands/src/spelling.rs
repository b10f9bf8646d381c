//! How symbols are spelled where the text itself is the answer: in the format dcmds and
//! in operands of instructions. Everywhere else the renderer spells typed cells.

use kcore::{Addr, Core};
use kcore_dcmd::prefixed;

/// ``module`name+0x1e``, a symbol of the executable without its module; `None` without a symbol.
pub fn symbol(core: &Core, at: Addr, radix: u32) -> Option<String> {
    let symbol = core.symbol_at(at)?;
    let module = if symbol.in_exe { String::new() } else { format!("{}`", symbol.module) };
    let offset = match symbol.offset {
        0 => String::new(),
        offset => format!("+{}", prefixed(offset, radix)),
    };
    Some(format!("{module}{}{offset}", symbol.name))
}

/// The same, and the address in hexadecimal where there is no symbol.
pub fn symbol_or_address(core: &Core, at: Addr, radix: u32) -> String {
    symbol(core, at, radix).unwrap_or_else(|| prefixed(at.get(), 16))
}
