//! Words of a command line as numbers: immediate values, or expressions of the language.

use kcore::{Addr, Core};
use kcore_dcmd::{Arg, Args, Cx, DcmdError, Dot, Result};

/// The value of a word: what `$[…]` gave, or the word as an expression. A name of C++ or Rust needs no
/// quotes of its own, with or without an offset: so it is printed, and so it can be typed back.
pub fn number(cx: &Cx<'_>, word: &Arg) -> Result<u64> {
    match word {
        Arg::Number(value) => Ok(*value),
        Arg::Text(text) => cx.shell().evaluate(text).or_else(|error| path(cx, text).ok_or(error)),
    }
}

/// The value of `ns::name(int)`, `name<int>`, `operator+`, and of each with `+offset`.
fn path(cx: &Cx<'_>, text: &str) -> Option<u64> {
    let is_spelled =
        text.contains("::") || text.contains("operator") || text.contains([' ', '(', '<']);
    if !is_spelled {
        return None;
    }
    symbol(cx, text).or_else(|| {
        let (name, offset) = text.rsplit_once('+')?;
        symbol(cx, name)?.checked_add(cx.shell().evaluate(offset).ok()?)
    })
}

/// The value of a symbol by its name alone.
fn symbol(cx: &Cx<'_>, name: &str) -> Option<u64> {
    let quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
    cx.shell().evaluate(&format!("\"{quoted}\"")).ok()
}

/// The value of an option, or `default` without it.
pub fn option(cx: &Cx<'_>, args: &Args, flag: char, default: u64) -> Result<u64> {
    args.value(flag).map_or(Ok(default), |word| number(cx, word))
}

/// A count that is decimal whatever the radix is.
pub fn decimal(word: &Arg) -> Result<usize> {
    let text = word.to_text();
    as_decimal(word).ok_or_else(|| DcmdError::usage(format!("invalid decimal number '{text}'")))
}

/// The same for who has words of its own for what is none.
pub fn as_decimal(word: &Arg) -> Option<usize> {
    match word {
        Arg::Number(value) => usize::try_from(*value).ok(),
        Arg::Text(text) => text.parse().ok(),
    }
}

/// The address that a value is: a number that is mapped, and so no thread's id.
pub fn memory(core: &Core, dot: Dot) -> Option<Addr> {
    let is_number = matches!(dot, Dot::Number(_) | Dot::Addr(_));
    (is_number && core.mapping_at(dot.addr()).is_some()).then(|| dot.addr())
}

/// The address before a dcmd that is asked, by `-u`, for the `ucontext_t` there.
pub fn context(cx: &Cx<'_>) -> Result<Addr> {
    let dot = cx.addr().ok_or_else(|| DcmdError::usage("-u needs the address of a ucontext_t"))?;
    Ok(dot.addr())
}
