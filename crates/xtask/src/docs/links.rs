//! Relative links between pages: the file exists, and so does the heading.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::markdown;

/// Links of the page at `path` that lead nowhere: the line, and why.
pub fn faults(path: &Path, page: &str) -> Vec<(usize, String)> {
    let mut faults = Vec::new();
    for piece in markdown::pieces(page) {
        let links = markdown::links(&piece.text).filter(|target| !is_elsewhere(target));
        let broken =
            links.filter_map(|target| Some(format!("{target}: {}", wrong(path, page, target)?)));
        faults.extend(broken.map(|why| (piece.line, why)));
    }
    faults
}

/// Pages of a book that its table of contents leaves out.
pub fn unlisted(summary: &Path, pages: &[PathBuf]) -> Vec<String> {
    let text = fs::read_to_string(summary).unwrap_or_default();
    let pieces = markdown::pieces(&text);
    let listed: Vec<&str> = pieces.iter().flat_map(|piece| markdown::links(&piece.text)).collect();
    let names =
        pages.iter().filter(|page| *page != summary).filter_map(|page| page.file_name()?.to_str());
    names
        .filter(|name| !listed.contains(name))
        .map(|name| format!("{name}: not in SUMMARY.md"))
        .collect()
}

/// Other sites are not asked.
fn is_elsewhere(target: &str) -> bool {
    ["https://", "http://", "mailto:"].iter().any(|scheme| target.starts_with(scheme))
}

fn wrong(path: &Path, page: &str, target: &str) -> Option<&'static str> {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    if file.is_empty() {
        return (!has_heading(page, heading)).then_some("no such heading");
    }
    let other = path.parent()?.join(file);
    match fs::read_to_string(&other) {
        _ if leaves_book(path, &other) => Some("a page of the book must not link out of it"),
        Ok(text) if !heading.is_empty() && !has_heading(&text, heading) => Some("no such heading"),
        Err(_) if !other.exists() => Some("no such file"),
        _ => None,
    }
}

/// A page of the book is also read where nothing else of the tree is.
fn leaves_book(path: &Path, other: &Path) -> bool {
    let folder = path.parent().filter(|folder| folder.join("SUMMARY.md").exists());
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    folder.is_some_and(|folder| !real(other).starts_with(real(folder)))
}

fn has_heading(page: &str, wanted: &str) -> bool {
    markdown::headings(page).any(|heading| markdown::anchor(heading) == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of the test `name` in the target folder: a book of two pages.
    fn book(name: &str) -> PathBuf {
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
        let folder = target.join("xtask-links").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("SUMMARY.md"), "- [A](a.md)\n").unwrap();
        fs::write(folder.join("b.md"), "# One two\n").unwrap();
        folder
    }

    fn count(name: &str, page: &str) -> usize {
        faults(&book(name).join("a.md"), page).len()
    }

    #[test]
    fn files_and_headings_must_be_there() {
        assert_eq!(count("files", "[b](b.md) [b](b.md#one-two) [c](https://nowhere)"), 0);
        assert_eq!(count("files", "[b](c.md)"), 1);
        assert_eq!(count("files", "[b](b.md#three)"), 1);
        assert_eq!(count("files", "# Here\n\n[a](#here) [b](#there)\n"), 1);
        assert_eq!(count("files", "`[b](c.md)`"), 0);
        assert_eq!(count("files", "| [b](c.md) |\n"), 1);
    }

    #[test]
    fn a_page_of_the_book_stays_in_it() {
        assert_eq!(count("leaves", "[b](../../../Cargo.toml)"), 1);
    }

    #[test]
    fn the_table_of_contents_names_all_pages() {
        let folder = book("summary");
        let pages = ["SUMMARY.md", "a.md", "b.md"].map(|name| folder.join(name));
        assert_eq!(unlisted(&folder.join("SUMMARY.md"), &pages), ["b.md: not in SUMMARY.md"]);
    }
}
