//! The command reference, `commands/README.md`, from what each dcmd says of itself.

use kcore_commands::WALKERS;
use kcore_dcmd::{Example, Opt, Spec};

use super::readme::{GROUPS, specs, spellings};

const HEAD: &str = "\
# The dcmds and walkers of kcore

Written by `cargo xtask docs` from what each dcmd says of itself; `::help NAME` shows the same. Addresses and
numbers are hexadecimal unless they begin with `0t`; `addr,count::dcmd` gives a dcmd an address and a count, and
`a | b` gives `b` what `a` found, one by one.
";

/// The whole document.
pub fn text() -> String {
    let mut text = HEAD.to_owned();
    for group in GROUPS {
        text.push_str(&format!("\n## {}\n", group.title()));
        specs(group).for_each(|spec| text.push_str(&dcmd(&spec)));
    }
    text + &walkers()
}

fn dcmd(spec: &Spec) -> String {
    let mut text = format!("\n### {}\n\n{}\n", spellings(spec), sentence(spec.summary));
    text.push_str(&format!("\n```text\n{}\n```\n", spec.usage()));
    if !spec.options.is_empty() {
        text.push_str(&options(spec.options));
    }
    if !spec.help.is_empty() {
        text.push_str(&format!("\n{}\n", spec.help.trim()));
    }
    if !spec.examples.is_empty() {
        text.push_str(&examples(spec.examples));
    }
    text
}

fn options(options: &[Opt]) -> String {
    let lines = options.iter().map(|option| {
        let value = option.value.map_or_else(String::new, |value| format!(" {value}"));
        format!("| `-{}{value}` | {} |\n", option.flag, cell(option.help))
    });
    format!("\n| option | |\n|---|---|\n{}", lines.collect::<String>())
}

fn examples(examples: &[Example]) -> String {
    let lines = examples
        .iter()
        .map(|example| format!("| `{}` | {} |\n", cell(example.line), cell(example.shows)));
    format!("\n| example | shows |\n|---|---|\n{}", lines.collect::<String>())
}

fn walkers() -> String {
    let lines = WALKERS.iter().map(|walker| {
        let spec = walker.spec();
        format!("| `{}` | {} |\n", spec.name, cell(spec.summary))
    });
    format!("\n## Walkers\n\n| `::walk` | |\n|---|---|\n{}", lines.collect::<String>())
}

/// A bar would end the cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn sentence(summary: &str) -> String {
    let mut letters = summary.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

#[cfg(test)]
mod tests {
    use kcore_dcmd::Group;

    use super::*;

    const OPTIONS: &[Opt] = &[Opt { flag: 'n', value: Some("count"), help: "show a|b" }];
    const EXAMPLES: &[Example] = &[Example { line: "::a | ::b", shows: "both" }];

    #[test]
    fn a_dcmd_is_told_with_all_that_it_says() {
        let spec = Spec::new("dis", Group::Symbols, "disassemble code")
            .aliases(&["$d"])
            .options(OPTIONS)
            .help("Some help.")
            .examples(EXAMPLES);
        let wanted = "\n### `::dis` `$d`\n\nDisassemble code.\n\n```text\n::dis [-n count]\n```\n\
                      \n| option | |\n|---|---|\n| `-n count` | show a\\|b |\n\
                      \nSome help.\n\
                      \n| example | shows |\n|---|---|\n| `::a \\| ::b` | both |\n";
        assert_eq!(dcmd(&spec), wanted);
    }

    #[test]
    fn every_walker_is_told() {
        assert_eq!(walkers().matches("| `").count(), WALKERS.len() + 1);
    }
}
