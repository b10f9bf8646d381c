//! The test targets of the workspace: how many there are, and what is a good name for each.

use std::{collections::HashMap, path::Path};

use anyhow::Result;
use serde_json::Value;

use crate::cargo;

/// Test programs by their file names, and libraries whose documentation has tests.
#[derive(Debug, Default)]
pub struct Targets {
    /// `kcore-unwind walk`, by `walk-0123456789abcdef`.
    programs: HashMap<String, String>,
    /// How many libraries have tests in their documentation.
    documented: usize,
}

impl Targets {
    /// Builds all tests, and answers which there are.
    ///
    /// # Errors
    /// Something does not compile.
    pub fn build() -> Result<Self> {
        let words = ["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"];
        let mut build = cargo::command(env!("CARGO"), &words);
        println!("+ {}", cargo::shown(&build));
        Ok(Self::of(&cargo::output(&mut build)?))
    }

    /// Those that cargo's messages name.
    fn of(messages: &str) -> Self {
        let mut targets = Self::default();
        for message in messages.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            targets.add(&message);
        }
        targets
    }

    fn add(&mut self, message: &Value) {
        let is_test = message["profile"]["test"] == true;
        let Some(path) = message["executable"].as_str().filter(|_| is_test) else { return };
        let target = &message["target"];
        let package = package(message["package_id"].as_str().unwrap_or_default());
        let kind = target["kind"][0].as_str().unwrap_or_default();
        let name = match kind {
            "test" => target["name"].as_str().unwrap_or_default(),
            "bin" => "its program",
            "example" => "an example",
            _ => "its own tests",
        };
        self.documented += usize::from(target["doctest"] == true && kind != "bin");
        self.programs.insert(file_name(path), format!("{package} {name}"));
    }

    /// How many targets will run.
    pub fn count(&self) -> usize {
        self.programs.len() + self.documented
    }

    /// The name of the target that a line of `cargo test` begins.
    pub fn begun(&self, line: &str) -> Option<String> {
        let line = line.trim_start();
        if let Some(library) = line.strip_prefix("Doc-tests ") {
            return Some(format!("{} documentation", library.replace('_', "-")));
        }
        let (what, path) = line.strip_prefix("Running ")?.split_once(" (")?;
        let known = self.programs.get(&file_name(path.trim_end_matches(')')));
        Some(known.cloned().unwrap_or_else(|| what.to_owned()))
    }
}

/// The package that one of cargo's package ids names: `path+file:///src/NAME#1.0.0`, or `path+file:///src/x#NAME@1.0.0`.
fn package(id: &str) -> &str {
    let (folder, rest) = id.split_once('#').unwrap_or((id, ""));
    match rest.split_once('@') {
        Some((name, _)) => name,
        None => folder.rsplit('/').next().unwrap_or(folder),
    }
}

fn file_name(path: &str) -> String {
    Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = r#"
{"reason":"compiler-artifact","package_id":"path+file:///t/crates/a#0.1.0","target":{"kind":["test"],"name":"walk","doctest":false},"profile":{"test":true},"executable":"/t/target/debug/deps/walk-1"}
{"reason":"compiler-artifact","package_id":"path+file:///t/commands#a-commands@0.1.0","target":{"kind":["lib"],"name":"a_commands","doctest":true},"profile":{"test":true},"executable":"/t/target/debug/deps/a_commands-2"}
{"reason":"compiler-artifact","package_id":"path+file:///t/crates/a#0.1.0","target":{"kind":["bin"],"name":"a","doctest":false},"profile":{"test":false},"executable":"/t/target/debug/a"}
{"reason":"build-finished","success":true}
"#;

    #[test]
    fn programs_and_documentation_are_counted() {
        let targets = Targets::of(MESSAGES);
        assert_eq!(targets.count(), 3);
        let name = |line: &str| targets.begun(line);
        let running = "     Running tests/walk/main.rs (target/debug/deps/walk-1)";
        assert_eq!(name(running).as_deref(), Some("a walk"));
        let running = "     Running unittests src/lib.rs (target/debug/deps/a_commands-2)";
        assert_eq!(name(running).as_deref(), Some("a-commands its own tests"));
        assert_eq!(name("   Doc-tests a_commands").as_deref(), Some("a-commands documentation"));
        assert_eq!(name("test one ... ok"), None);
    }

    #[test]
    fn a_target_that_is_not_known_is_called_as_cargo_does() {
        let line = "     Running tests/b.rs (target/debug/deps/b-2)";
        assert_eq!(Targets::default().begun(line).as_deref(), Some("tests/b.rs"));
    }
}
