//! Arguments of templates in mangled names of D.

use super::{cursor::Cursor, mangled, path, types};

/// An argument: a type, a value, a symbol, or a name of another language.
pub fn argument(cursor: &mut Cursor<'_>) -> Option<String> {
    match cursor.next()? {
        b'T' => types::any(cursor),
        b'V' => typed(cursor),
        b'S' => symbol(cursor),
        b'X' => {
            let len = cursor.number()?;
            Some(cursor.part(len)?.rest().to_owned())
        }
        _ => None,
    }
}

/// A value with its type before it.
fn typed(cursor: &mut Cursor<'_>) -> Option<String> {
    let mut ahead = cursor.clone();
    if ahead.peek() == Some(b'Q') {
        ahead = ahead.back_reference()?;
    }
    let kind = ahead.peek()?;
    let name = types::any(cursor)?;
    value(cursor, kind, &name)
}

fn value(cursor: &mut Cursor<'_>, kind: u8, name: &str) -> Option<String> {
    let shown = cursor.deeper(|cursor| match cursor.peek()? {
        b'n' => cursor.next().map(|_| "null".to_owned()),
        b'N' => {
            cursor.next()?;
            Some(format!("-{}", integer(cursor, kind)?))
        }
        b'i' => {
            cursor.next()?;
            integer(cursor, kind)
        }
        b'0'..=b'9' => integer(cursor, kind),
        b'a' | b'w' | b'd' => string(cursor),
        b'A' => array(cursor, kind),
        b'S' => structure(cursor, name),
        b'f' => {
            cursor.next()?;
            mangled(cursor)
        }
        _ => None,
    })?;
    cursor.bound(&shown)?;
    Some(shown)
}

fn integer(cursor: &mut Cursor<'_>, kind: u8) -> Option<String> {
    let len = cursor.rest().bytes().take_while(u8::is_ascii_digit).count();
    let digits = cursor.rest().get(..len).filter(|digits| !digits.is_empty())?;
    cursor.word(digits)?;
    Some(match kind {
        b'b' => digits.bytes().any(|digit| digit != b'0').to_string(),
        b'a' | b'u' | b'w' => return character(digits.parse().ok()?, kind),
        b'h' | b't' | b'k' => format!("{digits}u"),
        b'l' => format!("{digits}L"),
        b'm' => format!("{digits}uL"),
        _ => digits.to_owned(),
    })
}

fn character(code: u32, kind: u8) -> Option<String> {
    let graphic =
        char::from_u32(code).filter(|letter| (' '..='~').contains(letter) && kind == b'a');
    Some(match (graphic, kind) {
        (Some(letter), _) => format!("'{letter}'"),
        (None, b'a') => format!("'\\x{code:02x}'"),
        (None, b'u') => format!("'\\u{code:04x}'"),
        (None, _) => format!("'\\U{code:08x}'"),
    })
}

/// A string: its length, and two hexadecimal digits for each byte.
fn string(cursor: &mut Cursor<'_>) -> Option<String> {
    let kind = cursor.next()?;
    let len = cursor.number()?;
    cursor.take(b'_')?;
    let mut out = String::from("\"");
    for _ in 0..len {
        let digits = cursor.rest().get(..2)?;
        let byte = u8::from_str_radix(digits, 16).ok()?;
        cursor.word(digits)?;
        match byte {
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            0x0c => out.push_str("\\f"),
            0x0b => out.push_str("\\v"),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\x{digits}")),
        }
    }
    out.push('"');
    if kind != b'a' {
        out.push(char::from(kind));
    }
    Some(out)
}

fn array(cursor: &mut Cursor<'_>, kind: u8) -> Option<String> {
    cursor.next()?;
    let count = cursor.number()?;
    let mut shown = Vec::new();
    for _ in 0..count {
        let first = value(cursor, 0, "")?;
        shown.push(match kind {
            b'H' => format!("{first}:{}", value(cursor, 0, "")?),
            _ => first,
        });
    }
    Some(format!("[{}]", shown.join(", ")))
}

fn structure(cursor: &mut Cursor<'_>, name: &str) -> Option<String> {
    cursor.next()?;
    let count = cursor.number()?;
    let mut shown = Vec::new();
    for _ in 0..count {
        shown.push(value(cursor, 0, "")?);
    }
    Some(format!("{name}({})", shown.join(", ")))
}

/// A symbol. Before back references came, its length stood before it, right behind which that of its own name
/// begins: where one number ends, only what fits tells.
fn symbol(cursor: &mut Cursor<'_>) -> Option<String> {
    if cursor.begins("_D") {
        return mangled(cursor);
    }
    if cursor.peek() == Some(b'Q') {
        return path(cursor, false);
    }
    let digits = cursor.rest().bytes().take_while(u8::is_ascii_digit).count();
    let measured = (1..=digits).rev().find_map(|end| cursor.deeper(|it| measured_symbol(it, end)));
    measured.or_else(|| path(cursor, false))
}

/// A symbol behind its length, a number of `digits`.
fn measured_symbol(cursor: &mut Cursor<'_>, digits: usize) -> Option<String> {
    let mut ahead = cursor.clone();
    let len = ahead.part(digits)?.number()?;
    let mut part = ahead.part(len)?;
    let found = match part.begins("_D") {
        true => mangled(&mut part),
        false => path(&mut part, false),
    };
    let found = found.filter(|_| part.is_at_end())?;
    cursor.go_on_from(&ahead);
    Some(found)
}
