//! The generated blocks of the README.

use anyhow::Result;
use kcore_commands::DCMDS;
use kcore_dcmd::{Group, Spec};

use super::blocks;
use crate::cargo;

/// What a new user runs first.
const COMMANDS: &str = "::status; ::stacks";
const CORE: &str = "testdata/workers/x86_64/core.zst";

/// Groups in the order in which they are shown. What no core can do is left to `::dcmds`.
pub const GROUPS: [Group; 7] = [
    Group::Process,
    Group::Stacks,
    Group::Memory,
    Group::Symbols,
    Group::Types,
    Group::Runtimes,
    Group::Language,
];

/// The README with its generated blocks as they should be.
pub fn text(document: &str) -> Result<String> {
    let document = blocks::replace(document, "commands", &commands())?;
    blocks::replace(&document, "transcript", &transcript()?)
}

/// The dcmds of a group, in the order of the table of dcmds.
pub fn specs(group: Group) -> impl Iterator<Item = Spec> {
    DCMDS.iter().map(|dcmd| dcmd.spec()).filter(move |spec| spec.group == group)
}

/// Every spelling of a dcmd as code. A bar would end the cell of a table.
pub fn spellings(spec: &Spec) -> String {
    let code = spec.spellings().map(|name| format!("`{}`", name.replace('|', "\\|")));
    code.collect::<Vec<_>>().join(" ")
}

fn commands() -> String {
    let mut text = String::from("| dcmd | |\n|---|---|\n");
    for group in GROUPS {
        text.push_str(&format!("| **{}** | |\n", group.title()));
        for spec in specs(group) {
            text.push_str(&format!("| {} | {} |\n", spellings(&spec), spec.summary));
        }
    }
    text
}

/// What kcore prints on the committed core, behind the command as the user types it.
fn transcript() -> Result<String> {
    let args = ["run", "--release", "-q", "--", "-c", COMMANDS, CORE];
    let output = cargo::output(&mut cargo::command(env!("CARGO"), &args))?;
    let command = format!("$ cargo run --release -- -c '{COMMANDS}' {CORE}");
    Ok(format!("```text\n{command}\n{}\n```\n", output.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dcmd_has_a_line() {
        let text = commands();
        let lines = text.lines().filter(|line| line.starts_with("| `"));
        let supported = DCMDS.iter().filter(|dcmd| dcmd.spec().group != Group::Unsupported);
        assert_eq!(lines.count(), supported.count());
    }
}
