//! The registers of machines that only a table tells: a line each, with the number where it is one of 64 bits.

use kcore::PlainFpRegister;
use kcore_dcmd::{Cell, Fields};

use super::{named, wide};

/// The layout.
pub const TEMPLATE: &str = "{first}{lines*\n{.}}";

/// Adds the cells.
pub fn fields<'a>(registers: &'a [PlainFpRegister], out: &mut Fields<'a>) {
    let vectors = registers.iter().map(|it| named(it.name.clone(), wide(&it.bytes)));
    let mut lines = registers.iter().map(|it| Cell::text(line(it)));
    let first = lines.next().unwrap_or(Cell::Null);
    out.put("control", Cell::Null)
        .put("status", Cell::Null)
        .put("x87", Cell::Null)
        .put("mxcsr", Cell::Null)
        .put("vectors", Cell::List(vectors.collect()))
        .put("masks", Cell::List(Vec::new()))
        .put("pkru", Cell::Null)
        .display("first", first)
        .display("lines", Cell::List(lines.collect()));
}

fn line(register: &PlainFpRegister) -> String {
    let name = format!("%{}", register.name);
    let value = register.number().map_or_else(String::new, |number| format!(" = {}", text(number)));
    format!("{name:7} {}{value}", wide(&register.bytes))
}

/// As C prints it by `%+.16e`.
fn text(number: f64) -> String {
    let text = format!("{number:+.16e}");
    match text.split_once('e').map(|(digits, exponent)| (digits, exponent.parse::<i32>())) {
        Some((digits, Ok(exponent))) => format!("{digits}e{exponent:+03}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_as_those_of_x87() {
        assert_eq!(text(0.0), "+0.0000000000000000e+00");
        assert_eq!(text(-1.5e-200), "-1.5000000000000000e-200");
        assert_eq!((text(f64::INFINITY), text(f64::NAN)), ("+inf".to_owned(), "NaN".to_owned()));
    }
}
