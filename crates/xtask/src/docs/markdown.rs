//! As much of Markdown as the checks of pages need: paragraphs, headings and links.

/// What a piece of a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Heading,
    Row,
    Prose,
}

/// Lines that belong together, joined into one, with what stands between backquotes blanked.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece {
    /// The line of the page on which it begins, from 1.
    pub line: usize,
    pub kind: Kind,
    pub text: String,
}

/// The pieces of a page. Code blocks, comments and blank lines are none.
pub fn pieces(page: &str) -> Vec<Piece> {
    let mut reader = Reader::default();
    for (index, line) in page.lines().enumerate() {
        reader.line(index + 1, line.trim());
    }
    reader.pieces.iter_mut().for_each(|piece| piece.text = without_code(&piece.text));
    reader.pieces
}

#[derive(Default)]
struct Reader {
    pieces: Vec<Piece>,
    is_in_code: bool,
    /// Whether the next line of prose goes on with the last piece.
    is_open: bool,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) {
        if line.starts_with("```") {
            self.is_in_code = !self.is_in_code;
        } else if !self.is_in_code && !line.is_empty() && !line.starts_with("<!--") {
            return self.text(number, line);
        }
        self.is_open = false;
    }

    fn text(&mut self, line: usize, text: &str) {
        if text.starts_with('#') {
            self.begin(line, Kind::Heading, text.trim_start_matches('#').trim());
        } else if text.starts_with('|') {
            self.begin(line, Kind::Row, text);
        } else if let Some(item) = item(text) {
            self.begin(line, Kind::Prose, item);
        } else if let Some(last) = self.pieces.last_mut().filter(|_| self.is_open) {
            last.text = format!("{} {text}", last.text);
        } else {
            self.begin(line, Kind::Prose, text);
        }
    }

    fn begin(&mut self, line: usize, kind: Kind, text: &str) {
        self.is_open = kind == Kind::Prose;
        self.pieces.push(Piece { line, kind, text: text.to_owned() });
    }
}

/// The text of an item of a list.
fn item(line: &str) -> Option<&str> {
    let digits = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
    let after_number = line.get(digits..).filter(|_| digits > 0);
    after_number.and_then(|rest| rest.strip_prefix(". ")).or_else(|| line.strip_prefix("- "))
}

/// The text with each code span as a pair of backquotes.
fn without_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let plain: Vec<&str> =
        parts.filter(|(index, _)| index % 2 == 0).map(|(_, part)| part).collect();
    plain.join("``")
}

/// Where the links of a piece lead.
pub fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

/// The anchor of a heading, as GitHub and mdBook make it.
pub fn anchor(heading: &str) -> String {
    let letters = heading.trim().chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ if letter.is_alphanumeric() => Some(letter.to_ascii_lowercase()),
        _ => None,
    });
    letters.collect()
}

/// The headings of a page as they are written, code spans too.
pub fn headings(page: &str) -> impl Iterator<Item = &str> {
    let mut is_in_code = false;
    page.lines().filter_map(move |line| {
        is_in_code ^= line.trim_start().starts_with("```");
        line.strip_prefix('#').filter(|_| !is_in_code).map(|rest| rest.trim_start_matches('#'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(page: &str) -> Vec<(usize, Kind, String)> {
        pieces(page).into_iter().map(|piece| (piece.line, piece.kind, piece.text)).collect()
    }

    #[test]
    fn a_page_falls_into_pieces() {
        let page = "# A `b`\n\nOne\ntwo.\n- three\n  four\n1. five\n\n```text\nno\n```\n| r |\n<!-- c -->\n";
        let wanted = [
            (1, Kind::Heading, "A ``"),
            (3, Kind::Prose, "One two."),
            (5, Kind::Prose, "three four"),
            (7, Kind::Prose, "five"),
            (12, Kind::Row, "| r |"),
        ];
        assert_eq!(texts(page), wanted.map(|(line, kind, text)| (line, kind, text.to_owned())));
    }

    #[test]
    fn code_may_go_over_a_line() {
        assert_eq!(texts("a `b\nc` d"), [(1, Kind::Prose, "a `` d".to_owned())]);
    }

    #[test]
    fn links_are_found() {
        let found: Vec<_> = links("see [a](b.md#c), [d](e)").collect();
        assert_eq!(found, ["b.md#c", "e"]);
    }

    #[test]
    fn anchors_are_those_of_the_renderers() {
        assert_eq!(anchor(" `::dis` `$d`"), "dis-d");
        assert_eq!(anchor("From gdb: a table"), "from-gdb-a-table");
        let found: Vec<_> = headings("# A\n```sh\n# b\n```\n### C d\n").collect();
        assert_eq!(found, [" A", " C d"]);
    }
}
