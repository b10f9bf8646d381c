//! Dcmds that a message of the library names. The library says facts; what to type is the front end's to say.

use kcore_commands::DCMDS;

use super::{lexer::literals_only, source::Source};

/// Crates above the library. The dcmds themselves lie in a folder of their own.
const ABOVE: &[&str] =
    &["kcore-dcmd", "kcore-render", "kcore-shell", "kcore-cli", "kcore-agent", "xtask"];

/// String literals of the library that name a dcmd: `path:line: ::name`.
pub fn dcmds_named(sources: &[Source]) -> Vec<String> {
    let names: Vec<String> =
        DCMDS.iter().flat_map(|dcmd| dcmd.spec().spellings().collect::<Vec<_>>()).collect();
    let library = sources.iter().filter(|source| is_of_library(&source.path));
    library.flat_map(|source| named_in(source, &names)).collect()
}

fn is_of_library(path: &str) -> bool {
    let name = path.strip_prefix("crates/").and_then(|path| path.split('/').next());
    name.is_some_and(|name| !ABOVE.contains(&name))
}

fn named_in(source: &Source, names: &[String]) -> Vec<String> {
    let literals = literals_only(&source.text);
    let lines = (1..).zip(literals.lines());
    let named = lines.flat_map(|(number, line)| {
        let dcmds = dcmds_in(line).filter(|dcmd| names.iter().any(|name| name == dcmd));
        dcmds.map(move |dcmd| format!("{}:{number}: {dcmd} in a message", source.path))
    });
    named.collect()
}

/// The words of a line that are spelled as dcmds are: behind the `::` of a path in C++ or Rust stands a name too, but
/// before it as well.
fn dcmds_in(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("::").filter_map(|(at, colons)| {
        let (before, rest) = line.split_at(at);
        let is_path = before.ends_with(|c: char| c.is_alphanumeric() || "_>)}]:".contains(c));
        let behind = rest.get(colons.len()..)?;
        let len = behind.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(behind.len());
        (!is_path && len > 0).then(|| rest.get(..colons.len() + len))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        dcmds_named(&[Source { path: path.to_owned(), text: text.to_owned() }])
    }

    #[test]
    fn a_message_of_the_library_names_no_dcmd() {
        let text = "/// As `::stack`.\nlet a = \"no stack (see\n::stack -v)\";\n";
        assert_eq!(
            found("crates/kcore/src/doubts.rs", text),
            ["crates/kcore/src/doubts.rs:3: ::stack in a message"]
        );
        assert!(found("crates/kcore-cli/src/run.rs", text).is_empty());
        assert!(found("commands/src/stack.rs", text).is_empty());
    }

    #[test]
    fn names_of_other_languages_are_no_dcmds() {
        let text = r#"["std::stack", "demo<int>::print", "(anonymous)::help", "::nothing", "a::"]"#;
        assert_eq!(found("crates/kcore/src/own_code.rs", text), [""; 0]);
    }
}
