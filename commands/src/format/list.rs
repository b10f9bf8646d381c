//! Format lists: letters with counts, quoted text.

use kcore_dcmd::{Arg, DcmdError, Result};

use super::letters::{self, Action, Letter};

/// Greatest count before a letter.
const MAX_COUNT: u64 = 1 << 24;
/// Greatest count before a letter that only lays out.
const MAX_LAYOUT: u64 = 1 << 12;

/// One item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// Text that stands as it is.
    Quoted(String),
    /// A letter, so many times.
    Letter(&'static Letter, u64),
}

/// Reads the words of a format dcmd: letters with decimal counts or `$[expression]` before them,
/// and quoted text. Blanks between words mean nothing.
///
/// # Errors
/// If a character is not a format, or a count is too high.
pub fn parse(words: &[Arg]) -> Result<Vec<Item>> {
    let mut items = Vec::new();
    let mut count = None;
    for word in words {
        match word {
            Arg::Number(value) => count = Some(*value),
            Arg::Text(text) => parse_word(text, &mut count, &mut items)?,
        }
    }
    match count {
        Some(count) => Err(missing_letter(count)),
        None => Ok(items),
    }
}

fn parse_word(text: &str, count: &mut Option<u64>, items: &mut Vec<Item>) -> Result<()> {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let behind = rest.get(first.len_utf8()..).unwrap_or_default();
        rest = match first {
            '"' | '\'' => {
                let (text, behind) = quoted(first, behind);
                let times = count.take().map_or(Ok(1), |count| checked(count, MAX_LAYOUT))?;
                items.extend((0..times).map(|_| Item::Quoted(text.clone())));
                behind
            }
            digit if digit.is_ascii_digit() => {
                let (value, behind) = decimal(rest)?;
                *count = Some(value);
                behind
            }
            letter => {
                items.push(letter_item(letter, count.take())?);
                behind
            }
        };
    }
    Ok(())
}

fn letter_item(letter: char, count: Option<u64>) -> Result<Item> {
    // Letters that search or write are not items of a list. They stand only at its beginning.
    let is_item = |found: &&Letter| !matches!(found.action, Action::Match | Action::Write);
    let found = letters::find(letter)
        .filter(is_item)
        .ok_or_else(|| DcmdError::failed(format!("invalid format character -- '{letter}'")))?;
    let most = match found.action {
        Action::Newline | Action::Blank | Action::Tab | Action::Label => MAX_LAYOUT,
        Action::Forward | Action::Backward | Action::Back => u64::MAX,
        _ => MAX_COUNT,
    };
    Ok(Item::Letter(found, checked(count.unwrap_or(1), most)?))
}

fn checked(count: u64, most: u64) -> Result<u64> {
    match count {
        count if count <= most => Ok(count),
        count => {
            Err(DcmdError::failed(format!("format count {count} is too high: at most {most}")))
        }
    }
}

fn decimal(text: &str) -> Result<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let value = digits.parse();
    let value =
        value.map_err(|_| DcmdError::failed(format!("format count {digits} is too high")))?;
    Ok((value, rest))
}

fn missing_letter(count: u64) -> DcmdError {
    DcmdError::failed(format!("expected format character following count {count}"))
}

/// The text up to the closing quote, and what stands behind it. In double quotes the escapes of C
/// count.
fn quoted(quote: char, text: &str) -> (String, &str) {
    let mut unquoted = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => break,
            '\\' if quote == '"' => unquoted.push(escape(&mut chars)),
            c => unquoted.push(c),
        }
    }
    (unquoted, chars.as_str())
}

fn escape(chars: &mut std::str::Chars<'_>) -> char {
    match chars.next() {
        Some('n') => '\n',
        Some('t') => '\t',
        Some('r') => '\r',
        Some('a') => '\x07',
        Some('b') => '\x08',
        Some('f') => '\x0c',
        Some('v') => '\x0b',
        Some('x') => code(take_digits(chars, 2, 16), 16),
        Some(first @ '0'..='7') => {
            let digits = format!("{first}{}", take_digits(chars, 2, 8));
            code(digits, 8)
        }
        Some(other) => other,
        None => '\\',
    }
}

fn take_digits(chars: &mut std::str::Chars<'_>, most: usize, radix: u32) -> String {
    let digits: String = chars.clone().take(most).take_while(|c| c.is_digit(radix)).collect();
    for _ in digits.chars() {
        chars.next();
    }
    digits
}

fn code(digits: String, radix: u32) -> char {
    let value = u32::from_str_radix(&digits, radix).ok();
    value.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Vec<String>> {
        let words: Vec<_> = words.iter().map(|word| Arg::Text((*word).into())).collect();
        let items = parse(&words)?;
        Ok(items
            .into_iter()
            .map(|item| match item {
                Item::Quoted(text) => format!("{text:?}"),
                Item::Letter(letter, count) => format!("{count}{}", letter.letter),
            })
            .collect())
    }

    #[test]
    fn counts_are_decimal_and_blanks_mean_nothing() {
        assert_eq!(read(&["nap"]).unwrap(), ["1n", "1a", "1p"]);
        assert_eq!(read(&["16X", "4", "b"]).unwrap(), ["16X", "4b"]);
        assert_eq!(read(&[]).unwrap(), [""; 0]);
    }

    #[test]
    fn quotes_protect_letters_and_know_escapes() {
        assert_eq!(
            read(&["X\"a b\\n\\x41\\101\"x'\\n'"]).unwrap(),
            ["1X", "\"a b\\nAA\"", "1x", "\"\\\\n\"",]
        );
    }

    #[test]
    fn an_immediate_is_a_count() {
        let items = parse(&[Arg::Number(3), Arg::Text("X".into())]).unwrap();
        assert!(matches!(items.as_slice(), [Item::Letter(_, 3)]));
    }

    #[test]
    fn what_is_no_format_is_named() {
        let message = |words: &[&str]| read(words).unwrap_err().to_string();
        assert_eq!(message(&["Xk"]), "invalid format character -- 'k'");
        assert_eq!(message(&["4"]), "expected format character following count 4");
        assert_eq!(
            message(&["99999999999999999999X"]),
            "format count 99999999999999999999 is too high"
        );
        assert!(message(&["99999999X"]).starts_with("format count 99999999 is too high: at most"));
        assert!(read(&["\"open"]).is_ok());
    }
}
