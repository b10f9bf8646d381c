//! Texts that are cut for a column of a table.

/// What stands for the rest of a text.
const REST: &str = "...";

/// A text in at most `width` characters; one that is cut ends in `...`.
pub fn short(text: &str, width: usize) -> String {
    if text.chars().nth(width).is_none() {
        return text.to_owned();
    }
    let kept = width.saturating_sub(REST.len());
    let kept: String = text.chars().take(kept).collect();
    format!("{kept}{REST}")
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(short("timer 12.5", 10), "timer 12.5");
        assert_eq!(short("timer 123.5", 10), "timer 1...");
        assert_eq!(short("\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}", 4), "\u{e9}...");
    }
}
