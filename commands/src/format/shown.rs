//! A number as its letter shows it: the value, its text, and its columns.

use kcore::Addr;
use kcore_dcmd::{c_exponential, civil_time};

use super::letters::{Action, Style};
use super::number;
use super::value::Datum;
use crate::names::Names;

/// Columns of a symbol, of bits, of 16 digits, of a time.
const SYMBOL_WIDTH: usize = 19;
const BINARY_WIDTH: usize = 64;
const WORD_WIDTH: usize = 16;
const TIME_WIDTH: usize = 24;

/// A number as its letter shows it.
pub struct FormattedNumber {
    /// The value.
    pub datum: Datum,
    /// How it is written.
    pub text: String,
    /// In how many columns, at least.
    pub width: usize,
}

impl FormattedNumber {
    /// The `size` bytes of `value` as `action` shows them.
    pub fn new(names: &Names<'_>, action: Action, value: u64, size: usize) -> Self {
        match action {
            Action::Integer(style, width) => integer(style, width, value, size, names.radix()),
            Action::Binary => bits(value, format!("{value:b}"), BINARY_WIDTH),
            Action::Jazzed => {
                Self { datum: Datum::Hex(value), text: number::jazzed(value).join("\n"), width: 0 }
            }
            Action::Symbol => {
                let text = names.spelled_or_address(Addr::new(value));
                Self { datum: Datum::Hex(value), text, width: SYMBOL_WIDTH }
            }
            Action::Float(digits) => float(value, size, digits),
            Action::Time => time(number::sign_extended(value, size)),
            _ => bits(value, format!("{value:x}"), WORD_WIDTH),
        }
    }
}

fn integer(style: Style, width: usize, value: u64, size: usize, radix: u32) -> FormattedNumber {
    let value = if style == Style::SwappedHex { number::swapped(value, size) } else { value };
    let datum = match style {
        Style::Signed | Style::SignedOctal | Style::SignedZeroOctal => {
            Datum::Signed(number::sign_extended(value, size))
        }
        Style::Unsigned => Datum::Unsigned(value),
        _ => Datum::Hex(value),
    };
    FormattedNumber { datum, text: number::integer(style, value, size, radix), width }
}

/// Digits that may fill their column, which is then one wider so that the next one does not touch it.
fn bits(value: u64, text: String, width: usize) -> FormattedNumber {
    let width = width.saturating_add(usize::from(text.len() == width));
    FormattedNumber { datum: Datum::Hex(value), text, width }
}

fn float(value: u64, size: usize, digits: usize) -> FormattedNumber {
    let value = match size {
        4 => f64::from(f32::from_bits(u32::try_from(value).unwrap_or_default())),
        _ => f64::from_bits(value),
    };
    let text = c_exponential(value, digits);
    FormattedNumber { datum: Datum::Text(text.clone()), text, width: 0 }
}

fn time(seconds: i64) -> FormattedNumber {
    let text = civil_time(seconds).unwrap_or_else(|| seconds.to_string());
    FormattedNumber { datum: Datum::Signed(seconds), text, width: TIME_WIDTH }
}
