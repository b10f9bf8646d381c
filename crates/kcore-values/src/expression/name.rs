//! Names in expressions: with scopes, template arguments, modules and files before them.

/// Dots and slashes in a name of Go, at most.
const MAX_DOTS: usize = 16;

/// Lengths that the name may have which a text begins with: with template arguments first, which else were
/// comparisons, then those of names of C, then those of names of Go.
pub fn lengths(text: &str, plain: usize) -> impl Iterator<Item = usize> {
    let behind = text.get(plain..).unwrap_or_default();
    let arguments = with_arguments(text, plain);
    let is_go = |c: char| is_name(c) || matches!(c, '.' | '/' | '-');
    let end = behind.find(|c| !is_go(c)).unwrap_or(behind.len());
    let dots = behind.get(..end).unwrap_or_default().match_indices(['.', '/', '-']);
    let ends = dots.map(move |(at, _)| plain.saturating_add(at)).skip(1);
    let whole = plain.saturating_add(end);
    let go = behind.starts_with(['.', '/', '-']).then_some(whole);
    arguments.into_iter().chain([plain]).chain(ends.chain(go).take(MAX_DOTS))
}

/// Bytes of a name with the template arguments that stand directly behind its `plain` part, and with what they are a
/// scope of; `None` without arguments.
pub fn with_arguments(text: &str, plain: usize) -> Option<usize> {
    let inner = text.get(plain..)?.strip_prefix('<')?;
    let end = plain.saturating_add(closing(inner, '<', '>')?).saturating_add(2);
    let end = end.saturating_add(continued_length(text.get(end..).unwrap_or_default()));
    Some(with_arguments(text, end).unwrap_or(end))
}

/// Bytes of the scopes that a text begins with, up to the backquote of a module or the colons of a file in quotes.
pub fn scope_length(text: &str) -> Option<usize> {
    if let Some(inner) = text.strip_prefix('\'') {
        let len = inner.find('\'')?;
        let behind = inner.get(len.saturating_add(1)..)?;
        return behind.starts_with("::").then_some(len.saturating_add(4));
    }
    let is_module = |c: char| is_name(c) || matches!(c, '.' | '+' | '-');
    let end = text.find(|c| !is_module(c))?;
    let len = text.get(end..)?.starts_with('`').then_some(end.saturating_add(1))?;
    let more = scope_length(text.get(len..)?).unwrap_or(0);
    Some(len.saturating_add(more))
}

/// Bytes of the name, with its scopes, that a text begins with.
pub fn scoped_length(text: &str) -> usize {
    let scope = scope_length(text).unwrap_or(0);
    let rest = text.get(scope..).unwrap_or_default();
    let global = if rest.starts_with("::") { 2 } else { 0 };
    let first = name_length(rest.get(global..).unwrap_or_default());
    let len = scope.saturating_add(global).saturating_add(first);
    len.saturating_add(continued_length(text.get(len..).unwrap_or_default()))
}

/// Bytes with which `::name` goes on, as often as it does.
fn continued_length(text: &str) -> usize {
    let mut len = 0_usize;
    while let Some(more) = text.get(len..).and_then(|rest| rest.strip_prefix("::")) {
        match name_length(more) {
            0 => break,
            name => len = len.saturating_add(2).saturating_add(name),
        }
    }
    len
}

/// Bytes of the name without scopes that a text begins with; 0 without one.
pub fn name_length(text: &str) -> usize {
    text.find(|c| !is_name(c)).unwrap_or(text.len())
}

/// Whether a name may contain this character.
pub fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// Whether a character is a decimal digit.
pub const fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// How many bytes stand before the bracket that closes what is open; quoted text counts for nothing.
pub fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let (mut depth, mut is_quoted) = (0_usize, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            c if c == open => depth = depth.saturating_add(1),
            c if c == close => match depth.checked_sub(1) {
                Some(outer) => depth = outer,
                None => return Some(at),
            },
            _ => {}
        }
    }
    None
}
