//! Types in mangled names of D.

use super::{cursor::Cursor, path};

/// A type.
pub fn any(cursor: &mut Cursor<'_>) -> Option<String> {
    let shown = cursor.deeper(|cursor| one(cursor))?;
    cursor.bound(&shown)?;
    Some(shown)
}

fn one(cursor: &mut Cursor<'_>) -> Option<String> {
    let first = cursor.peek()?;
    if let Some(name) = basic(first) {
        cursor.next()?;
        return Some(name.to_owned());
    }
    match first {
        b'Q' => {
            let mut target = cursor.back_reference()?;
            return any(&mut target);
        }
        b'F' | b'U' | b'W' | b'V' | b'R' | b'Y' => return function(cursor),
        _ => {}
    }
    cursor.next()?;
    match first {
        b'O' => Some(format!("shared({})", any(cursor)?)),
        b'x' => Some(format!("const({})", any(cursor)?)),
        b'y' => Some(format!("immutable({})", any(cursor)?)),
        b'N' => match cursor.next()? {
            b'g' => Some(format!("inout({})", any(cursor)?)),
            b'h' => Some(format!("__vector({})", any(cursor)?)),
            b'n' => Some("typeof(*null)".to_owned()),
            _ => None,
        },
        b'A' => Some(format!("{}[]", any(cursor)?)),
        b'G' => {
            let count = cursor.number()?;
            Some(format!("{}[{count}]", any(cursor)?))
        }
        b'H' => {
            let key = any(cursor)?;
            Some(format!("{}[{key}]", any(cursor)?))
        }
        b'P' => pointer(cursor),
        b'I' | b'C' | b'S' | b'E' | b'T' => path(cursor, false),
        b'D' => delegate(cursor),
        b'B' => tuple(cursor),
        b'z' => match cursor.next()? {
            b'i' => Some("cent".to_owned()),
            b'k' => Some("ucent".to_owned()),
            _ => None,
        },
        _ => None,
    }
}

const fn basic(letter: u8) -> Option<&'static str> {
    Some(match letter {
        b'n' => "typeof(null)",
        b'v' => "void",
        b'g' => "byte",
        b'h' => "ubyte",
        b's' => "short",
        b't' => "ushort",
        b'i' => "int",
        b'k' => "uint",
        b'l' => "long",
        b'm' => "ulong",
        b'f' => "float",
        b'd' => "double",
        b'e' => "real",
        b'o' => "ifloat",
        b'p' => "idouble",
        b'j' => "ireal",
        b'q' => "cfloat",
        b'r' => "cdouble",
        b'c' => "creal",
        b'b' => "bool",
        b'a' => "char",
        b'u' => "wchar",
        b'w' => "dchar",
        _ => return None,
    })
}

fn is_function(cursor: &Cursor<'_>) -> bool {
    matches!(cursor.peek(), Some(b'F' | b'U' | b'W' | b'V' | b'R' | b'Y'))
}

fn pointer(cursor: &mut Cursor<'_>) -> Option<String> {
    match is_function(cursor) {
        true => Some(format!("{}function", any(cursor)?)),
        false => Some(format!("{}*", any(cursor)?)),
    }
}

fn delegate(cursor: &mut Cursor<'_>) -> Option<String> {
    let modifiers = modifiers(cursor);
    let shown = match cursor.peek()? {
        b'Q' => {
            let mut target = cursor.back_reference()?;
            is_function(&target).then(|| any(&mut target))??
        }
        _ => is_function(cursor).then(|| any(cursor))??,
    };
    Some(format!("{shown}delegate{modifiers}"))
}

fn tuple(cursor: &mut Cursor<'_>) -> Option<String> {
    let count = cursor.number()?;
    let mut types = Vec::new();
    for _ in 0..count {
        types.push(any(cursor)?);
    }
    Some(format!("Tuple!({})", types.join(", ")))
}

/// A function: its result, its parameters, its attributes.
fn function(cursor: &mut Cursor<'_>) -> Option<String> {
    let convention = convention(cursor)?;
    let attributes = attributes(cursor)?;
    let parameters = parameters(cursor)?;
    let result = any(cursor)?;
    Some(format!("{convention}{result}{parameters} {attributes}"))
}

/// The calling convention.
pub fn convention(cursor: &mut Cursor<'_>) -> Option<&'static str> {
    let shown = match cursor.peek()? {
        b'F' => "",
        b'U' => "extern(C) ",
        b'W' => "extern(Windows) ",
        b'V' => "extern(Pascal) ",
        b'R' => "extern(C++) ",
        b'Y' => "extern(Objective-C) ",
        _ => return None,
    };
    cursor.next()?;
    Some(shown)
}

/// Attributes of a function, each with a blank behind it.
pub fn attributes(cursor: &mut Cursor<'_>) -> Option<String> {
    let mut out = String::new();
    while cursor.begins("N") {
        let shown = match cursor.rest().as_bytes().get(1)? {
            b'a' => "pure ",
            b'b' => "nothrow ",
            b'c' => "ref ",
            b'd' => "@property ",
            b'e' => "@trusted ",
            b'f' => "@safe ",
            b'i' => "@nogc ",
            b'j' => "return ",
            b'l' => "scope ",
            b'm' => "@live ",
            // These belong to the first parameter.
            b'g' | b'h' | b'k' | b'n' => break,
            _ => return None,
        };
        cursor.next()?;
        cursor.next()?;
        out.push_str(shown);
    }
    Some(out)
}

/// Modifiers of `this`, each with a blank before it.
pub fn modifiers(cursor: &mut Cursor<'_>) -> String {
    let mut out = String::new();
    loop {
        let (word, shown) = match cursor.peek() {
            Some(b'x') => ("x", " const"),
            Some(b'y') => ("y", " immutable"),
            Some(b'O') => ("O", " shared"),
            Some(b'N') if cursor.begins("Ng") => ("Ng", " inout"),
            _ => return out,
        };
        if cursor.word(word).is_none() {
            return out;
        }
        out.push_str(shown);
    }
}

/// Parameters in their parentheses.
pub fn parameters(cursor: &mut Cursor<'_>) -> Option<String> {
    let mut shown: Vec<String> = Vec::new();
    let variadic = loop {
        match cursor.peek()? {
            b'Z' => break "",
            b'X' => break "...",
            b'Y' if shown.is_empty() => break "...",
            b'Y' => break ", ...",
            _ => shown.push(parameter(cursor)?),
        }
    };
    cursor.next()?;
    Some(format!("({}{variadic})", shown.join(", ")))
}

fn parameter(cursor: &mut Cursor<'_>) -> Option<String> {
    let mut out = String::new();
    if cursor.take(b'M').is_some() {
        out.push_str("scope ");
    }
    if cursor.begins("Nk") {
        cursor.word("Nk")?;
        out.push_str("return ");
    }
    let kind = match cursor.peek()? {
        b'I' => "in ",
        b'J' => "out ",
        b'K' => "ref ",
        b'L' => "lazy ",
        _ => "",
    };
    if !kind.is_empty() {
        cursor.next()?;
        out.push_str(kind);
        if kind == "in " && cursor.take(b'K').is_some() {
            out.push_str("ref ");
        }
    }
    out.push_str(&any(cursor)?);
    Some(out)
}
