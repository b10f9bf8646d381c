//! Lines that are broken where a word begins.

use crate::screen::width;

/// `text` with each line that is wider than `columns` broken at blanks, its parts below each other. A
/// word that is wider stands as it is; what a terminal obeys and does not show takes no column.
pub(crate) fn at_words(text: &str, columns: usize) -> String {
    let mut wrapped = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if width(line) <= columns {
            wrapped.push_str(line)
        } else {
            wrap(&mut wrapped, line, columns)
        }
    }
    wrapped
}

fn wrap(wrapped: &mut String, line: &str, columns: usize) {
    let margin = margin(line, columns);
    let mut column = 0;
    for word in line.split_inclusive(' ') {
        if column > margin && column + width(word.trim_end()) > columns {
            let kept = wrapped.trim_end_matches(' ').len();
            wrapped.truncate(kept);
            wrapped.push('\n');
            wrapped.extend(std::iter::repeat_n(' ', margin));
            column = margin;
        }
        wrapped.push_str(word);
        column += width(word);
    }
}

/// Blanks before a line, where they leave room for words.
fn margin(line: &str, columns: usize) -> usize {
    let blanks = line.bytes().take_while(|byte| *byte == b' ').count();
    if blanks <= columns / 2 { blanks } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Style;

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(at_words("one two three\nfour\n", 8), "one two\nthree\nfour\n");
        assert_eq!(at_words("one two", 7), "one two");
        assert_eq!(at_words("a_long_word and\n", 5), "a_long_word\nand\n");
        assert_eq!(at_words("", 5), "");
        assert_eq!(at_words("  one two\n", 7), "  one\n  two\n");
        assert_eq!(at_words("      one two\n", 9), "one\ntwo\n".replace("one", "      one"));
    }

    #[test]
    fn attributes_take_no_column() {
        let bold = Style::Bold.paint("two");
        assert_eq!(at_words(&format!("one {bold}\n"), 7), format!("one {bold}\n"));
        assert_eq!(at_words(&format!("one {bold}\n"), 6), format!("one\n{bold}\n"));
    }
}
