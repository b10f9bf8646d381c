//! Cells as JSON values.

use kcore_dcmd::{Cell, SymbolCell};

use crate::{json_script, json_value};

/// Appends the cell: addresses and hexadecimal numbers as `"0x…"`, what is absent as `null`.
pub(crate) fn push(json: &mut String, cell: &Cell<'_>) {
    match cell {
        Cell::Null => json.push_str("null"),
        Cell::Bool(value) => json.push_str(if *value { "true" } else { "false" }),
        Cell::Num(value) => json.push_str(&value.to_string()),
        Cell::Int(value) => json.push_str(&value.to_string()),
        Cell::Addr(at) => push_hex(json, at.get()),
        Cell::Hex(value) => push_hex(json, *value),
        Cell::Text(text) => push_text(json, text),
        Cell::Symbol(symbol) => push_symbol(json, symbol),
        Cell::List(cells) => push_list(json, cells),
        Cell::Script(cell) => json_script::push(json, &cell.node),
        Cell::Value(cell) => json_value::push(json, Some(&cell.name), &cell.value),
        Cell::Object(cells) => {
            push_object(json, cells.iter().map(|(key, cell)| (*key, cell)));
        }
    }
}

/// Appends a JSON string.
pub(crate) fn push_text(json: &mut String, text: &str) {
    // A string has a JSON form always; the type only says that other values might not.
    json.push_str(&serde_json::to_string(text).unwrap_or_else(|_| "null".to_owned()));
}

/// Appends `"key":value` pairs, separated by commas.
pub(crate) fn push_members<'c, 'a: 'c>(
    json: &mut String,
    members: impl Iterator<Item = (&'static str, &'c Cell<'a>)>,
) {
    for (index, (key, cell)) in members.enumerate() {
        if index > 0 {
            json.push(',');
        }
        push_text(json, key);
        json.push(':');
        push(json, cell);
    }
}

fn push_object<'c, 'a: 'c>(
    json: &mut String,
    members: impl Iterator<Item = (&'static str, &'c Cell<'a>)>,
) {
    json.push('{');
    push_members(json, members);
    json.push('}');
}

fn push_list(json: &mut String, cells: &[Cell<'_>]) {
    json.push('[');
    for (index, cell) in cells.iter().enumerate() {
        if index > 0 {
            json.push(',');
        }
        push(json, cell);
    }
    json.push(']');
}

fn push_hex(json: &mut String, value: u64) {
    json.push_str(&format!("\"{value:#x}\""));
}

fn push_symbol(json: &mut String, symbol: &SymbolCell<'_>) {
    let text = |text: &Option<std::borrow::Cow<'_, str>>| {
        Cell::or_null(text.as_deref().map(ToOwned::to_owned), Cell::text)
    };
    let offset = symbol.name.is_some().then_some(symbol.offset);
    let members = [
        ("address", Cell::Addr(symbol.addr)),
        ("module", text(&symbol.module)),
        ("symbol", text(&symbol.name)),
        ("offset", Cell::or_null(offset, Cell::Hex)),
    ];
    push_object(json, members.iter().map(|(key, cell)| (*key, cell)));
}

#[cfg(test)]
mod tests {
    use kcore::Addr;

    use super::*;

    fn json(cell: &Cell<'_>) -> String {
        let mut json = String::new();
        push(&mut json, cell);
        json
    }

    #[test]
    fn every_cell_has_a_value() {
        assert_eq!(json(&Cell::Null), "null");
        assert_eq!(json(&Cell::Num(u64::MAX)), "18446744073709551615");
        assert_eq!(json(&Cell::Int(-1)), "-1");
        assert_eq!(json(&Cell::Addr(Addr::new(0))), "\"0x0\"");
        assert_eq!(json(&Cell::Hex(0x1e)), "\"0x1e\"");
        assert_eq!(json(&Cell::text("a\"\x1b\n")), "\"a\\\"\\u001b\\n\"");
        let nested = Cell::Object(vec![("a", Cell::List(vec![Cell::Bool(true), Cell::Null]))]);
        assert_eq!(json(&nested), r#"{"a":[true,null]}"#);
    }

    #[test]
    fn a_symbol_keeps_its_parts_apart() {
        let symbol =
            SymbolCell { addr: Addr::new(0x10), module: None, name: Some("f".into()), offset: 2 };
        let expected = r#"{"address":"0x10","module":null,"symbol":"f","offset":"0x2"}"#;
        assert_eq!(json(&Cell::Symbol(symbol)), expected);
    }
}
