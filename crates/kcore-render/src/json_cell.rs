//! Cells as JSON values.

use kcore_dcmd::{Cell, SymbolCell};

use crate::json_text::{JsonObject, JsonText, integer};
use crate::{json_script, json_value};

/// Appends the cell: addresses and hexadecimal numbers as `"0x…"`, what is absent as `null`.
pub(crate) fn push(json: &mut JsonText<'_>, cell: &Cell<'_>) {
    match cell {
        Cell::Null => json.raw("null"),
        Cell::Bool(value) => json.raw(if *value { "true" } else { "false" }),
        Cell::Num(value) => json.raw(&integer(*value)),
        Cell::Int(value) => json.raw(&integer(*value)),
        Cell::Addr(at) => json.hex(at.get()),
        Cell::Hex(value) => json.hex(*value),
        Cell::Text(text) => json.string(text),
        Cell::Symbol(symbol) => push_symbol(json, symbol),
        Cell::List(cells) => push_list(json, cells),
        Cell::Script(cell) => json_script::push(json, &cell.node),
        Cell::Value(cell) => json_value::push(json, Some(&cell.name), &cell.value),
        Cell::Object(cells) => {
            push_object(json, cells.iter().map(|(key, cell)| (*key, cell)));
        }
    }
}

/// Appends `"key":value` pairs, separated by commas; the compact form has none of those that are null.
pub(crate) fn push_members<'c, 'a: 'c>(
    json: &mut JsonText<'_>,
    members: impl Iterator<Item = (&'static str, &'c Cell<'a>)>,
) {
    let mut object = JsonObject::new(json);
    for (key, cell) in members {
        match cell {
            Cell::Null => object.null(key),
            cell => push(object.key(key), cell),
        }
    }
}

fn push_object<'c, 'a: 'c>(
    json: &mut JsonText<'_>,
    members: impl Iterator<Item = (&'static str, &'c Cell<'a>)>,
) {
    json.raw("{");
    push_members(json, members);
    json.raw("}");
}

fn push_list(json: &mut JsonText<'_>, cells: &[Cell<'_>]) {
    json.raw("[");
    for (index, cell) in cells.iter().enumerate() {
        if index > 0 {
            json.raw(",");
        }
        push(json, cell);
    }
    json.raw("]");
}

fn push_symbol(json: &mut JsonText<'_>, symbol: &SymbolCell<'_>) {
    let text = |text: &Option<std::borrow::Cow<'_, str>>| {
        Cell::or_null(text.as_deref().map(ToOwned::to_owned), Cell::text)
    };
    let offset = symbol.name.is_some().then_some(symbol.offset);
    let members = [
        ("address", Cell::Addr(symbol.addr)),
        ("module", text(&symbol.module)),
        ("symbol", text(&symbol.name)),
        ("offset", Cell::or_null(offset, Cell::Hex)),
        ("nearest", Cell::Bool(symbol.nearest)),
    ];
    push_object(json, members.iter().map(|(key, cell)| (*key, cell)));
}

#[cfg(test)]
mod tests {
    use kcore::Addr;

    use super::*;
    use crate::JsonForm;

    fn json(cell: &Cell<'_>) -> String {
        in_form(JsonForm::Full, cell)
    }

    fn in_form(form: JsonForm, cell: &Cell<'_>) -> String {
        let mut json = JsonText::new(form);
        push(&mut json, cell);
        json.into_string()
    }

    #[test]
    fn every_cell_has_a_value() {
        assert_eq!(json(&Cell::Null), "null");
        assert_eq!(json(&Cell::Num(u64::MAX)), "\"18446744073709551615\"");
        assert_eq!(json(&Cell::Int(-1)), "-1");
        assert_eq!(json(&Cell::Addr(Addr::new(0))), "\"0x0\"");
        assert_eq!(json(&Cell::Hex(0x1e)), "\"0x1e\"");
        assert_eq!(json(&Cell::text("a\"\x1b\n")), "\"a\\\"\\u001b\\n\"");
        let nested = Cell::Object(vec![("a", Cell::List(vec![Cell::Bool(true), Cell::Null]))]);
        assert_eq!(json(&nested), r#"{"a":[true,null]}"#);
    }

    #[test]
    fn a_symbol_keeps_its_parts_apart() {
        let symbol = SymbolCell {
            addr: Addr::new(0x10),
            module: None,
            name: Some("f".into()),
            offset: 2,
            nearest: true,
        };
        let expected =
            r#"{"address":"0x10","module":null,"symbol":"f","offset":"0x2","nearest":true}"#;
        assert_eq!(json(&Cell::Symbol(symbol.clone())), expected);
        let compact = in_form(JsonForm::Compact, &Cell::Symbol(symbol));
        assert_eq!(compact, r#"{"address":"0x10","symbol":"f","offset":"0x2","nearest":true}"#);
    }

    #[test]
    fn what_is_null_is_left_out_of_objects_and_kept_in_lists() {
        let inner = Cell::Object(vec![("gone", Cell::Null), ("there", Cell::Bool(false))]);
        let list = Cell::List(vec![Cell::Null, inner]);
        let outer = Cell::Object(vec![("first", Cell::Null), ("list", list), ("last", Cell::Null)]);
        let compact = in_form(JsonForm::Compact, &outer);
        assert_eq!(compact, r#"{"list":[null,{"there":false}]}"#);
        let nothing = Cell::Object(vec![("gone", Cell::Null)]);
        assert_eq!(in_form(JsonForm::Compact, &nothing), "{}");
    }
}
