//! `x/FMT ADDR` of gdb, in format letters of kcore.

use super::operand;
use super::place::GdbContext;
use super::shape::Bound;

/// The line of `x`: a format that has no letter of its own is left alone.
pub fn line(bound: &Bound<'_>, place: &GdbContext<'_>) -> Option<String> {
    let (count, letter) = format(bound.format)?;
    // For other names, gdb takes the value of a variable, and kcore the address.
    let at = match letter {
        'i' => operand::address(bound.word, place),
        _ => operand::number(bound.word, place),
    }?;
    Some(match count {
        1 => format!("{at}/{letter}"),
        2..=9 => format!("{at},{count}/{letter}"),
        _ => format!("{at},0t{count}/{letter}"),
    })
}

/// How often, and the letter.
fn format(text: &str) -> Option<(u64, char)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (count, letters) = text.split_at_checked(end)?;
    let count = if count.is_empty() { 1 } else { count.parse().ok()? };
    let (mut form, mut unit) = ('x', None);
    for c in letters.chars() {
        match c {
            'b' | 'h' | 'w' | 'g' => unit = Some(c),
            _ => form = c,
        }
    }
    letter(form, unit, count).map(|letter| (count, letter))
}

fn letter(form: char, unit: Option<char>, count: u64) -> Option<char> {
    Some(match (form, unit) {
        ('x' | 'z', Some('b')) => 'B',
        ('x' | 'z', Some('h')) => 'x',
        ('x' | 'z', Some('w') | None) => 'X',
        ('x' | 'z', Some('g')) => 'J',
        ('d', Some('h')) => 'd',
        ('d', Some('w') | None) => 'D',
        ('d', Some('g')) => 'e',
        ('u', Some('b')) => 'V',
        ('u', Some('h')) => 'u',
        ('u', Some('w') | None) => 'U',
        ('u', Some('g')) => 'E',
        ('o', Some('b')) => 'b',
        ('o', Some('h')) => 'o',
        ('o', Some('w') | None) => 'O',
        ('o', Some('g')) => 'G',
        ('t', Some('g')) => 'R',
        ('a', Some('g') | None) => 'p',
        ('c', Some('b') | None) => 'c',
        ('f', Some('w')) => 'f',
        ('f', Some('g') | None) => 'F',
        ('i', None) => 'i',
        // Consecutive strings are not a repetition of one.
        ('s', None) if count == 1 => 's',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn formats_of_gdb_have_letters() {
        for (text, wanted) in [
            ("8gx", (8, 'J')),
            ("", (1, 'X')),
            ("20xb", (20, 'B')),
            ("s", (1, 's')),
            ("5i", (5, 'i')),
            ("2a", (2, 'p')),
            ("4dw", (4, 'D')),
        ] {
            assert_eq!(format(text), Some(wanted), "{text}");
        }
        for text in ["8q", "2s", "db", "99999999999999999999x"] {
            assert_eq!(format(text), None, "{text}");
        }
    }
}
