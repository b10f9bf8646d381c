//! Prose that a stranger reads with ease: short sentences, and none of the turns that hide who does what.

use super::markdown::{self, Kind};

/// Words in a sentence.
const LONGEST: usize = 30;

/// Turns of phrase that made sentences hard to read, and what to write instead.
const BANNED: &[(&str, &str)] = &[
    ("is said", "name who says it"),
    ("are said", "name who says it"),
    ("is told", "name who tells it"),
    ("are told", "name who tells it"),
    ("is asked of", "say what is required"),
    ("said to be", "say what kcore shows"),
    ("by whom", "use the active voice"),
    ("to whom", "use the active voice"),
    ("of whom", "use the active voice"),
    ("from whose", "split the sentence"),
    ("what is there", "name the thing"),
    ("what there is", "name the thing"),
    ("what lies beyond", "name the thing"),
    ("in peace", "say what does not happen"),
    ("of its own accord", "say automatically"),
    ("is held for", "use the active voice"),
    ("as ever", "say as before"),
    ("nor is", "begin a new sentence"),
    ("nor are", "begin a new sentence"),
    ("but for", "say except"),
    ("be it", "say whether"),
    ("whoever", "name who does it"),
    ("who reads", "say a reader"),
    ("who asks", "say the caller"),
    ("who looks", "say the caller"),
];

/// What is wrong with the prose of a page: the line, and why.
pub fn faults(page: &str) -> Vec<(usize, String)> {
    let pieces = markdown::pieces(page);
    let prose = pieces.iter().filter(|piece| piece.kind == Kind::Prose);
    prose
        .flat_map(|piece| sentences(&piece.text).map(|sentence| (piece.line, sentence)))
        .flat_map(|(line, sentence)| wrong(&sentence).into_iter().map(move |why| (line, why)))
        .collect()
}

fn wrong(sentence: &str) -> Vec<String> {
    let words = words(sentence);
    let beginning = words.iter().take(8).copied().collect::<Vec<_>>().join(" ");
    let lower = format!(" {} ", words.join(" ").to_lowercase());
    let found = BANNED.iter().filter(|(phrase, _)| lower.contains(&format!(" {phrase} ")));
    let mut faults: Vec<String> = found
        .map(|(phrase, instead)| format!("\"{phrase}\": {instead}: {beginning} ..."))
        .collect();
    if words.len() > LONGEST {
        faults.push(format!("{} words in a sentence: {beginning} ...", words.len()));
    }
    faults
}

/// Words without the signs around them. A code span is one.
fn words(sentence: &str) -> Vec<&str> {
    let is_sign = |c: char| !c.is_alphanumeric() && c != '`';
    sentence
        .split_whitespace()
        .map(|word| word.trim_matches(is_sign))
        .filter(|word| !word.is_empty())
        .collect()
}

/// A sentence ends at a full stop, a question mark or an exclamation mark before a blank.
fn sentences(text: &str) -> impl Iterator<Item = String> {
    let text = without_targets(text);
    let mut sentences = vec![String::new()];
    for word in text.split_whitespace() {
        let ends = word.trim_end_matches(['*', '_', ')', '"', ']']).ends_with(['.', '?', '!']);
        if let Some(sentence) = sentences.last_mut() {
            sentence.push_str(&format!("{word} "));
        }
        if ends {
            sentences.push(String::new());
        }
    }
    sentences.into_iter()
}

/// The text with the words of its links alone.
fn without_targets(text: &str) -> String {
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or(part, |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(page: &str) -> usize {
        faults(page).len()
    }

    #[test]
    fn a_sentence_has_so_many_words() {
        let words = |count: usize| format!("{}.\n", vec!["word"; count].join(" "));
        assert_eq!(count(&words(LONGEST)), 0);
        assert_eq!(count(&words(LONGEST + 1)), 1);
        assert_eq!(count(&format!("{} {}", words(20).trim(), words(20))), 0);
    }

    #[test]
    fn code_counts_as_a_word_and_tables_do_not_count() {
        let long = vec!["word"; 40].join(" ");
        assert_eq!(count(&format!("Say `{long}` now.\n")), 0);
        assert_eq!(count(&format!("| {long} |\n\n```text\n{long}\n```\n")), 0);
    }

    #[test]
    fn the_target_of_a_link_is_no_text() {
        assert_eq!(without_targets("see [a b](c.md#d) and [e](f)."), "see [a b and [e.");
    }

    #[test]
    fn banned_turns_are_found_whole() {
        assert_eq!(faults("a\n\nThe reason is\nsaid.\n")[0].0, 3);
        assert_eq!(count("This said it.\n"), 0);
        assert_eq!(count("The basis saidit.\n"), 0);
    }
}
