//! Words of a command line as numbers: immediate values, or expressions of the language.

use kcore_dcmd::{Arg, Args, Cx, DcmdError, Result};

/// The value of a word: what `$[…]` gave, or the word as an expression. A name of C++ or Rust needs no
/// quotes, with or without an offset: so it is printed, and so it can be typed back.
pub fn number(cx: &Cx<'_>, word: &Arg) -> Result<u64> {
    match word {
        Arg::Number(value) => Ok(*value),
        Arg::Text(text) => cx.shell().evaluate(text).or_else(|error| path(cx, text).ok_or(error)),
    }
}

/// The value of `ns::name` or `ns::name+offset`.
fn path(cx: &Cx<'_>, text: &str) -> Option<u64> {
    if !text.contains("::") || text.contains('"') {
        return None;
    }
    let whole = cx.shell().evaluate(&format!("\"{text}\"")).ok();
    whole.or_else(|| {
        let (name, offset) = text.rsplit_once('+')?;
        cx.shell().evaluate(&format!("\"{name}\"+{offset}")).ok()
    })
}

/// The value of an option, or `default` without it.
pub fn option(cx: &Cx<'_>, args: &Args, flag: char, default: u64) -> Result<u64> {
    args.value(flag).map_or(Ok(default), |word| number(cx, word))
}

/// A count that is decimal whatever the radix is.
pub fn decimal(word: &Arg) -> Result<usize> {
    let text = word.to_text();
    let value = match word {
        Arg::Number(value) => usize::try_from(*value).ok(),
        Arg::Text(text) => text.parse().ok(),
    };
    value.ok_or_else(|| DcmdError::usage(format!("invalid decimal number '{text}'")))
}
