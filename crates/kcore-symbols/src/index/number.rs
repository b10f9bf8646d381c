//! The words that types of numbers are named by in C: `long unsigned int` and `unsigned long` are one.

/// Whether it is one of those words.
pub const fn is_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"unsigned" | b"signed" | b"long" | b"short" | b"int" | b"char" | b"double" | b"__int128"
    )
}

/// The one name of what several words name; `None` where they name nothing.
pub fn joined(words: &[&[u8]]) -> Option<&'static [u8]> {
    let has = |wanted: &[u8]| words.contains(&wanted);
    let longs = words.iter().filter(|word| **word == b"long").count();
    let others = [b"short", &b"char"[..], b"double", b"__int128"];
    let other = others.iter().position(|word| has(word));
    if others.iter().filter(|word| has(word)).count() > 1 {
        return None;
    }
    Some(match (has(b"unsigned"), longs, other) {
        (false, 0, None) => b"int",
        (true, 0, None) => b"unsigned int",
        (false, 1, None) => b"long",
        (true, 1, None) => b"unsigned long",
        (false, 2, None) => b"long long",
        (true, 2, None) => b"unsigned long long",
        (false, 0, Some(0)) => b"short",
        (true, 0, Some(0)) => b"unsigned short",
        (false, 0, Some(1)) if has(b"signed") => b"signed char",
        (false, 0, Some(1)) => b"char",
        (true, 0, Some(1)) => b"unsigned char",
        (false, 0, Some(2)) => b"double",
        (false, 1, Some(2)) => b"long double",
        (false, 0, Some(3)) => b"__int128",
        (true, 0, Some(3)) => b"unsigned __int128",
        _ => return None,
    })
}
