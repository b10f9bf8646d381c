//! One cell as text: numbers in their radix, symbols in MDB's spelling, text made safe.

use std::borrow::Cow;

use kcore_dcmd::{Cell, Digits, prefix};

use crate::canvas::Canvas;
use crate::cell_format::CellFormat;
use crate::number::Numbers;
use crate::sanitize;
use crate::script;
use crate::style::Style;
use crate::value;

/// Appends the cell, formatted and padded.
pub(crate) fn push(
    canvas: &mut Canvas<'_>,
    cell: &Cell<'_>,
    format: &CellFormat,
    numbers: Numbers,
) {
    if format.width == 0 && !format.bold {
        match cell {
            Cell::Script(cell) => return script::write(canvas, cell, numbers),
            Cell::Value(cell) => return value::write(canvas, cell, numbers),
            _ => {}
        }
    }
    let text = text(cell, format, numbers);
    let padding = match format.width {
        0 => 0,
        width => width.saturating_sub(text.chars().count()),
    };
    if format.right {
        canvas.blanks(padding);
    }
    match style(cell, format) {
        Some(style) => canvas.push_styled(&text, style),
        None => canvas.push(&text),
    }
    if !format.right {
        canvas.blanks(padding);
    }
    canvas.tab(format.tab);
}

fn style(cell: &Cell<'_>, format: &CellFormat) -> Option<Style> {
    match cell {
        _ if format.bold => Some(Style::Bold),
        Cell::Addr(_) => Some(Style::Address),
        _ => None,
    }
}

/// The cell without padding.
fn text<'c>(cell: &'c Cell<'_>, format: &CellFormat, numbers: Numbers) -> Cow<'c, str> {
    match cell {
        Cell::Null => "".into(),
        Cell::Bool(value) => if *value { "true" } else { "false" }.into(),
        Cell::Num(value) => unsigned(*value, 10, format, numbers).into(),
        Cell::Int(value) => signed(*value, format, numbers).into(),
        Cell::Addr(at) => unsigned(at.get(), numbers.radix, format, numbers).into(),
        Cell::Hex(value) => unsigned(*value, numbers.radix, format, numbers).into(),
        Cell::Text(text) if format.multiline => sanitize::lines(text),
        Cell::Text(text) => sanitize::line(text),
        Cell::Symbol(symbol) => symbol.spelled(numbers.radix, sanitize::line).into(),
        Cell::List(cells) => join(cells.iter().map(|cell| text(cell, format, numbers))).into(),
        Cell::Object(cells) => {
            let named = |(key, cell): &'c (&'static str, Cell<'_>)| {
                Cow::Owned(format!("{key}={}", text(cell, format, numbers)))
            };
            join(cells.iter().map(named)).into()
        }
        Cell::Script(cell) => script::text(cell, numbers).into(),
        Cell::Value(value) => value::text(value, numbers).into(),
    }
}

fn join<'c>(texts: impl Iterator<Item = Cow<'c, str>>) -> String {
    texts.collect::<Vec<_>>().join(", ")
}

fn unsigned(value: u64, natural: u32, format: &CellFormat, numbers: Numbers) -> String {
    let radix = format.radix.unwrap_or(natural);
    let shown = if format.prefix { prefix(value, radix) } else { "" };
    let width = if format.zeros { numbers.address_digits(radix) } else { 0 };
    let digits = Digits::new(value, radix);
    let digits = digits.as_str();
    let mut text = String::with_capacity(shown.len() + width.max(digits.len()));
    text.push_str(shown);
    text.extend(std::iter::repeat_n('0', width.saturating_sub(digits.len())));
    text.push_str(digits);
    text
}

fn signed(value: i64, format: &CellFormat, numbers: Numbers) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}", unsigned(value.unsigned_abs(), 10, format, numbers))
}

/// ``module`name+0x1e``; a symbol of the executable bare; without a symbol the address, always in
/// hexadecimal.
#[cfg(test)]
mod tests {
    use kcore::Addr;
    use kcore_dcmd::SymbolCell;

    use super::*;

    fn symbol_text(symbol: &SymbolCell<'_>, numbers: Numbers) -> String {
        text(&Cell::Symbol(symbol.clone()), &CellFormat::default(), numbers).into_owned()
    }

    const HEX: Numbers = Numbers { radix: 16, word_size: 8 };

    fn shown(cell: &Cell<'_>, spec: &str) -> String {
        let mut canvas = Canvas::new(false);
        push(&mut canvas, cell, &CellFormat::parse(spec), HEX);
        canvas.text().to_owned()
    }

    fn symbol(module: Option<&'static str>, name: Option<&'static str>, offset: u64) -> String {
        let cell = SymbolCell {
            addr: Addr::new(0x601048),
            module: module.map(Into::into),
            name: name.map(Into::into),
            offset,
            nearest: false,
        };
        symbol_text(&cell, HEX)
    }

    #[test]
    fn numbers_have_natural_forms_and_formats() {
        assert_eq!(shown(&Cell::Num(12), ""), "12");
        assert_eq!(shown(&Cell::Num(12), "#x"), "0xc");
        assert_eq!(shown(&Cell::Hex(12), ""), "c");
        assert_eq!(shown(&Cell::Hex(9), "#"), "9");
        assert_eq!(shown(&Cell::Int(-12), ""), "-12");
        assert_eq!(shown(&Cell::Addr(Addr::new(0x1f)), "0"), "000000000000001f");
        assert_eq!(shown(&Cell::Addr(Addr::new(0x1f)), "d>5"), "   31");
        assert_eq!(shown(&Cell::Num(1), "4t16"), "1               ");
    }

    #[test]
    fn symbols_are_spelled_as_mdb_spells_them() {
        assert_eq!(symbol(Some("libc.so.6"), Some("raise"), 0x15), "libc.so.6`raise+0x15");
        assert_eq!(symbol(None, Some("main"), 9), "main+9");
        assert_eq!(symbol(None, Some("main"), 0), "main");
        assert_eq!(symbol(Some("libc.so.6"), None, 0), "0x601048");
    }

    #[test]
    fn offsets_follow_the_radix_and_bare_addresses_do_not() {
        let octal = Numbers { radix: 8, ..HEX };
        let cell = SymbolCell {
            addr: Addr::new(0x10),
            module: None,
            name: Some("f".into()),
            offset: 8,
            nearest: false,
        };
        assert_eq!(symbol_text(&cell, octal), "f+0o10");
        let far = SymbolCell { nearest: true, ..cell.clone() };
        assert_eq!(symbol_text(&far, octal), "f+0o10 [nearest symbol]");
        assert_eq!(symbol_text(&SymbolCell { name: None, ..cell }, octal), "0x10");
    }

    #[test]
    fn names_from_the_core_are_made_safe() {
        let cell = SymbolCell {
            addr: Addr::new(1),
            module: Some("a\x1bb".into()),
            name: Some("c\nd".into()),
            offset: 0,
            nearest: false,
        };
        assert_eq!(symbol_text(&cell, HEX), "a\\x1bb`c\\nd");
        assert_eq!(shown(&Cell::text("a\nb"), ""), "a\\nb");
        assert_eq!(shown(&Cell::text("a\nb"), "m"), "a\nb");
    }

    #[test]
    fn addresses_stand_out_on_terminals_and_their_padding_does_not() {
        let mut canvas = Canvas::new(true);
        let cell = Cell::Addr(Addr::new(0x1f));
        push(&mut canvas, &cell, &CellFormat::parse(">4"), HEX);
        push(&mut canvas, &Cell::Num(1), &CellFormat::default(), HEX);
        assert_eq!(canvas.text(), "  \x1b[36m1f\x1b[0m1");
    }

    #[test]
    fn lists_and_objects_are_joined() {
        let list = Cell::List(vec![Cell::Num(1), Cell::text("b"), Cell::Null]);
        assert_eq!(shown(&list, ""), "1, b, ");
        assert_eq!(
            shown(&Cell::Object(vec![("a", Cell::Num(1)), ("b", list)]), ""),
            "a=1, b=1, b, "
        );
    }
}
