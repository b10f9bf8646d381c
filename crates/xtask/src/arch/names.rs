//! Names of types that fit any type.
//!
//! `Found` or `Place` tells a reader nothing that the type does not tell better: what was found, the place of what.

use super::{lexer::code_only, source::Source};

/// Names that no type may have.
const VAGUE: &[&str] = &[
    "Asked", "Data", "Found", "Helper", "Held", "Info", "Kept", "Known", "Manager", "Place",
    "Places", "Said", "Shown", "Sought", "Stuff", "Thing", "Told", "Util", "Wanted", "Way",
];

/// What a type is declared with.
const KEYWORDS: &[&str] = &["struct", "enum", "union", "trait", "type"];

/// Types with such a name: `path:line: Found fits any type`.
pub fn vague(sources: &[Source]) -> Vec<String> {
    sources.iter().flat_map(|source| vague_of(&source.path, &code_only(&source.text))).collect()
}

fn vague_of(path: &str, code: &str) -> Vec<String> {
    let lines = (1..).zip(code.lines());
    let declared = lines.filter_map(|(number, line)| Some((number, declared_type(line)?)));
    let vague = declared.filter(|(_, name)| VAGUE.contains(name));
    vague.map(|(number, name)| format!("{path}:{number}: {name} fits any type")).collect()
}

/// The name of the type that a line declares.
fn declared_type(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    words.find(|word| KEYWORDS.contains(word))?;
    let name = words.next()?;
    let end = name.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(name.len());
    name.get(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_is_named_after_nothing_is_told() {
        let code = "pub(crate) struct Found<'a> {\n    found: Found,\n}\nenum FoundFile {}\n    type Place = u8;\n";
        let told = vague_of("a.rs", code);
        assert_eq!(told, ["a.rs:1: Found fits any type", "a.rs:5: Place fits any type"]);
    }

    #[test]
    fn only_what_declares_a_type_counts() {
        assert_eq!(declared_type("impl Wanted for X {"), None);
        assert_eq!(declared_type("    Found(u8),"), None);
        assert_eq!(declared_type("pub trait Host: Send {"), Some("Host"));
    }
}
