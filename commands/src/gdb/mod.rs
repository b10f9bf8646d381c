//! Translates lines of gdb and lldb into kcore's language.

mod examine;
mod here;
mod operand;
mod page;
mod place;
mod row;
mod shape;
mod table;
#[cfg(test)]
mod tests;

use kcore::Core;
use kcore_dcmd::{Foreign, Meaning, Shell};

use place::GdbContext;
use row::{Ours, Row};
use shape::Bound;
use table::ROWS;

pub use page::{about, markdown, text};

/// The translator of gdb and lldb lines.
pub const GDB: Gdb = Gdb;

/// Translates lines of gdb and lldb.
pub struct Gdb;

impl Foreign for Gdb {
    fn meaning(&self, line: &str, core: &Core, shell: &dyn Shell) -> Option<Meaning> {
        let place = GdbContext { core, shell };
        // A shell command reads the output of kcore's command.
        if let Some((line, command)) = line.split_once(" ! ") {
            let Meaning::Same { known, line } = meaning(line, &place)? else { return None };
            return Some(Meaning::Same { known, line: format!("{line} ! {command}") });
        }
        meaning(line, &place)
    }

    fn begins(&self, word: &str) -> bool {
        shape::is_short(word) || shapes().any(|shape| shape::first_word(shape) == word)
    }
}

/// Every shape of a line that can be typed.
fn shapes() -> impl Iterator<Item = &'static str> {
    let typed = ROWS.iter().filter(|row| !matches!(row.ours, Ours::AtStart(_)));
    typed.flat_map(|row| row.theirs.iter().copied())
}

fn meaning(line: &str, place: &GdbContext<'_>) -> Option<Meaning> {
    ROWS.iter().find_map(|row| row_meaning(row, line, place))
}

/// The meaning of a line by a row; `None` if the line has another shape, or the row cannot translate it.
fn row_meaning(row: &Row, line: &str, place: &GdbContext<'_>) -> Option<Meaning> {
    if matches!(row.ours, Ours::AtStart(_)) {
        return None;
    }
    let found = row.theirs.iter().find_map(|theirs| Some((*theirs, shape::matches(theirs, line)?)));
    let (theirs, bound) = found?;
    let known = row.theirs.first().copied().unwrap_or(theirs);
    match row.ours {
        Ours::Same(ours) => {
            filled_in(ours, theirs, &bound, place).map(|line| Meaning::Same { known, line })
        }
        Ours::Made(_, make) => make(&bound, place).map(|line| Meaning::Same { known, line }),
        Ours::Needless => Some(Meaning::Needless { known, why: row.says }),
        Ours::Instead(ours) => Some(Meaning::Instead(instead(ours, row.says))),
        Ours::AtStart(_) => None,
    }
}

/// The line of kcore, with the words that the user filled into the other debugger's line.
fn filled_in(
    ours: &str,
    theirs: &str,
    bound: &Bound<'_>,
    place: &GdbContext<'_>,
) -> Option<String> {
    let Some((before, rest)) = ours.split_once('{') else { return Some(ours.to_owned()) };
    let (key, after) = rest.split_once('}')?;
    if !theirs.split(' ').any(|word| word == key) {
        return None;
    }
    let word = bound.word;
    let value = match key {
        "N" => word.parse::<u64>().ok().map(|number| number.to_string()),
        "THREAD" => word.parse().ok().and_then(|number| place.thread(number)),
        "REG" => place.register(word.strip_prefix('$').unwrap_or(word)),
        "ADDR" => operand::address(word, place),
        "TYPE" => Some(word.to_owned()).filter(|name| place.is_type(name)),
        _ => Some(word.to_owned()).filter(|word| place::is_name(word)),
    }?;
    Some(format!("{before}{value}{after}"))
}

/// What to type instead, and why.
fn instead(ours: &str, says: &str) -> String {
    match (ours, says) {
        ("", says) => says.to_owned(),
        (ours, "") => format!("type {ours}"),
        (ours, says) => format!("type {ours} ({says})"),
    }
}
