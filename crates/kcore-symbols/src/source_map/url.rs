//! What maps and sources are called.

use std::borrow::Cow;

/// What stands before the URL of a map in a comment of the generated text.
const COMMENTS: [&str; 2] = ["//# sourceMappingURL=", "//@ sourceMappingURL="];
/// What a map within a URL begins with.
const DATA: &str = "data:";

/// The URL of the map that generated text ends with: its last comment that has one. `end` may be cut at its front.
pub fn last_url(end: &str) -> Option<&str> {
    let line = end.lines().rev().find(|line| !line.trim().is_empty())?;
    let url = COMMENTS.iter().find_map(|comment| line.trim().strip_prefix(comment))?.trim();
    (!url.is_empty() && !url.contains([' ', '\t', '"', '\''])).then_some(url)
}

/// The bytes that a URL `data:` holds, in base 64 or as they are; `None` of other URLs, and where it is damaged.
pub fn data_url(url: &str) -> Option<Vec<u8>> {
    let (kind, data) = url.strip_prefix(DATA)?.split_once(',')?;
    if kind.ends_with(";base64") { base64(data.as_bytes()) } else { percent_decoded(data) }
}

/// RFC 4648, with either alphabet and with or without padding.
fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len().div_ceil(4).saturating_mul(3));
    let (mut held, mut bits) = (0_u32, 0_u32);
    for byte in text.iter().copied().take_while(|byte| *byte != b'=') {
        let six = match byte {
            b'A'..=b'Z' => byte.wrapping_sub(b'A'),
            b'a'..=b'z' => byte.wrapping_sub(b'a').wrapping_add(26),
            b'0'..=b'9' => byte.wrapping_sub(b'0').wrapping_add(52),
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        held = (held << 6) | u32::from(six);
        bits = bits.saturating_add(6);
        if bits >= 8 {
            bits = bits.saturating_sub(8);
            bytes.push(u8::try_from(held.checked_shr(bits)? & 0xff).ok()?);
        }
    }
    Some(bytes)
}

fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let byte = match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let (high, low) = (digit()?, digit()?);
                u8::try_from((high << 4) | low).ok()?
            }
            byte => byte,
        };
        bytes.push(byte);
    }
    Some(bytes)
}

/// A source behind the root of its map, from the folder of the map if it is relative.
pub fn resolved(folder: Option<&str>, root: &str, source: &str) -> String {
    let slash = if root.is_empty() || root.ends_with('/') { "" } else { "/" };
    let source =
        if has_scheme(source) { source.to_owned() } else { format!("{root}{slash}{source}") };
    if has_scheme(&source) {
        return source;
    }
    if source.starts_with('/') {
        return without_dots(&source);
    }
    match folder.map(split_scheme) {
        Some((scheme, folder)) => {
            let folder = folder.trim_end_matches('/');
            format!("{scheme}{}", without_dots(&format!("{folder}/{source}")))
        }
        None => source,
    }
}

/// Whether it is a URL of its own: `webpack://app/./a.ts`, `file:///a.ts`.
fn has_scheme(url: &str) -> bool {
    let Some((scheme, _)) = url.split_once(':') else { return false };
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(is_part)
}

/// `file://` and the path behind it.
fn split_scheme(url: &str) -> (&str, &str) {
    match url.find("://").filter(|_| has_scheme(url)) {
        Some(at) => url.split_at_checked(at.saturating_add(3)).unwrap_or(("", url)),
        None => ("", url),
    }
}

/// A path without `.` and `..`, as far as those do not lead out of it.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<Cow<'_, str>> = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match part {
            ".." if parts.last().is_some_and(|last| last != "..") => drop(parts.pop()),
            ".." if path.starts_with('/') => {}
            part => parts.push(part.into()),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_comment_has_the_url() {
        assert_eq!(last_url("a()\n//# sourceMappingURL=a.js.map\n"), Some("a.js.map"));
        assert_eq!(last_url("a()\r\n//@ sourceMappingURL=b.map \r\n\n"), Some("b.map"));
        for text in ["", "a()", "//# sourceMappingURL=a.map\na()", "//# sourceMappingURL=a b"] {
            assert_eq!(last_url(text), None, "{text}");
        }
    }

    #[test]
    fn urls_hold_bytes_in_either_form() {
        let held = |url| data_url(url).and_then(|bytes| String::from_utf8(bytes).ok());
        assert_eq!(held("data:application/json;base64,eyJhIjoxfQ==").as_deref(), Some("{\"a\":1}"));
        assert_eq!(held("data:;charset=utf-8;base64,YQ").as_deref(), Some("a"));
        assert_eq!(held("data:application/json,%7B%22a%22:1}").as_deref(), Some("{\"a\":1}"));
        for url in ["a.map", "data:x", "data:;base64,Y!", "data:,%7"] {
            assert_eq!(held(url), None, "{url}");
        }
    }

    #[test]
    fn sources_begin_in_the_folder_of_their_map() {
        let of = |folder, root, source| resolved(folder, root, source);
        assert_eq!(of(Some("/app/dist"), "", "../src/a.ts"), "/app/src/a.ts");
        assert_eq!(of(Some("/app/dist"), "/src/", "a.ts"), "/src/a.ts");
        assert_eq!(of(Some("/app/dist"), "..", "src/./a.ts"), "/app/src/a.ts");
        assert_eq!(of(Some("file:///app/dist"), "", "../a.ts"), "file:///app/a.ts");
        assert_eq!(of(Some("/"), "", "../../a.ts"), "/a.ts");
        assert_eq!(of(Some("dist"), "", "../../a.ts"), "../a.ts");
        assert_eq!(of(None, "", "../src/a.ts"), "../src/a.ts");
        assert_eq!(of(Some("/app"), "", "webpack://app/./a.ts"), "webpack://app/./a.ts");
        assert_eq!(of(Some("/app"), "webpack:///", "src/a.ts"), "webpack:///src/a.ts");
    }
}
