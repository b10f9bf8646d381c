//! Matches a line against the shape of a command (`x/FMT ADDR`), and finds what the user filled in.

/// Words that stand for others at the beginning of a line.
const SHORT: &[(&str, &str)] = &[("i", "info"), ("inf", "info"), ("disas", "disassemble")];
/// Letters of a word after `info` that are enough.
const ENOUGH: usize = 2;

/// What stands in a line where its shape has capitals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound<'l> {
    /// The letters behind the slash of the first word.
    pub format: &'l str,
    /// The word that the shape names, or all that is left of the line.
    pub word: &'l str,
}

/// What `line` has where `shape` has capitals; `None` if the line has another shape. The last word
/// of a shape may be in capitals, or `...` for any words, or none.
pub fn matches<'l>(shape: &str, line: &'l str) -> Option<Bound<'l>> {
    let mut bound = Bound::default();
    let mut rest = line.trim();
    for (index, wanted) in shape.split(' ').enumerate() {
        let (word, more) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if wanted == "..." {
            return Some(Bound { word: rest, ..bound });
        }
        if is_filled_in(wanted) {
            let one_word = matches!(wanted, "N" | "NAME" | "REG" | "THREAD");
            let fits = !rest.is_empty() && (!one_word || is_last(wanted, shape, more));
            if !one_word {
                return fits.then_some(Bound { word: rest, ..bound });
            }
            if !fits {
                return None;
            }
            bound.word = word;
        } else if let Some(first) = wanted.strip_suffix("/FMT") {
            bound.format = word.strip_prefix(first)?.strip_prefix('/')?;
        } else if !is_word(wanted, word, index > 0 && shape.starts_with("info ")) {
            return None;
        }
        rest = more.trim_start();
    }
    rest.is_empty().then_some(bound)
}

/// The word with which lines of that shape begin.
pub fn first_word(shape: &str) -> &str {
    let word = shape.split(' ').next().unwrap_or_default();
    word.split_once('/').map_or(word, |(word, _)| word)
}

/// Whether lines may begin with `word` because it is short for another one.
pub fn is_short(word: &str) -> bool {
    SHORT.iter().any(|(short, _)| *short == word)
}

fn is_filled_in(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_uppercase())
}

/// Whether nothing follows a word with which its shape ends.
fn is_last(wanted: &str, shape: &str, more: &str) -> bool {
    !shape.ends_with(wanted) || more.trim().is_empty()
}

/// Whether `word` is the wanted one, or short for it.
fn is_word(wanted: &str, word: &str, behind_info: bool) -> bool {
    let is_short = behind_info && word.len() >= ENOUGH && wanted.starts_with(word);
    let is_registers = behind_info && word == "r" && wanted == "registers";
    let meant = SHORT.iter().find(|(short, _)| *short == word).map(|(_, long)| *long);
    wanted == word || is_short || is_registers || meant == Some(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word<'l>(shape: &str, line: &'l str) -> Option<&'l str> {
        matches(shape, line).map(|bound| bound.word)
    }

    #[test]
    fn words_are_the_same_or_short() {
        assert_eq!(word("info threads", "info  threads "), Some(""));
        assert_eq!(word("info threads", "i th"), Some(""));
        assert_eq!(word("info threads", "info t"), None);
        assert_eq!(word("info registers", "i r"), Some(""));
        assert_eq!(word("info threads", "info threads 3"), None);
        assert_eq!(word("bt", "bt full"), None);
        assert_eq!(word("disassemble NAME", "disas main"), Some("main"));
    }

    #[test]
    fn what_is_filled_in_is_a_word_or_the_rest() {
        assert_eq!(word("p EXPR", "p  a + b"), Some("a + b"));
        assert_eq!(word("p EXPR", "p"), None);
        assert_eq!(word("thread THREAD", "thread 3"), Some("3"));
        assert_eq!(word("thread THREAD", "thread 3 4"), None);
        assert_eq!(word("thread apply THREAD bt", "thread apply 3 bt"), Some("3"));
        assert_eq!(word("run ...", "run"), Some(""));
        assert_eq!(word("run ...", "run a b"), Some("a b"));
        let bound = matches("x/FMT ADDR", "x/8gx $rsp + 8");
        assert_eq!(bound, Some(Bound { format: "8gx", word: "$rsp + 8" }));
        assert_eq!(matches("x/FMT ADDR", "x $rsp"), None);
        assert_eq!(first_word("x/FMT ADDR"), "x");
    }
}
