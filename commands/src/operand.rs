//! Words of a command line as numbers: immediate values, or expressions of the language.

use kcore::{Addr, Core};
use kcore_dcmd::{Arg, Args, Cx, DcmdError, Dot, Result};

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
