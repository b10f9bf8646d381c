//! What an instruction leaves in a general register. It is read from the text of its operands: capstone's numbers are
//! not to be trusted for every instruction, see [`operands`](super::operands).

use capstone::{Capstone, Insn};

use crate::register_write::RegisterWrite;

/// Beginnings of names that write to none of the registers that they name outside brackets.
const READERS: [&str; 14] =
    ["st", "cmp", "cmn", "tst", "ccmp", "ccmn", "b", "cb", "tb", "ret", "prf", "msr", "svc", "nop"];
/// Beginnings of names that may write to all of them.
const MANY: [&str; 13] = [
    "ldp", "ldnp", "ldxp", "ldaxp", "ldadd", "ldclr", "ldeor", "ldset", "ldsmax", "ldsmin",
    "ldumax", "swp", "cas",
];
/// The last of the registers that a function need not preserve, but for the link register: AAPCS64, section 6.1.1.
const LAST_LEFT_BY_CALLS: u8 = 18;

/// What the instruction leaves in a register, given by its name in 64 bits.
pub fn write_to(_: &Capstone, decoded: &Insn<'_>, register: &str) -> Option<RegisterWrite> {
    let mnemonic = decoded.mnemonic()?;
    let text = decoded.op_str().unwrap_or_default();
    if matches!(mnemonic, "bl" | "blr") || mnemonic.starts_with("blra") {
        return is_left_by_calls(register).then_some(RegisterWrite::Other);
    }
    let (outside, address) = text.split_once('[').unwrap_or((text, ""));
    let named: Vec<&str> = outside.split(", ").filter(|name| !name.is_empty()).collect();
    let moves_base = address.contains("]!") || address.contains("],");
    let base = address.split([',', ']']).next().unwrap_or_default();
    if moves_base && wide(base) == register {
        return Some(RegisterWrite::Other);
    }
    let mut written = written(mnemonic, &named).iter();
    written.any(|name| wide(name) == register).then(|| {
        let what = what(mnemonic, &named, address).filter(|_| !moves_base);
        what.unwrap_or(RegisterWrite::Other)
    })
}

fn written<'a>(mnemonic: &str, named: &'a [&'a str]) -> &'a [&'a str] {
    let begins = |names: &[&str]| names.iter().any(|name| mnemonic.starts_with(name));
    // A store that tells whether it was exclusive writes its first register.
    let is_exclusive = mnemonic.starts_with("stx") || mnemonic.starts_with("stlx");
    let is_bits = mnemonic.starts_with("bf") || mnemonic.starts_with("bic");
    if begins(&MANY) {
        named
    } else if begins(&READERS) && !is_exclusive && !is_bits {
        &[]
    } else {
        named.get(..1).unwrap_or_default()
    }
}

/// What a register holds after a move or a load of a whole word; `None` of other instructions.
fn what(mnemonic: &str, named: &[&str], address: &str) -> Option<RegisterWrite> {
    match (mnemonic, named) {
        ("mov", [_, from]) if is_whole(from) => Some(RegisterWrite::Copied(wide(from))),
        ("ldr" | "ldur", [to]) if is_whole(to) => loaded(address),
        _ => None,
    }
}

/// The address of a load: `x1]` or `x1, #0x10]`.
fn loaded(address: &str) -> Option<RegisterWrite> {
    let (base, displacement) = match address.strip_suffix(']')?.split_once(", #") {
        Some((base, number)) => (base, number_of(number)?),
        None => (address.strip_suffix(']')?, 0),
    };
    is_whole(base).then(|| RegisterWrite::Loaded { base: wide(base), displacement })
}

fn number_of(text: &str) -> Option<i64> {
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let number = match digits.strip_prefix("0x") {
        Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if is_negative { number.saturating_neg() } else { number })
}

fn is_left_by_calls(register: &str) -> bool {
    let number = register.strip_prefix('x').and_then(|number| number.parse::<u8>().ok());
    number.is_some_and(|number| number <= LAST_LEFT_BY_CALLS || number == 30)
}

fn is_whole(name: &str) -> bool {
    matches!(name, "sp" | "fp" | "lr") || number(name, 'x').is_some()
}

fn number(name: &str, width: char) -> Option<u8> {
    name.strip_prefix(width)?.parse().ok()
}

/// gdb's name of the 64-bit register that one is a part of.
fn wide(name: &str) -> String {
    match (name, number(name, 'w')) {
        ("fp", _) => "x29".to_owned(),
        ("lr", _) => "x30".to_owned(),
        ("wsp", _) => "sp".to_owned(),
        (_, Some(number)) => format!("x{number}"),
        (name, None) => name.to_owned(),
    }
}
