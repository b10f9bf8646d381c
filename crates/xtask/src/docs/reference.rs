//! The command reference of the book, `commands.md`, from what each dcmd says of itself.

use kcore_commands::{DCMDS, WALKERS};
use kcore_dcmd::{Example, Group, Opt, Spec};

const HEAD: &str = "\
# The dcmds and walkers of kcore

`::help NAME` shows the same text, and `cargo xtask docs` writes this page from it. Addresses and numbers are
hexadecimal unless they begin with `0t`. `addr,count::dcmd` gives a dcmd an address and a count. `a | b` gives
`b` each value that `a` found. [The language](language.md) explains all of this.
";

/// Groups in the order in which they are shown. What no core can do is left to `::dcmds`.
const GROUPS: [Group; 7] = [
    Group::Process,
    Group::Stacks,
    Group::Memory,
    Group::Symbols,
    Group::Types,
    Group::Runtimes,
    Group::Language,
];

/// The whole document.
pub fn text() -> String {
    let mut text = HEAD.to_owned() + &overview();
    for group in GROUPS {
        text.push_str(&format!("\n## {}\n", group.title()));
        specs(group).for_each(|spec| text.push_str(&dcmd(&spec)));
    }
    text + &walkers()
}

/// One line for each dcmd.
fn overview() -> String {
    let mut text = String::from("\n| dcmd | |\n|---|---|\n");
    for group in GROUPS {
        text.push_str(&format!("| **{}** | |\n", group.title()));
        for spec in specs(group) {
            text.push_str(&format!("| {} | {} |\n", spellings(&spec), cell(spec.summary)));
        }
    }
    text
}

/// The dcmds of a group, in the order of the table of dcmds.
fn specs(group: Group) -> impl Iterator<Item = Spec> {
    DCMDS.iter().map(|dcmd| dcmd.spec()).filter(move |spec| spec.group == group)
}

/// Every spelling of a dcmd as code.
fn spellings(spec: &Spec) -> String {
    let code = spec.spellings().map(|name| format!("`{}`", cell(&name)));
    code.collect::<Vec<_>>().join(" ")
}

fn dcmd(spec: &Spec) -> String {
    let mut text = format!("\n### {}\n\n{}\n", spellings(spec), sentence(spec.summary));
    text.push_str(&format!("\n```text\n{}\n```\n", spec.usage()));
    if !spec.options.is_empty() {
        text.push_str(&options(spec.options));
    }
    if !spec.help.is_empty() {
        text.push_str(&format!("\n{}\n", prose(spec.help.trim())));
    }
    if !spec.examples.is_empty() {
        text.push_str(&examples(spec.examples));
    }
    text
}

fn options(options: &[Opt]) -> String {
    let lines = options.iter().map(|option| {
        let value = option.value.map_or_else(String::new, |value| format!(" {value}"));
        format!("| `-{}{value}` | {} |\n", option.flag, prose(&cell(option.help)))
    });
    format!("\n| option | |\n|---|---|\n{}", lines.collect::<String>())
}

fn examples(examples: &[Example]) -> String {
    let lines = examples
        .iter()
        .map(|example| format!("| `{}` | {} |\n", cell(example.line), prose(&cell(example.shows))));
    format!("\n| example | shows |\n|---|---|\n{}", lines.collect::<String>())
}

fn walkers() -> String {
    let lines = WALKERS.iter().map(|walker| {
        let spec = walker.spec();
        format!("| `{}` | {} |\n", spec.name, prose(&cell(spec.summary)))
    });
    format!("\n## Walkers\n\n| `::walk` | |\n|---|---|\n{}", lines.collect::<String>())
}

/// Text in which the signs of Markdown stand for themselves, except backquotes around code.
fn prose(text: &str) -> String {
    let (mut escaped, mut is_code, mut before) = (String::new(), false, ' ');
    for letter in text.chars() {
        if letter == '`' && (is_code || !before.is_alphanumeric()) {
            is_code = !is_code;
        } else if !is_code && matches!(letter, '<' | '*' | '_' | '`') {
            escaped.push('\\');
        }
        escaped.push(letter);
        before = letter;
    }
    escaped
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
    fn signs_of_markdown_in_help_stand_for_themselves() {
        assert_eq!(prose("__x__ is <rip or `<*_`"), "\\_\\_x\\_\\_ is \\<rip or `<*_`");
        assert_eq!(prose("kcore`stacks and *p"), "kcore\\`stacks and \\*p");
    }

    #[test]
    fn every_dcmd_has_a_line() {
        let text = overview();
        let lines = text.lines().filter(|line| line.starts_with("| `"));
        let supported = DCMDS.iter().filter(|dcmd| dcmd.spec().group != Group::Unsupported);
        assert_eq!(lines.count(), supported.count());
    }

    #[test]
    fn every_walker_is_told() {
        assert_eq!(walkers().matches("| `").count(), WALKERS.len() + 1);
    }
}
