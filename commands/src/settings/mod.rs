//! `::set`, and the `$` commands that change one setting each.

mod options;
pub mod prompt;
mod report;
pub mod symbols;
pub mod width;

use std::path::PathBuf;

use kcore_dcmd::{AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Example, Group, Opt, Result, Spec};

use crate::operand;

const OPTIONS: &[Opt] = &[
    Opt {
        flag: 'F',
        value: None,
        help: "take over a process that another debugger holds; not for cores",
    },
    Opt { flag: 'w', value: None, help: "open for writing; not for cores" },
    Opt { flag: 'I', value: Some("path"), help: "folders of macro files, separated by colons" },
    Opt {
        flag: 'L',
        value: Some("path"),
        help: "folders of modules; has no effect, since there are none to load",
    },
    Opt { flag: 'P', value: Some("prompt"), help: "the prompt" },
    Opt { flag: 'o', value: Some("option"), help: "set an option; +o clears it" },
    Opt {
        flag: 's',
        value: Some("distance"),
        help: "how far from a symbol its name still applies",
    },
];

const HELP: &str = "\
Without arguments, shows all settings. To keep a setting, write its ::set line into the \
configuration file.

-o sets options and +o clears them. Separate several with commas:

- pager: output pauses after each screenful.
- autowrap: all output wraps at words.
- decimal: integers of variables are decimal and have a sign, in ::print, ::locals and stacks.
- ignoreeof: ctrl-D does not leave the debugger.
- lines: stacks and ::status show files and lines of source. It is on if standard output is a \
terminal.
- nearest: a runtime of unknown version is decoded with the layouts of the nearest version, and \
every frame says so.
- repeatlast: an empty line repeats the last command.
- array_mem_limit=N, array_str_limit=N: show at most N elements of an array, or N characters of \
an array of characters. `none` removes the limit.

With a distance of 0, a symbol applies as far as its size reaches.";

const EXAMPLES: &[Example] = &[
    Example { line: "::set", shows: "all settings" },
    Example { line: "::set -o repeatlast +o pager", shows: "nothing; both options are changed" },
];

/// Shows and changes settings.
pub struct Set;

impl Dcmd for Set {
    fn spec(&self) -> Spec {
        Spec::new("set", Group::Language, "show and change settings")
            .for_users()
            .options(OPTIONS)
            .operands("[+o option]...", 0, usize::MAX)
            .addr(AddrUse::None)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let is_alone =
            args.operands().is_empty() && OPTIONS.iter().all(|option| !args.has(option.flag));
        if is_alone {
            return report::show(cx);
        }
        if args.has('w') || args.has('F') {
            return Err(DcmdError::failed(
                "failed to re-open target for writing: operation not supported by target",
            ));
        }
        change(cx, args)
    }
}

fn change(cx: &mut Cx<'_>, args: &Args) -> Result<()> {
    let distance = match args.value('s') {
        Some(word) => Some(operand::number(cx, word)?),
        None => None,
    };
    // Nothing is changed if one of the words is wrong.
    let mut settings = cx.shell().settings().clone();
    options::apply(&mut settings, args)?;
    if let Some(prompt) = args.value('P') {
        settings.prompt = prompt::checked(&prompt.to_text())?;
    }
    if let Some(path) = args.value('I') {
        settings.macro_path = folders(path);
    }
    settings.symbol_distance = distance.unwrap_or(settings.symbol_distance);
    cx.core().set_nearest_layouts(settings.nearest_layouts);
    *cx.shell_mut().settings_mut() = settings;
    Ok(())
}

fn folders(path: &Arg) -> Vec<PathBuf> {
    let text = path.to_text();
    text.split(':').filter(|folder| !folder.is_empty()).map(PathBuf::from).collect()
}
