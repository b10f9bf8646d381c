//! What the cookbook says to type.

use std::path::Path;

/// A row of the table of crashes.
pub struct Row {
    /// Words that `::status` shows.
    pub shows: Vec<String>,
    /// What happened: the name of the row.
    pub what: String,
    /// Lines to type, in order; `addr` in them is the address that `::status` shows.
    pub lines: Vec<String>,
}

/// The table of crashes.
pub fn rows() -> Vec<Row> {
    let page = page();
    let (_, table) = page.split_once("<!-- begin: crashes -->").expect("the table begins");
    let (table, _) = table.split_once("<!-- end: crashes -->").expect("the table ends");
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.map(row).collect()
}

/// The row with a name.
pub fn named(what: &str) -> Row {
    let named = rows().into_iter().find(|row| row.what == what);
    named.unwrap_or_else(|| panic!("the cookbook has no row \"{what}\""))
}

/// The lines that are typed into kcore in the examples of a section.
pub fn typed_in(section: &str) -> Vec<String> {
    let page = page();
    let (_, section) = page.split_once(&format!("\n## {section}\n")).expect("the section begins");
    let section = section.split("\n## ").next().unwrap_or_default();
    section.lines().filter_map(|line| line.strip_prefix("> ")).map(str::to_owned).collect()
}

fn page() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join("docs/book/src/cookbook.md")).unwrap()
}

fn row(line: &str) -> Row {
    // A bar within a cell is written with a backslash.
    let line = line.replace("\\|", "\u{1}");
    let cells: Vec<String> =
        line.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect();
    let [_, shows, what, lines, _look_for, _] = cells.as_slice() else { panic!("{line}") };
    Row { shows: code(shows), what: what.clone(), lines: code(lines) }
}

/// The spans of code in a cell.
fn code(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}
