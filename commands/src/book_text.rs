//! Sections of the book as text for a terminal, so that help and the book are written once.

use crate::help::wrap;

/// The sections of a page with these headings, in the order of the page, without examples that were run.
pub fn sections(page: &str, headings: &[&str]) -> String {
    let mut text = Text::default();
    let (mut is_wanted, mut is_example, mut is_block) = (false, false, false);
    for line in page.lines() {
        if let Some(comment) = line.strip_prefix("<!-- ") {
            is_example = comment.starts_with("begin:");
            if is_example && is_wanted {
                text.drop_announcement();
            }
        } else if line.starts_with("```") {
            is_block = !is_block;
        } else if let Some(heading) = heading(line).filter(|_| !is_block) {
            is_wanted = headings.contains(&heading);
            if is_wanted {
                text.end();
                text.lines.push(heading.to_uppercase());
            }
        } else if is_wanted && !is_example {
            match is_block {
                true => text.lines.push(format!("  {line}")),
                false => text.add(line),
            }
        }
    }
    text.end();
    without_gaps(&text.lines.join("\n"))
}

/// Text under construction.
#[derive(Default)]
struct Text {
    lines: Vec<String>,
    paragraph: String,
}

impl Text {
    /// A line of prose, or a row of a table.
    fn add(&mut self, line: &str) {
        if let Some(row) = line.strip_prefix('|').and_then(|row| row.strip_suffix('|')) {
            self.end();
            if !row.starts_with("---") {
                self.lines.push(columns(row));
            }
            return;
        }
        if line.is_empty() || line.starts_with("- ") {
            self.end();
        }
        if line.is_empty() {
            self.lines.push(String::new());
            return;
        }
        self.paragraph.push_str(line.trim());
        self.paragraph.push(' ');
    }

    fn end(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        if !paragraph.is_empty() {
            self.lines.push(wrap(&plain(&paragraph), 2));
        }
    }

    /// Drops the sentence that introduces an omitted example.
    fn drop_announcement(&mut self) {
        self.end();
        let last = self.lines.iter().rposition(|line| !line.is_empty());
        let is_announcement =
            |at: &usize| self.lines.get(*at).is_some_and(|line| line.ends_with(':'));
        if let Some(at) = last.filter(is_announcement) {
            self.lines.truncate(at);
        }
    }
}

fn heading(line: &str) -> Option<&str> {
    line.strip_prefix("# ").or_else(|| line.strip_prefix("## "))
}

fn columns(row: &str) -> String {
    const WIDTH: usize = 22;
    let cells = row.replace("\\|", "\u{0}");
    let cells = cells.split('|').map(|cell| plain(cell.trim()).replace('\u{0}', "|"));
    let row: String = cells.map(|cell| format!("{cell:WIDTH$} ")).collect();
    format!("    {}", row.trim_end())
}

/// Text without the signs of Markdown: code without backquotes, and only the words of links.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for (index, part) in text.split("``").enumerate() {
        if index % 2 == 1 {
            plain.push_str(part);
            continue;
        }
        for (index, part) in part.split('`').enumerate() {
            match index % 2 {
                0 => plain.push_str(&without_links(&part.replace('*', ""))),
                _ => plain.push_str(part),
            }
        }
    }
    plain
}

fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        let parts = link.split_once("](");
        let parts = parts.and_then(|(words, rest)| Some((words, rest.split_once(')')?.1)));
        plain.push_str(before);
        let (words, after) = parts.unwrap_or(("[", link));
        plain.push_str(words);
        rest = after;
    }
    plain + rest
}

/// At most one empty line between others, and none at the ends.
fn without_gaps(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.trim().lines() {
        if !line.is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(line);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Page\n\nText with `code`, ``a`b``\nand [a *link*](other.md#x).\n\n## Table\n\n| sign | means |\n\
                        |---|---|\n| `a\\|b` | or |\n\nSo:\n\n<!-- begin: transcript -->\n```text\n$ x\n```\n\
                        <!-- end: transcript -->\n\nEnd.\n\n## Other\n\nNo.\n";

    #[test]
    fn sections_are_text_for_a_terminal() {
        assert_eq!(sections(PAGE, &["Page"]), "PAGE\n\n  Text with code, a`b and a link.");
        let table =
            "TABLE\n\n    sign                   means\n    a|b                    or\n\n  End.";
        assert_eq!(sections(PAGE, &["Table"]), table);
        assert_eq!(sections(PAGE, &["None"]), "");
    }
}
