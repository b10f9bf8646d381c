//! As many alternatives as a screen has room for.

use kcore_render::Size;

use super::Candidate;

/// Blanks between columns.
const GAP: usize = 2;
/// Rows for the line itself, before and behind the list.
const LINES: usize = 2;

/// The first of `found`, which are alternatives for `word`, as far as they can be listed on a screen of
/// that size at once; a mark at their end says that there are more.
pub(super) fn fit(mut found: Vec<Candidate>, word: &str, size: Size) -> Vec<Candidate> {
    let widest = found.iter().map(|candidate| candidate.shown.chars().count()).max().unwrap_or(0);
    let columns = (size.columns / (widest + GAP)).max(1);
    let room = columns * size.rows.saturating_sub(LINES).max(1);
    if found.len() > room {
        found.truncate(room.saturating_sub(1));
        found.push(Candidate { text: word.to_owned(), shown: "...".to_owned() });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitting(count: usize, columns: usize, rows: usize) -> Vec<String> {
        let found = (0..count).map(|number| Candidate::from(format!("w{number:03}"))).collect();
        let fitting = fit(found, "w", Size { columns, rows });
        fitting.into_iter().map(|candidate| candidate.shown).collect()
    }

    #[test]
    fn a_list_is_no_longer_than_a_screen() {
        assert_eq!(fitting(3, 80, 24), ["w000", "w001", "w002"]);
        assert_eq!(fitting(26, 80, 4).len(), 26);
        let long = fitting(27, 80, 4);
        assert_eq!((long.len(), long.last().map(String::as_str)), (26, Some("...")));
        assert_eq!(fitting(5, 0, 0), ["..."]);
    }
}
