//! Dcmds that a page names in code, and that kcore does not have.

use kcore_commands::DCMDS;

/// Stands for any name.
const ANY: &str = "name";

/// Unknown dcmds of a page: the line, and why.
pub fn faults(page: &str) -> Vec<(usize, String)> {
    let mut faults = Vec::new();
    for (index, line) in page.lines().enumerate() {
        let unknown = spans(line).flat_map(names).filter(|name| !is_known(name));
        faults.extend(unknown.map(|name| (index + 1, format!("::{name}: no such dcmd"))));
    }
    faults
}

/// What stands between backquotes in a line.
fn spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The dcmds at the beginning of a span and of the stages of its pipes. A `::` elsewhere may be C++ or Rust.
fn names(span: &str) -> impl Iterator<Item = &str> {
    span.split('|').filter_map(|stage| {
        let rest = stage.trim_start().strip_prefix("::")?;
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        rest.get(..length).filter(|name| !name.is_empty())
    })
}

fn is_known(name: &str) -> bool {
    let is_spelled = |spelling: String| spelling.strip_prefix("::") == Some(name);
    name.eq_ignore_ascii_case(ANY)
        || DCMDS.iter().any(|dcmd| dcmd.spec().spellings().any(is_spelled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_dcmds_are_named_with_their_line() {
        let page = "`::stack` and\n| `::walk thread \\| ::stak` | `::NAME` |\n";
        assert_eq!(faults(page), [(2, "::stak: no such dcmd".to_owned())]);
    }

    #[test]
    fn names_of_other_languages_are_left_alone() {
        assert_eq!(faults("`std::bad_alloc` ::nothing `demo::g_dog::print`"), []);
    }
}
