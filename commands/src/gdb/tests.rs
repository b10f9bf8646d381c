//! The table as a whole.

use super::row::Ours;
use super::table::ROWS;
use super::{page, shape, shapes};
use crate::{DCMDS, GDB};
use kcore_dcmd::Foreign;

/// The words of a line that are spelled as dcmds.
fn dcmds(line: &str) -> Vec<String> {
    let words =
        line.split([' ', ',', ';', '|']).filter_map(|word| word.find("::").map(|at| &word[at..]));
    words.map(ToOwned::to_owned).collect()
}

#[test]
fn every_dcmd_that_is_named_exists() {
    let known = |name: &str| DCMDS.iter().any(|dcmd| dcmd.spec().spellings().any(|it| it == name));
    for row in ROWS {
        for name in dcmds(&row.shown()).iter().chain(&dcmds(row.says)) {
            assert!(known(name.trim_end_matches([')', '.'])), "{name} of {:?}", row.theirs);
        }
    }
}

#[test]
fn no_shape_stands_twice_and_each_begins_a_line() {
    let mut all: Vec<&str> = shapes().collect();
    all.sort_unstable();
    for pair in all.windows(2) {
        assert_ne!(pair[0], pair[1]);
    }
    assert!(all.iter().all(|shape| GDB.begins(shape::first_word(shape))));
    assert!(!GDB.begins("") && !GDB.begins("main"));
}

#[test]
fn about_forty_lines_work_as_they_are() {
    let aliases = ROWS.iter().filter(|row| row.is_alias()).flat_map(|row| row.theirs);
    assert!(aliases.count() > 80);
    let hints = ROWS.iter().filter(|row| matches!(row.ours, Ours::Instead(_)));
    assert!(hints.flat_map(|row| row.theirs).count() > 80);
}

#[test]
fn a_row_can_be_shown() {
    assert!(page::about("bt").unwrap().contains("* bt full"));
    assert_eq!(page::about("gdb"), None);
    let text = page::text();
    assert!(text.lines().all(|line| line.chars().count() < 80), "{text}");
    let rows = page::markdown();
    assert_eq!(rows.lines().count(), ROWS.len() + 2);
    assert!(rows.contains("| `thread apply all bt`"));
}
