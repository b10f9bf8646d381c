//! Strings of Lua and of LuaJIT as a program would write them: `lstrlib.c` (`addquoted`).

/// Bytes as a program would write them between double quotes: `\\255` for one that is no text.
pub fn spelled(bytes: &[u8]) -> String {
    let mut spelled = String::new();
    for chunk in bytes.utf8_chunks() {
        for sign in chunk.valid().chars() {
            match sign {
                '"' | '\\' => spelled.extend(['\\', sign]),
                '\n' => spelled.push_str("\\n"),
                '\r' => spelled.push_str("\\r"),
                '\t' => spelled.push_str("\\t"),
                sign if sign.is_ascii_control() => spelled.push_str(&escape(sign)),
                sign => spelled.push(sign),
            }
        }
        chunk.invalid().iter().for_each(|byte| spelled.push_str(&escape(*byte)));
    }
    spelled
}

/// Three digits, so that one that follows is none of them.
fn escape(byte: impl Into<u32>) -> String {
    format!("\\{:03}", byte.into())
}

/// Whether text is all that its bytes were: no other stands for those that are no text.
pub fn is_whole(text: &str) -> bool {
    !text.contains(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TextRest, script_text::text};

    #[test]
    fn bytes_that_are_no_text_are_spelled_by_their_number() {
        assert_eq!(spelled(b"\xff1\0\"\\\n\xc3\xbc"), "\\2551\\000\\\"\\\\\\nü");
        let cut = text(b"a\xc3", TextRest::Cut, spelled);
        assert_eq!(cut, ("string", "a".to_owned()));
    }
}
