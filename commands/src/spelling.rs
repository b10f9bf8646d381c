//! How numbers and symbols are spelled where the text itself is the answer: in the format dcmds and
//! in operands of instructions. Everywhere else the renderer spells typed cells.

use kcore::{Addr, Core};

/// The digits of `value`, without prefix.
pub fn digits(value: u64, radix: u32) -> String {
    match radix {
        16 => format!("{value:x}"),
        8 => format!("{value:o}"),
        2 => format!("{value:b}"),
        10 => value.to_string(),
        _ => other_digits(value, u64::from(radix.clamp(2, 16))),
    }
}

fn other_digits(value: u64, radix: u64) -> String {
    let mut reversed = Vec::new();
    let mut rest = Some(value);
    while let Some(value) = rest {
        let digit = value.checked_rem(radix).and_then(|digit| u32::try_from(digit).ok());
        reversed.push(digit.and_then(|digit| char::from_digit(digit, 16)).unwrap_or('?'));
        rest = value.checked_div(radix).filter(|rest| *rest > 0);
    }
    reversed.into_iter().rev().collect()
}

/// Digits with MDB's prefix, which stands only where the value would read otherwise without it.
pub fn prefixed(value: u64, radix: u32) -> String {
    let prefix = match radix {
        16 if value > 9 => "0x",
        10 if value > 9 => "0t",
        8 if value > 7 => "0o",
        2 if value > 1 => "0i",
        _ => "",
    };
    format!("{prefix}{}", digits(value, radix))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_radix_is_written() {
        for radix in 2..=16 {
            assert_eq!(u64::from_str_radix(&digits(u64::MAX, radix), radix), Ok(u64::MAX));
            assert_eq!(digits(0, radix), "0");
        }
    }

    #[test]
    fn prefixes_stand_where_they_are_needed() {
        assert_eq!([prefixed(9, 16), prefixed(10, 16)], ["9", "0xa"]);
        assert_eq!([prefixed(9, 10), prefixed(10, 10)], ["9", "0t10"]);
        assert_eq!(prefixed(8, 8), "0o10");
    }
}
