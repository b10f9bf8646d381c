//! Words of a command line as numbers: immediate values, or expressions of the language.

use kcore::{Addr, Core};
use kcore_dcmd::{Arg, Args, Cx, DcmdError, Dot, Result};

/// The value of a word: that of `$[…]`, or of the word as an expression. A name of C++ or Rust
/// needs no quotes, with or without an offset, so that a printed name can be typed back.
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

/// The value of an option that is an address, a distance from one, a size or a mask, or `default` without it.
pub fn option(cx: &Cx<'_>, args: &Args, flag: char, default: u64) -> Result<u64> {
    args.value(flag).map_or(Ok(default), |word| number(cx, word))
}

/// The value of an option that counts or limits, or `default` without it.
pub fn count_option(cx: &Cx<'_>, args: &Args, flag: char, default: u64) -> Result<u64> {
    args.value(flag).map_or(Ok(default), |word| count(cx, word))
}

/// A count or limit. It is decimal in every radix, unless it has a prefix. A word that is not a
/// number is an expression of the language, such as `<n`.
pub fn count(cx: &Cx<'_>, word: &Arg) -> Result<u64> {
    if let Some(count) = as_decimal(word) {
        return Ok(count as u64);
    }
    let text = word.to_text();
    let is_number = text.starts_with('-') || text.chars().all(|c| c.is_ascii_hexdigit());
    if is_number { Err(no_count(&text)) } else { number(cx, word) }
}

/// The same where an expression is not allowed.
pub fn decimal(word: &Arg) -> Result<usize> {
    as_decimal(word).ok_or_else(|| no_count(&word.to_text()))
}

fn no_count(text: &str) -> DcmdError {
    DcmdError::usage(format!(
        "invalid decimal number '{text}' (write 0x before a hexadecimal number)"
    ))
}

/// The same for callers with an error message of their own.
pub fn as_decimal(word: &Arg) -> Option<usize> {
    const PREFIXES: [(&str, u32); 4] = [("0x", 16), ("0t", 10), ("0o", 8), ("0i", 2)];
    match word {
        Arg::Number(value) => usize::try_from(*value).ok(),
        Arg::Text(text) => {
            let prefixed = |(prefix, radix): &(&str, u32)| {
                text.strip_prefix(prefix).map(|digits| (digits, *radix))
            };
            let (digits, radix) = PREFIXES.iter().find_map(prefixed).unwrap_or((text, 10));
            // `parse` would take a sign.
            let is_digit = |c: char| c.is_digit(radix);
            digits
                .chars()
                .all(is_digit)
                .then(|| usize::from_str_radix(digits, radix).ok())
                .flatten()
        }
    }
}

/// The address that a value stands for: a mapped number, which is therefore not a thread's id.
pub fn memory(core: &Core, dot: Dot) -> Option<Addr> {
    let is_number = matches!(dot, Dot::Number(_) | Dot::Addr(_));
    (is_number && core.mapping_at(dot.addr()).is_some()).then(|| dot.addr())
}

/// The address before a dcmd that is asked, by `-u`, for the `ucontext_t` there.
pub fn context(cx: &Cx<'_>) -> Result<Addr> {
    let dot = cx.addr().ok_or_else(|| DcmdError::usage("-u needs the address of a ucontext_t"))?;
    address_of(dot, "ucontext_t")
}

/// The address at which a structure should lie. A thread, task or frame of a pipe is not one.
///
/// # Errors
/// When it is one of those.
pub fn address_of(dot: Dot, structure: &str) -> Result<Addr> {
    let is_not =
        |what: &str| Err(DcmdError::failed(format!("{what} is not the address of a {structure}")));
    match dot {
        Dot::Number(_) | Dot::Addr(_) => Ok(dot.addr()),
        Dot::Thread(tid) => is_not(&format!("thread {tid}")),
        Dot::Task(id) => is_not(&format!("{} {:x}", id.runtime, id.number)),
        Dot::Frame { tid, index, .. } => is_not(&format!("frame {index} of thread {tid}")),
        Dot::TaskFrame { task, index, .. } => {
            is_not(&format!("frame {index} of {} {:x}", task.runtime, task.number))
        }
    }
}
