//! Builds JSON text: strings in ASCII, and integers that no reader rounds.

use std::fmt::Write as _;

/// Integers of up to this magnitude are exact as doubles, which is how many readers store numbers.
const MAX_EXACT: u128 = 1 << 53;

/// Whether keys without a fact are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum JsonForm {
    /// Every key of a type is there; a fact that is absent is `null`.
    #[default]
    Full,
    /// Keys whose fact is absent are left out.
    Compact,
}

/// Bytes that are buffered before they are passed on.
const CHUNK: usize = 64 << 10;

/// JSON text to which more is appended.
pub(crate) struct JsonText<'o> {
    text: String,
    form: JsonForm,
    /// Receives finished text while the rest is generated, so that a long answer is never in memory whole.
    taker: Option<&'o mut dyn FnMut(&str)>,
}

impl<'o> JsonText<'o> {
    pub(crate) const fn new(form: JsonForm) -> Self {
        Self { text: String::new(), form, taker: None }
    }

    /// JSON that is passed to `taker` piece by piece; `into_string` gives the last piece.
    pub(crate) const fn taken_by(form: JsonForm, taker: &'o mut dyn FnMut(&str)) -> Self {
        Self { text: String::new(), form, taker: Some(taker) }
    }

    /// The text that was not passed on.
    pub(crate) fn into_string(self) -> String {
        self.text
    }

    fn append(&mut self, json: &str) {
        self.text.push_str(json);
        if self.text.len() >= CHUNK
            && let Some(taker) = &mut self.taker
        {
            taker(&self.text);
            self.text.clear();
        }
    }

    pub(crate) const fn has_nulls(&self) -> bool {
        matches!(self.form, JsonForm::Full)
    }

    /// Appends text that is already JSON.
    pub(crate) fn raw(&mut self, json: &str) {
        self.append(json);
    }

    /// Appends a string.
    pub(crate) fn string(&mut self, text: &str) {
        self.append(&string(text));
    }

    /// Appends an address or a number that is read in hexadecimal.
    pub(crate) fn hex(&mut self, value: u64) {
        self.append(&hex(value));
    }
}

/// The members of an object under construction, and the commas between them.
pub(crate) struct JsonObject<'j, 'o> {
    json: &'j mut JsonText<'o>,
    is_first: bool,
}

impl<'j, 'o> JsonObject<'j, 'o> {
    /// Members; the braces around them are the caller's.
    pub(crate) const fn new(json: &'j mut JsonText<'o>) -> Self {
        Self { json, is_first: true }
    }

    /// Appends a key; the caller appends its value.
    pub(crate) fn key(&mut self, key: &str) -> &mut JsonText<'o> {
        if !std::mem::replace(&mut self.is_first, false) {
            self.json.raw(",");
        }
        self.json.string(key);
        self.json.raw(":");
        self.json
    }

    /// A key whose value is absent: `null`, or nothing at all.
    pub(crate) fn null(&mut self, key: &str) {
        if self.json.has_nulls() {
            self.key(key).raw("null");
        }
    }

    pub(crate) fn text(&mut self, key: &str, text: &str) {
        self.key(key).string(text);
    }

    pub(crate) fn flag(&mut self, key: &str, value: bool) {
        self.key(key).raw(if value { "true" } else { "false" });
    }

    pub(crate) fn optional_text(&mut self, key: &str, text: Option<&str>) {
        match text {
            Some(text) => self.text(key, text),
            None => self.null(key),
        }
    }

    /// Appends a member whose value is already JSON.
    pub(crate) fn optional_raw(&mut self, key: &str, json: Option<&str>) {
        match json {
            Some(json) => self.key(key).raw(json),
            None => self.null(key),
        }
    }
}

/// An integer: a number where every reader keeps it, else its decimal digits as text.
pub(crate) fn integer<T: Into<Wide>>(value: T) -> String {
    let Wide { is_negative, magnitude } = value.into();
    let sign = if is_negative { "-" } else { "" };
    if magnitude > MAX_EXACT {
        format!("\"{sign}{magnitude}\"")
    } else {
        format!("{sign}{magnitude}")
    }
}

/// An integer of up to 128 bits, with or without a sign.
pub(crate) struct Wide {
    is_negative: bool,
    magnitude: u128,
}

impl From<i128> for Wide {
    fn from(value: i128) -> Self {
        Self { is_negative: value < 0, magnitude: value.unsigned_abs() }
    }
}

impl From<u128> for Wide {
    fn from(magnitude: u128) -> Self {
        Self { is_negative: false, magnitude }
    }
}

impl From<u64> for Wide {
    fn from(value: u64) -> Self {
        u128::from(value).into()
    }
}

impl From<i64> for Wide {
    fn from(value: i64) -> Self {
        i128::from(value).into()
    }
}

/// An address, or a number that is read in hexadecimal.
pub(crate) fn hex(value: u64) -> String {
    format!("\"{value:#x}\"")
}

/// A string. Everything but printable ASCII is escaped: text of a target may hold characters that control a terminal
/// or reverse the reading order, and people read JSON on terminals too.
pub(crate) fn string(text: &str) -> String {
    // A string has a JSON form always; the type only says that other values might not.
    let json = serde_json::to_string(text).unwrap_or_else(|_| "null".to_owned());
    if json.bytes().all(|byte| is_printable(byte.into())) { json } else { in_ascii(&json) }
}

const fn is_printable(character: char) -> bool {
    matches!(character, ' '..='~')
}

/// Escapes everything but printable ASCII as `\uXXXX`, characters beyond 16 bits as a surrogate pair.
fn in_ascii(json: &str) -> String {
    let mut ascii = String::with_capacity(json.len());
    for character in json.chars() {
        if is_printable(character) {
            ascii.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // A string takes all that is written to it.
            let _ = write!(ascii, "\\u{unit:04x}");
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_printable_ascii_and_mean_what_they_meant() {
        let texts = [
            ("plain ~", "\"plain ~\""),
            ("a\"\\\x1b\n\u{7f}", r#""a\"\\\u001b\n\u007f""#),
            ("\u{9b}31m", r#""\u009b31m""#),
            ("x\u{202e}y\u{2066}", r#""x\u202ey\u2066""#),
            ("\u{e9}\u{2028}\u{feff}", r#""\u00e9\u2028\ufeff""#),
            ("\u{1f600}\u{e0041}", r#""\ud83d\ude00\udb40\udc41""#),
        ];
        for (text, expected) in texts {
            assert_eq!(string(text), expected);
            assert_eq!(serde_json::from_str::<String>(expected).unwrap(), text);
        }
    }

    #[test]
    fn every_character_comes_back() {
        let all: String = (0..=0x10_ffff).filter_map(char::from_u32).collect();
        let json = string(&all);
        assert!(json.bytes().all(|byte| matches!(byte, b' '..=b'~')));
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), all);
    }

    #[test]
    fn integers_beyond_what_a_double_holds_are_their_digits() {
        let exact = 1_u64 << 53;
        assert_eq!(integer(exact), "9007199254740992");
        assert_eq!(integer(exact + 1), "\"9007199254740993\"");
        assert_eq!(integer(-9_007_199_254_740_992_i64), "-9007199254740992");
        assert_eq!(integer(-9_007_199_254_740_993_i64), "\"-9007199254740993\"");
        assert_eq!(integer(i128::MIN), "\"-170141183460469231731687303715884105728\"");
        assert_eq!(integer(u128::MAX), "\"340282366920938463463374607431768211455\"");
        assert_eq!(integer(0_u64), "0");
    }
}
