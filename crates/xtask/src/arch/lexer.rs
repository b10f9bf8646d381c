//! Rust source without comments and literals, so that words in it are code; or its literals alone.

/// The source with every comment and literal as blanks; lines stay where they are.
pub fn code_only(source: &str) -> String {
    kept(source, |token| token.is_none())
}

/// The source with all but its string literals as blanks; lines stay where they are.
pub fn literals_only(source: &str) -> String {
    kept(source, |token| token.is_some_and(|token| token.starts_with(['"', 'r'])))
}

/// The source with blanks for what `keeps` does not want: it is given each comment and literal, and `None` for code.
fn kept(source: &str, keeps: impl Fn(Option<&str>) -> bool) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(letter) = rest.chars().next() {
        let token = token_len(rest);
        let (taken, left) = rest.split_at(token.unwrap_or(letter.len_utf8()));
        match keeps(token.map(|_| taken)) {
            true => text.push_str(taken),
            false => text.extend(taken.chars().map(blank)),
        }
        rest = left;
    }
    text
}

fn blank(letter: char) -> char {
    if letter == '\n' { '\n' } else { ' ' }
}

/// The length of the comment or literal that `rest` begins with.
fn token_len(rest: &str) -> Option<usize> {
    let up_to = |end: Option<usize>| Some(end.unwrap_or(rest.len()));
    match rest.as_bytes() {
        [b'/', b'/', ..] => up_to(rest.find('\n')),
        [b'/', b'*', ..] => Some(block_len(rest)),
        [b'"', ..] => Some(quoted_len(rest, '"')),
        [b'r', b'"' | b'#', ..] => raw_len(rest),
        [b'\'', ..] => char_len(rest),
        _ => None,
    }
}

/// Block comments nest.
fn block_len(rest: &str) -> usize {
    let mut depth = 0_usize;
    for (at, pair) in rest.as_bytes().windows(2).enumerate() {
        match pair {
            b"/*" => depth += 1,
            b"*/" => depth = depth.saturating_sub(1),
            _ => (),
        }
        if depth == 0 {
            return at + 2;
        }
    }
    rest.len()
}

/// From one quote to the next that no backslash precedes.
fn quoted_len(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            letter if letter == quote => return at + 1,
            _ => (),
        }
    }
    rest.len()
}

/// `r"…"`, `r#"…"#`; `None` for a raw identifier.
fn raw_len(rest: &str) -> Option<usize> {
    let hashes = rest[1..].bytes().take_while(|byte| *byte == b'#').count();
    let body = 1 + hashes;
    if !rest[body..].starts_with('"') {
        return None;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let found = rest[body + 1..].find(&end).map(|at| body + 1 + at + end.len());
    Some(found.unwrap_or(rest.len()))
}

/// A character; `None` for a lifetime.
fn char_len(rest: &str) -> Option<usize> {
    let mut letters = rest[1..].chars();
    let (first, second) = (letters.next()?, letters.next()?);
    (first == '\\' || second == '\'').then(|| quoted_len(rest, '\''))
}

#[cfg(test)]
mod tests {
    use super::{code_only, literals_only};

    #[test]
    fn comments_and_literals_become_blanks() {
        let cases = [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            ("a(\"b\\\"c\") d", "a(      ) d"),
            ("a(r#\"b\"c\"#) d", "a(        ) d"),
            ("x == 'y' && 'a: loop", "x ==     && 'a: loop"),
            ("x == '\\'' // '", "x ==          "),
            ("r#type", "r#type"),
        ];
        for (source, code) in cases {
            assert_eq!(code_only(source), code, "{source}");
        }
    }

    #[test]
    fn literals_are_what_code_is_not() {
        assert_eq!(
            literals_only("a(\"b\") // \"c\"\n'd' r#\"e\"#"),
            "  \"b\"        \n    r#\"e\"#"
        );
    }

    #[test]
    fn what_is_not_closed_ends_with_the_text() {
        assert_eq!(code_only("a \"b"), "a   ");
        assert_eq!(code_only("a /* b"), "a     ");
    }
}
