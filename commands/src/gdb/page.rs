//! The table of other debuggers' lines as text and as Markdown.

use super::row::{Ours, Row};
use super::shape;
use super::table::ROWS;

/// Columns of the other debuggers' lines, and of kcore's lines, in text.
const COLUMNS: (usize, usize) = (28, 26);
/// Shapes of a row that a table shows, at most.
const SHAPES: usize = 3;

/// The whole table as text.
pub fn text() -> String {
    let mut text = line("gdb, lldb", "kcore", "");
    ROWS.iter().for_each(|row| text.push_str(&row_text(row)));
    text + "\nA line with a * works as typed, unless it means something in kcore's language.\n"
}

/// The rows whose lines begin with a word, as text; `None` if none do.
pub fn about(word: &str) -> Option<String> {
    let begins = |row: &&Row| {
        let mut shapes = row.theirs.iter();
        !matches!(row.ours, Ours::AtStart(_)) && shapes.any(|it| shape::first_word(it) == word)
    };
    let rows: String = ROWS.iter().filter(begins).map(row_text).collect();
    (!rows.is_empty()).then(|| line("gdb, lldb", "kcore", "") + &rows)
}

/// The whole table as Markdown.
pub fn markdown() -> String {
    let head = "| gdb, lldb | kcore | notes |\n|---|---|---|\n";
    head.to_owned() + &ROWS.iter().map(row_markdown).collect::<String>()
}

/// A line of the table, and below it the other shapes.
fn row_text(row: &Row) -> String {
    let mark = if row.is_alias() { "*" } else { " " };
    let first = row.theirs.first().copied().unwrap_or_default();
    let mut text = line(&format!("{mark} {first}"), &row.shown(), row.says);
    let others: Vec<&str> = row.theirs.iter().skip(1).copied().collect();
    if !others.is_empty() {
        text.push_str(&wrapped(&others.join(", "), 4));
    }
    text
}

fn line(theirs: &str, ours: &str, says: &str) -> String {
    let (left, right) = COLUMNS;
    let text = format!("{theirs:left$} {ours:right$} ");
    if says.is_empty() {
        return format!("{}\n", text.trim_end());
    }
    let indent = left.saturating_add(right).saturating_add(2);
    if text.chars().count() > indent || says.chars().count() > WIDTH.saturating_sub(indent) {
        return format!("{}\n{}", text.trim_end(), wrapped(says, 8));
    }
    format!("{text}{says}\n")
}

/// Columns of a line of text.
const WIDTH: usize = 79;

/// Fills words into indented lines.
fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = String::new();
    let mut line = " ".repeat(indent);
    for word in text.split(' ') {
        if !line.trim().is_empty()
            && line.chars().count().saturating_add(word.chars().count()) >= WIDTH
        {
            lines.push_str(line.trim_end());
            lines.push('\n');
            line = " ".repeat(indent);
        }
        line.push_str(word);
        line.push(' ');
    }
    lines + line.trim_end() + "\n"
}

fn row_markdown(row: &Row) -> String {
    let mut theirs: Vec<String> = row.theirs.iter().take(SHAPES).map(|it| code(it)).collect();
    if row.theirs.len() > SHAPES {
        theirs.push("…".to_owned());
    }
    let ours = match row.ours {
        Ours::Needless => String::new(),
        _ => row
            .shown()
            .split(", ")
            .filter(|it| !it.is_empty())
            .map(code)
            .collect::<Vec<_>>()
            .join(", "),
    };
    let works = if row.is_alias() { " \\*" } else { "" };
    format!("| {}{works} | {ours} | {} |\n", theirs.join(", "), escaped(row.says))
}

fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

/// Words of the language in a sentence are code.
fn escaped(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let (bare, end) = match word.strip_suffix([';', ',', ':']) {
            Some(bare) => (bare, word.get(bare.len()..).unwrap_or_default()),
            None => (word, ""),
        };
        let is_code = bare.starts_with("::") || bare.contains(['/', '<', '*', '=', '>', '!']);
        if is_code { format!("`{bare}`{end}") } else { word.to_owned() }
    });
    words.collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
